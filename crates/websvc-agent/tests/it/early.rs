//! Runs whose model does not end the task: they have an answer nevertheless, if pages state it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use websvc_agent::{AgentMode, AgentTask, Event, RunOutcome, RunReport, Stop, run_task};
use websvc_model::{ModelError, Usage};

use crate::fixture::{FakeWeb, Kind, Received, ScriptedModel, decide, object, run, task};

const URL: &str = "http://tea.test/";

fn web() -> FakeWeb {
    FakeWeb::new([(URL, "Tea", "# Assam\n\nIt costs 5 euros.")])
}

fn schema() -> Value {
    object(&json!({ "name": { "type": "string" }, "price": { "type": "number" } }))
}

fn assam() -> Value {
    json!({ "name": "Assam", "price": 5 })
}

/// Returns a search in the pages that differs from the earlier ones.
fn search_on(request: &Received) -> Value {
    let number = request.prompt.split("Step ").nth(1).unwrap().split(' ').next().unwrap();
    decide("find", "", &format!("price {number}"))
}

/// Creates a model that looks for more in each step, with these values of a page and this answer. It collects the page
/// first if it has values.
fn searching(collected: &Value, answer: &Value) -> ScriptedModel {
    let (collected, answer) = (collected.clone(), answer.clone());
    ScriptedModel::new(move |request| {
        Ok(match request.kind {
            Kind::Step if request.content.contains("0 collected") && !collected.is_null() => {
                decide("collect", "p1", "")
            }
            Kind::Step => search_on(request),
            Kind::Collect => collected.clone(),
            Kind::Answer => answer.clone(),
        })
    })
}

