//! The bounds of tasks: steps, tokens, time, and models that fail.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use websvc_model::{ModelError, Usage};
use websvc_session::page_agent::TaskOutcome;

use crate::page_agent::fixture::{FakePage, Received, ScriptedModel, answer, done, run, run_within};

const PAGE: &str = "- button \"More\" [ref=e1]";

#[tokio::test(start_paused = true)]
async fn endless_loop_ends_after_its_last_step() {
    let page = FakePage::counting(PAGE);
    let model = ScriptedModel::new(|index, _| {
        Ok(json!({ "note": format!("fact {index}"), "action": "click", "ref": "e1", "text": "" }))
    });
    let report = run(&page, &model, "Click forever").await.unwrap();
    assert_eq!((&report.outcome, report.steps), (&TaskOutcome::StepLimit, 25));
    assert_eq!(page.commands().len(), 24, "the last step permits no action");
    assert_eq!(report.output, "fact 24", "the last note is the answer");
    let requests = model.requests();
    let last = &requests[24];
    assert!(
        last.prompt.contains("Step 25 of 25.") && last.prompt.contains("This is the last step"),
        "{last:?}"
    );
    assert_eq!(last.schema["properties"]["action"]["enum"], json!(["done"]));
    assert!(!requests[23].prompt.contains("last step"));
    assert!(requests.iter().all(|request| request.max_tokens <= 1_024 && request.content.len() < 8_000));
}

#[tokio::test(start_paused = true)]
async fn model_answers_in_its_last_step() {
    let page = FakePage::counting(PAGE);
    let model = ScriptedModel::new(|_, request| {
        let is_last = request.prompt.contains("This is the last step");
        Ok(if is_last { done("what I have") } else { answer("click", "e1", "") })
    });
    let report = run(&page, &model, "Click").await.unwrap();
    assert_eq!(
        (report.outcome, report.output.as_str(), report.steps),
        (TaskOutcome::Done, "what I have", 25)
    );
}

#[tokio::test(start_paused = true)]
async fn same_action_without_a_change_is_done_three_times() {
    for is_answering in [true, false] {
        let page = FakePage::fixed(PAGE);
        let model = ScriptedModel::new(move |_, request| {
            let is_last = request.prompt.contains("This is the last step");
            Ok(if is_last && is_answering { done("what I have") } else { answer("click", "e1", "") })
        });
        let report = run(&page, &model, "Click").await.unwrap();
        let (outcome, output) =
            if is_answering { (TaskOutcome::Done, "what I have") } else { (TaskOutcome::Repeats, "") };
        assert_eq!((report.outcome, report.output.as_str(), report.steps), (outcome, output, 4));
        assert_eq!(page.commands(), ["click @e1"; 3]);
        let last = &model.requests()[3];
        assert!(last.prompt.contains("You have done the same three times"), "{}", last.prompt);
        assert_eq!(last.schema["properties"]["action"]["enum"], json!(["done"]));
    }
}

#[tokio::test(start_paused = true)]
async fn actions_in_turn_without_a_change_are_a_loop_and_changes_are_none() {
    let in_turn = |index: usize, _: &Received| Ok(answer(["click", "hover"][index % 2], "e1", ""));
    let report = run(&FakePage::fixed(PAGE), &ScriptedModel::new(in_turn), "Click").await.unwrap();
    assert_eq!((report.outcome, report.steps), (TaskOutcome::Repeats, 6), "three clicks, and the last step");
    let report = run(&FakePage::counting(PAGE), &ScriptedModel::new(in_turn), "Click").await.unwrap();
    assert_eq!((report.outcome, report.steps), (TaskOutcome::StepLimit, 25));
}

#[tokio::test(start_paused = true)]
async fn hanging_model_ends_with_the_time() {
    let page = FakePage::fixed(PAGE);
    let model = ScriptedModel { time: None, ..ScriptedModel::answering([]) };
    let started = Instant::now();
    let report = run_within(&page, &model, "Wait", Duration::from_secs(5)).await.unwrap();
    assert_eq!((report.outcome, report.steps), (TaskOutcome::Timeout, 1));
    assert_eq!((started.elapsed(), report.snapshot.as_str()), (Duration::from_secs(5), PAGE));
}

