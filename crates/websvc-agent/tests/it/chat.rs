//! Answers that are texts.

use std::collections::VecDeque;

use parking_lot::Mutex;
use serde_json::{Value, json};
use websvc_agent::{AgentMode, AgentTask, RunOutcome, RunReport, run_task};

use crate::fixture::{FakeWeb, Kind, ScriptedModel, task};
use crate::tasks::nothing;

/// Runs a task for a text on a page, with a model that answers like this.
async fn chat(answers: Vec<Value>) -> (RunReport, ScriptedModel) {
    let web = FakeWeb::new([("http://tea.test/", "Tea", "Assam costs 5 euros.")]);
    let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
    let model = ScriptedModel::deciding([], nothing, move |request| {
        assert_eq!(request.schema, "text", "any text is an answer");
        assert!(request.instructions.contains("plain words"), "{}", request.instructions);
        answers.lock().pop_front().unwrap()
    });
    let urls = ["http://tea.test/".to_owned()];
    let task = AgentTask { urls: &urls, mode: AgentMode::Chat, ..task("What does Assam cost?") };
    (run_task(&web, &model, task).await, model)
}

#[tokio::test(start_paused = true)]
async fn prose_is_the_answer_of_a_chat() {
    let (report, model) = chat(vec![json!("It costs 5 euros.")]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.data, Some(json!({ "answer": "It costs 5 euros." })));
    assert_eq!(report.message.as_deref(), Some("It costs 5 euros."));
    assert_eq!(model.count(Kind::Answer), 1);
}

#[tokio::test(start_paused = true)]
async fn object_without_a_text_is_corrected_once() {
    let wrong = json!({ "message": "It costs 5 euros.", "data": {} });
    let (report, model) = chat(vec![wrong.clone(), json!({ "answer": "It costs 5 euros." })]).await;
    assert_eq!(report.message.as_deref(), Some("It costs 5 euros."), "{report:?}");
    let last = model.requests().pop().unwrap().prompt;
    assert!(
        last.contains("Your last answer was refused: it is an object without a text in the field answer."),
        "{last}"
    );
    let (report, model) = chat(vec![wrong.clone(), wrong]).await;
    let RunOutcome::Answers(reason) = report.outcome else { panic!("{report:?}") };
    assert_eq!(
        (reason, model.count(Kind::Answer)),
        ("it is an object without a text in the field answer", 2)
    );
    assert_eq!(report.data, None);
}
