//! The actions and references that a step offers: only what makes sense in the state of the run.

use serde_json::{Value, json};
use websvc_agent::{AgentTask, RunOutcome, ToolKind, run_task};

use crate::fixture::{FakeWeb, Kind, Received, ScriptedModel, decide, object, run, task};

const URL: &str = "http://tea.test/";

fn price() -> Value {
    object(&json!({ "price": { "type": "number" } }))
}

/// Returns the values of an enumeration in the schema of a step.
fn offered(request: &Received, field: &str) -> Vec<String> {
    let values = request.schema["properties"][field]["enum"].as_array().unwrap();
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

/// A small model: it opens whatever it may open, the page that it has read first of all.
fn opening() -> ScriptedModel {
    ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step if offered(request, "action").contains(&"open".to_owned()) => {
                let unread = offered(request, "ref").into_iter().find(|name| !name.is_empty());
                decide("open", &unread.unwrap_or_default(), "")
            }
            Kind::Step => decide(&offered(request, "action")[0], "p1", "tea"),
            Kind::Collect | Kind::Answer => json!({ "price": 5 }),
        })
    })
}

#[tokio::test(start_paused = true)]
async fn first_step_on_a_page_that_is_read_cannot_open_it_again() {
    let mut web = FakeWeb::new([(URL, "Tea", "Assam costs 5 euros.")]);
    web.tools = vec![ToolKind::Scrape];
    let model = opening();
    let report = run(&web, &model, "What does Assam cost?", &price(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!((report.data, report.steps, web.reads().len()), (Some(json!({ "price": 5 })), 1, 1));
    let first = &model.requests()[0];
    assert_eq!(offered(first, "action"), ["collect", "done", "impossible"]);
    assert_eq!(offered(first, "ref"), ["p1", ""]);
    assert!(
        first.prompt.ends_with(
            "Already read: p1 (shown, not collected).\nPossible actions: collect, done, impossible."
        ),
        "{}",
        first.prompt
    );
    assert!(!first.instructions.contains("- open:") && first.instructions.contains("- collect:"));
    let kinds: Vec<Kind> = model.requests().iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [Kind::Step, Kind::Collect, Kind::Answer], "all is read and collected then");
}

#[tokio::test(start_paused = true)]
async fn only_what_was_not_read_is_offered_to_open() {
    let web = FakeWeb::new([
        (
            URL,
            "Tea",
            "See [Assam](http://tea.test/assam), [gone](http://tea.test/gone) and [here](http://tea.test/).",
        ),
        ("http://tea.test/assam", "Assam", "Assam costs 5 euros."),
    ]);
    let model = opening();
    let report = run(&web, &model, "What does Assam cost?", &price(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(web.reads(), [URL, "http://tea.test/assam", "http://tea.test/gone"], "each of them once");
    let steps: Vec<Received> =
        model.requests().into_iter().filter(|request| request.kind == Kind::Step).collect();
    let opens: Vec<(bool, Vec<String>)> = steps
        .iter()
        .take(4)
        .map(|step| (offered(step, "action").contains(&"open".to_owned()), offered(step, "ref")))
        .collect();
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        opens,
        [
            (true, of(&["l1", "l2", "p1", ""])),
            (true, of(&["l2", "p1", "p2", ""])),
            (false, of(&["p1", "p2", ""])),
            (false, of(&["p1", "p2", ""])),
        ]
    );
    assert!(steps[0].prompt.contains("\nNot read yet: l1, l2.\n"), "{}", steps[0].prompt);
}

#[tokio::test(start_paused = true)]
async fn page_that_is_opened_again_is_collected_and_then_answered_from() {
    let web = FakeWeb::new([(URL, "Tea", "Assam costs 5 euros.")]);
    for reference in ["p1", "r1", URL] {
        let model = ScriptedModel::new(move |request| {
            Ok(match request.kind {
                Kind::Step => decide("open", reference, ""),
                Kind::Collect | Kind::Answer => json!({ "price": 5 }),
            })
        });
        let before = web.calls().len();
        let report = run(&web, &model, "What does Assam cost?", &price(), &[URL]).await;
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        assert_eq!((report.data, report.steps, report.message), (Some(json!({ "price": 5 })), 3, None));
        assert_eq!(web.calls().len() - before, 1, "it is read once");
        assert_eq!(model.count(Kind::Collect), 1);
        let last = &model.requests()[3].content;
        assert!(
            last.contains("it has been read already, as p1; collected: 1 value, the draft has changed"),
            "{last}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn model_that_knows_nothing_may_name_any_url() {
    let web = FakeWeb::new([(URL, "Tea", "Assam costs 5 euros.")]);
    let model =
        ScriptedModel::deciding([decide("open", "", "tea.test")], |_| Value::Null, |_| json!({ "price": 5 }));
    run_task(&web, &model, AgentTask { ..task("What does Assam cost at tea.test?") }).await;
    let first = &model.requests()[0].schema;
    assert_eq!(
        first["properties"]["action"]["enum"],
        json!(["search", "map", "open", "crawl", "interact", "impossible"])
    );
    assert_eq!(first["properties"]["ref"], json!({ "type": "string", "maxLength": 600 }));
}

#[tokio::test(start_paused = true)]
async fn reason_comes_before_the_action_and_all_texts_are_bounded() {
    let links: String = (0..90).map(|n| format!("[Tea {n}](http://tea.test/{n}) ")).collect();
    let web = FakeWeb::new([(URL, "Tea", links.as_str())]);
    let model = ScriptedModel::deciding([], |_| Value::Null, |_| json!({ "price": 5 }));
    run(&web, &model, "Price?", &price(), &[URL]).await;
    let schema = &model.requests()[0].schema;
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["why", "action", "ref", "text"]);
    for name in ["why", "ref", "text"] {
        // Grammars of llama.cpp have fewer than 2,000 repetitions; 90 links are too many for an enumeration.
        let max = schema["properties"][name]["maxLength"].as_u64();
        assert!(max.is_some_and(|max| max < 2_000), "{name}: {schema}");
    }
}