#[tokio::test(start_paused = true)]
async fn slow_model_is_asked_for_its_answer_before_the_time_is_over() {
    let page = FakePage::fixed(PAGE);
    let model = ScriptedModel::new(|_, request| {
        let is_last = request.prompt.contains("This is the last step");
        Ok(if is_last { done("in time") } else { answer("hover", "e1", "") })
    });
    let model = ScriptedModel { time: Some(Duration::from_secs(20)), ..model };
    let report = run_within(&page, &model, "Hurry", Duration::from_secs(100)).await.unwrap();
    assert_eq!((report.outcome, report.output.as_str()), (TaskOutcome::Done, "in time"));
    assert_eq!(report.steps, 4, "three steps of 20 s, and the last one");
}

#[tokio::test(start_paused = true)]
async fn tokens_of_a_task_are_limited() {
    let page = FakePage::fixed(PAGE);
    let model = ScriptedModel::new(|_, _| Ok(answer("click", "e1", "")));
    let usage = Usage { input_tokens: 60_000, output_tokens: 10_000 };
    let model = ScriptedModel { usage, ..model };
    let report = run(&page, &model, "Spend").await.unwrap();
    assert_eq!((report.outcome, report.steps), (TaskOutcome::TokenLimit, 3));
    let last_step: Vec<bool> =
        model.requests().iter().map(|request| request.prompt.contains("This is the last step")).collect();
    assert_eq!(last_step, [false, true, true], "the second step leaves too little for two more");
    assert_eq!(page.commands().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_estimated_if_the_model_does_not_report_them() {
    let page = FakePage::fixed(PAGE);
    let report = run(&page, &ScriptedModel::answering([]), "x").await.unwrap();
    let Usage { input_tokens, output_tokens } = report.usage;
    assert!(input_tokens > 200 && input_tokens < 2_000 && output_tokens > 5, "{:?}", report.usage);
}

#[tokio::test(start_paused = true)]
async fn tokens_of_an_unusable_answer_are_those_that_the_model_reports() {
    let page = FakePage::fixed(PAGE);
    let usage = Usage { input_tokens: 60_000, output_tokens: 10_000 };
    let model = ScriptedModel::new(move |index, _| match index {
        0 => Err(ModelError::InvalidResponse { reason: "no JSON", usage }),
        _ => Ok(done("ok")),
    });
    let report = run(&page, &model, "x").await.unwrap();
    let Usage { input_tokens, output_tokens } = report.usage;
    assert!(input_tokens > 60_000 && output_tokens > 10_000, "{:?}", report.usage);
}

#[tokio::test(start_paused = true)]
async fn failing_model_is_an_outcome() {
    let page = FakePage::fixed(PAGE);
    let model = ScriptedModel::new(|index, _| match index {
        0 => Ok(answer("click", "e1", "")),
        _ => Err(ModelError::Status { status: 500 }),
    });
    let report = run(&page, &model, "Fail").await.unwrap();
    assert_eq!(report.outcome, TaskOutcome::Model(ModelError::Status { status: 500 }));
    assert_eq!((report.snapshot.as_str(), report.log.lines().count()), (PAGE, 1));
}

async fn check_garbage(answers: Vec<Result<Value, ModelError>>, expected: TaskOutcome, steps: u32) {
    let page = FakePage::fixed(PAGE);
    let model =
        ScriptedModel::new(move |index, _| answers.get(index).cloned().unwrap_or_else(|| Ok(done("ok"))));
    let report = run(&page, &model, "Garbage").await.unwrap();
    assert_eq!((report.outcome, report.steps), (expected, steps));
    assert!(page.commands().is_empty());
    if steps > 1 {
        assert!(model.requests()[1].prompt.contains("the answer must be JSON as described"));
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_is_reported_and_ends_the_task_when_it_repeats() {
    let invalid = || Err(ModelError::InvalidResponse { reason: "no JSON", usage: Usage::default() });
    check_garbage(vec![invalid(), Ok(json!("click"))], TaskOutcome::Done, 3).await;
    check_garbage(vec![Ok(json!({})), invalid(), Ok(json!([1]))], TaskOutcome::Answers, 3).await;
}