#[track_caller]
fn check_early(report: &RunReport, reason: &str, data: &Value) {
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!((report.data.as_ref(), report.is_schema_valid), (Some(data), true));
    let message = report.message.as_deref().unwrap();
    assert!(
        message.starts_with(&format!("The run ended early: {reason}. The data may be incomplete.")),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn page_that_was_read_and_not_collected_is_answered_from() {
    let model = searching(&Value::Null, &assam());
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    check_early(&report, "it reached its maximum of 25 steps", &assam());
    assert_eq!((report.steps, report.sources.len()), (25, 2));
    let answer = model.requests().pop().unwrap();
    assert!(answer.kind == Kind::Answer && answer.content.contains("It costs 5 euros."), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn complete_draft_is_the_answer_if_the_model_writes_none() {
    for answer in
        [Value::Null, json!("find"), json!({ "name": "Assam", "price": "five" }), json!({ "name": 1 })]
    {
        let model = searching(&assam(), &answer);
        let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
        check_early(&report, "it reached its maximum of 25 steps", &assam());
    }
}

#[tokio::test(start_paused = true)]
async fn unusable_decisions_do_not_make_the_data_unusable() {
    for (answer, is_written) in [(Ok(assam()), true), (Err(()), false)] {
        let model = ScriptedModel::new(move |request| match request.kind {
            Kind::Step if request.content.contains("0 collected") => Ok(decide("collect", "p1", "")),
            Kind::Collect => Ok(assam()),
            Kind::Answer if answer.is_ok() => Ok(assam()),
            Kind::Step | Kind::Answer => {
                Err(ModelError::InvalidResponse { reason: "no text", usage: Usage::default() })
            }
        });
        let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
        check_early(&report, "answers of the language model could not be used, no text", &assam());
        assert_eq!((report.steps, model.count(Kind::Answer)), (4, if is_written { 1 } else { 2 }));
    }
}

#[tokio::test(start_paused = true)]
async fn time_remains_for_the_answer() {
    let urls = [URL.to_owned()];
    let schema = schema();
    let task = || AgentTask { urls: &urls, schema: Some(&schema), ..task("Name and price") };
    // The second step of the model never ends.
    let model = ScriptedModel { hanging: Some(Kind::Step), ..searching(&Value::Null, &assam()) };
    let started = Instant::now();
    let report = run_task(&web(), &model, task()).await;
    check_early(&report, "its time was over", &assam());
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
    // So does the read of another page.
    let web = FakeWeb { hanging: Some("http://tea.test/2".into()), ..web() };
    let model =
        ScriptedModel::deciding([decide("open", "http://tea.test/2", "")], |_| Value::Null, |_| assam());
    let started = Instant::now();
    let report = run_task(&web, &model, task()).await;
    check_early(&report, "its time was over", &assam());
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
    let events = web.events.lock().clone();
    let is_end = |event: &Event| matches!(event, Event::ToolFinished { number: 2, is_success: false, summary } if summary.contains("almost over"));
    assert!(events.iter().any(is_end), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn slow_model_that_does_not_end_is_asked_for_its_answer_in_time() {
    let model = ScriptedModel { time: Some(Duration::from_secs(60)), ..searching(&Value::Null, &assam()) };
    let started = Instant::now();
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    check_early(&report, "its time was over", &assam());
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn complete_draft_is_the_answer_at_the_end_of_the_time() {
    let model = ScriptedModel { hanging: Some(Kind::Answer), ..searching(&assam(), &Value::Null) };
    let started = Instant::now();
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    check_early(&report, "it reached its maximum of 25 steps", &assam());
    assert_eq!(started.elapsed().as_secs(), 600);
    // The same after a decision to end.
    let model = ScriptedModel::deciding([decide("collect", "p1", "")], |_| assam(), |_| Value::Null);
    let model = ScriptedModel { hanging: Some(Kind::Answer), ..model };
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    check_early(&report, "its time was over", &assam());
}

#[tokio::test(start_paused = true)]
async fn tokens_remain_for_the_answer() {
    for (tokens, expected_steps) in [(60_000, 2), (140_000, 1)] {
        let usage = Usage { input_tokens: tokens, output_tokens: 0 };
        let model = ScriptedModel { usage, ..searching(&Value::Null, &assam()) };
        let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
        check_early(&report, "its token budget is exhausted", &assam());
        assert_eq!((report.steps, model.count(Kind::Answer)), (expected_steps, 1), "{tokens}");
    }
    // The draft needs none.
    let usage = Usage { input_tokens: 160_000, output_tokens: 0 };
    let model = ScriptedModel { usage, ..searching(&assam(), &Value::Null) };
    let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
    check_early(&report, "its token budget is exhausted", &assam());
    assert_eq!((report.steps, model.count(Kind::Answer)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn request_that_takes_too_long_does_not_lose_the_data() {
    let timeout = || ModelError::Timeout { after: Duration::from_secs(2) };
    for is_late in [false, true] {
        let model = ScriptedModel::new(move |request| match request.kind {
            Kind::Step => Err(timeout()),
            Kind::Collect | Kind::Answer if is_late => Err(timeout()),
            Kind::Collect | Kind::Answer => Ok(assam()),
        });
        let report = run(&web(), &model, "Name and price", &schema(), &[URL]).await;
        if is_late {
            let RunOutcome::Model(error) = report.outcome else { panic!("{report:?}") };
            assert_eq!((error, report.data), (timeout(), None));
        } else {
            check_early(&report, "the language model gave no response within 2000 ms", &assam());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn answer_that_pages_do_not_state_is_not_a_result() {
    let invented = json!({ "name": "Assam", "price": 42 });
    let report = run(&web(), &searching(&Value::Null, &invented), "Name and price", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::StepLimit), "{report:?}");
    assert_eq!((report.data, report.is_schema_valid), (Some(invented), true), "what there is");
    assert_eq!(report.message.as_deref(), Some("No page that was read states the values of /price."));
    // Nothing was found.
    for answer in [json!({ "teas": [] }), json!({ "teas": null })] {
        let schema = json!({ "type": "object", "properties": { "teas": { "type": ["array", "null"] } } });
        let report = run(&web(), &searching(&Value::Null, &answer), "All teas", &schema, &[URL]).await;
        assert!(matches!(report.outcome, RunOutcome::StepLimit), "{report:?}");
        assert_eq!(report.data, None);
    }
}

#[tokio::test(start_paused = true)]
async fn few_values_without_a_source_are_named() {
    let schema = object(&json!({
        "name": { "type": "string" }, "price": { "type": "number" }, "currency": { "type": "string" },
        "in_stock": { "type": "boolean" },
    }));
    let data = json!({ "name": "Assam", "price": 5, "currency": "EUR", "in_stock": true });
    let report = run(&web(), &searching(&Value::Null, &data), "Name and price", &schema, &[URL]).await;
    check_early(&report, "it reached its maximum of 25 steps", &data);
    let message = report.message.unwrap();
    assert!(
        message.ends_with("incomplete. No page that was read states the values of /currency."),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn draft_that_violates_the_schema_is_not_a_result() {
    let part = json!({ "name": "Assam", "price": null });
    let report = run(&web(), &searching(&part, &Value::Null), "Name and price", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::StepLimit), "{report:?}");
    assert_eq!((report.data, report.is_schema_valid), (Some(json!({ "name": "Assam" })), false));
}

#[tokio::test(start_paused = true)]
async fn budget_and_cancellation_end_the_run_without_an_answer() {
    for stop in [Stop::CreditLimit, Stop::Cancelled] {
        let web = FakeWeb { stop: Some((2, stop)), ..web() };
        let model = searching(&assam(), &assam());
        let report = run(&web, &model, "Name and price", &schema(), &[URL]).await;
        assert!(matches!(report.outcome, RunOutcome::Stopped(_)), "{report:?}");
        assert_eq!((report.data, model.count(Kind::Answer)), (Some(assam()), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn chat_is_answered_after_an_early_end() {
    let urls = [URL.to_owned()];
    let model = searching(&Value::Null, &json!({ "answer": "It costs 5 euros." }));
    let task = AgentTask { urls: &urls, mode: AgentMode::Chat, ..task("What does Assam cost?") };
    let report = run_task(&web(), &model, task).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.data, Some(json!({ "answer": "It costs 5 euros." })));
    assert_eq!(
        report.message.as_deref(),
        Some(
            "It costs 5 euros.\n\nThe run ended early: it reached its maximum of 25 steps. The answer may be incomplete."
        )
    );
}
