//! The bounds of runs: steps, tokens, time, credits, and models that fail.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use websvc_agent::{AgentEffort, AgentTask, RunOutcome, Stop, TaskLimits, run_task};
use websvc_model::{ModelError, Usage};

use crate::fixture::{FakeWeb, Kind, Received, ScriptedModel, decide, done, object, run, task};

const URL: &str = "http://tea.test/";

fn web() -> FakeWeb {
    FakeWeb::new([(URL, "Tea", "Assam costs 5 euros.")])
}

/// Creates a model that never ends, and collects a value.
fn endless() -> ScriptedModel {
    ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step if request.content.contains("## Draft\n{") => look_for_more(request),
            Kind::Step => decide("collect", "p1", ""),
            Kind::Collect | Kind::Answer => json!({ "price": 5 }),
        })
    })
}

/// Returns a step that differs from the earlier ones.
fn look_for_more(request: &Received) -> Value {
    let number = request.prompt.split("Step ").nth(1).unwrap().split(' ').next().unwrap();
    decide("find", "", &format!("more {number}"))
}

fn schema() -> Value {
    object(&json!({ "price": { "type": "number" } }))
}

#[tokio::test(start_paused = true)]
async fn endless_run_ends_after_its_last_step_with_an_answer() {
    let model = endless();
    let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!((report.steps, model.count(Kind::Step), model.count(Kind::Answer)), (25, 25, 1));
    assert_eq!((report.data, report.is_schema_valid), (Some(json!({ "price": 5 })), true));
    assert_eq!(report.sources.len(), 1);
    let requests = model.requests();
    let [.., before, last, _answer] = requests.as_slice() else { panic!() };
    assert!(last.is_last_step() && last.prompt.contains("Step 25 of 25."), "{}", last.prompt);
    assert_eq!(last.schema["properties"]["action"]["enum"], json!(["done", "impossible"]));
    assert!(!before.is_last_step());
    assert!(requests.iter().all(|request| request.max_tokens <= 4_096));
}

#[tokio::test(start_paused = true)]
async fn model_answers_in_its_last_step() {
    let model = ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step if request.is_last_step() => done(),
            Kind::Step => look_for_more(request),
            Kind::Collect | Kind::Answer => json!({ "price": 5 }),
        })
    });
    let urls = [URL.to_owned()];
    let limits = TaskLimits::for_effort(AgentEffort::Low);
    let report = run_task(&web(), &model, AgentTask { urls: &urls, limits, ..task("Price?") }).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.steps, 10);
}

#[tokio::test(start_paused = true)]
async fn hanging_model_ends_with_the_time() {
    let model = ScriptedModel { time: None, ..endless() };
    let started = Instant::now();
    let deadline = started + Duration::from_secs(30);
    let report = run_task(&web(), &model, AgentTask { deadline, ..task("Price?") }).await;
    assert!(matches!(report.outcome, RunOutcome::Timeout), "{report:?}");
    assert_eq!((started.elapsed(), report.data), (Duration::from_secs(30), None));
}

#[tokio::test(start_paused = true)]
async fn hanging_page_ends_with_the_time() {
    let web = FakeWeb { call_time: Duration::from_secs(3_600), ..web() };
    let urls = [URL.to_owned()];
    let started = Instant::now();
    let report = run_task(&web, &endless(), AgentTask { urls: &urls, ..task("Price?") }).await;
    assert!(matches!(report.outcome, RunOutcome::Timeout), "{report:?}");
    assert_eq!((started.elapsed(), report.steps), (Duration::from_secs(600), 0));
}

#[tokio::test(start_paused = true)]
async fn slow_model_is_asked_for_its_answer_before_the_time_is_over() {
    let model = ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step if request.is_last_step() => done(),
            Kind::Step => look_for_more(request),
            Kind::Collect | Kind::Answer => json!({ "price": 5 }),
        })
    });
    let model = ScriptedModel { time: Some(Duration::from_secs(60)), ..model };
    let urls = [URL.to_owned()];
    let report = run_task(&web(), &model, AgentTask { urls: &urls, ..task("Price?") }).await;
    assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
    assert_eq!(report.steps, 7, "after six steps of 60 s, less than four more are left");
}

#[tokio::test(start_paused = true)]
async fn tokens_are_limited() {
    let usage = Usage { input_tokens: 50_000, output_tokens: 10_000 };
    // No answer is one.
    let model = ScriptedModel::new(|request| {
        Ok(match request.kind {
            Kind::Step => look_for_more(request),
            Kind::Collect | Kind::Answer => Value::Null,
        })
    });
    let model = ScriptedModel { usage, ..model };
    let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
    assert!(matches!(report.outcome, RunOutcome::TokenLimit), "{report:?}");
    assert_eq!(report.usage, Usage { input_tokens: 250_000, output_tokens: 50_000 });
    let steps: Vec<Received> =
        model.requests().into_iter().filter(|request| request.kind == Kind::Step).collect();
    let last: Vec<bool> = steps.iter().map(Received::is_last_step).collect();
    assert_eq!(last, [false, false, true], "after two steps, less than four requests are left");
    assert_eq!((model.count(Kind::Answer), report.data), (2, None));
}

#[tokio::test(start_paused = true)]
async fn tokens_are_estimated_if_the_model_does_not_report_them() {
    let report = run(
        &web(),
        &ScriptedModel::deciding([], |_| Value::Null, |_| json!({ "price": 5 })),
        "Price?",
        &schema(),
        &[URL],
    )
    .await;
    let Usage { input_tokens, output_tokens } = report.usage;
    assert!(input_tokens > 300 && input_tokens < 3_000 && output_tokens > 5, "{:?}", report.usage);
}

#[tokio::test(start_paused = true)]
async fn environment_ends_the_run() {
    let shortage = Stop::TeamCredits { missing: 3, remaining: 2 };
    for stop in [Stop::Cancelled, Stop::CreditLimit, shortage, Stop::Failed] {
        let web = FakeWeb { stop: Some((2, stop)), ..web() };
        let model = endless();
        let report = run(&web, &model, "Price?", &schema(), &[URL]).await;
        let RunOutcome::Stopped(reason) = report.outcome else { panic!("{report:?}") };
        assert_eq!((reason, report.steps), (stop, 2));
        assert_eq!(report.data, Some(json!({ "price": 5 })), "the data so far");
    }
}

#[tokio::test(start_paused = true)]
async fn failing_model_is_an_outcome() {
    let model = ScriptedModel::new(|request| match request.kind {
        Kind::Step if !request.content.contains("## Draft\n{") => Ok(decide("collect", "p1", "")),
        Kind::Step => Err(ModelError::Status { status: 500 }),
        Kind::Collect | Kind::Answer => Ok(json!({ "price": 5 })),
    });
    let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
    let RunOutcome::Model(error) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(*error, ModelError::Status { status: 500 });
    assert_eq!(report.data, Some(json!({ "price": 5 })));
}

#[tokio::test(start_paused = true)]
async fn three_unusable_answers_in_a_row_end_the_run() {
    let check = async |usable: &[bool], expected_steps: u32| {
        let usable = usable.to_vec();
        let number = parking_lot::Mutex::new(0);
        let model = ScriptedModel::new(move |_| {
            let mut number = number.lock();
            *number += 1;
            match usable.get(*number - 1) {
                Some(true) => Ok(decide("find", "", "tea")),
                Some(false) if *number % 2 == 0 => {
                    Err(ModelError::InvalidResponse { reason: "no JSON", usage: Usage::default() })
                }
                Some(false) | None => Ok(json!("find")),
            }
        });
        let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
        assert!(matches!(report.outcome, RunOutcome::Answers("its JSON has no action")), "{report:?}");
        assert_eq!(report.steps, expected_steps);
        assert!(model.requests()[1].prompt.contains("Your last answer was refused: it must be JSON"));
    };
    check(&[false, false, false], 3).await;
    check(&[false, true, false, false, true], 8).await;
}

#[tokio::test(start_paused = true)]
async fn model_that_repeats_its_steps_must_end_the_run() {
    for ends in [true, false] {
        let model = ScriptedModel::new(move |request| {
            Ok(match request.kind {
                Kind::Step if request.is_last_step() && ends => done(),
                Kind::Step => decide("open", "r99", ""),
                Kind::Collect | Kind::Answer => json!({ "price": 5 }),
            })
        });
        let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
        assert_eq!(report.steps, 7, "one step, five that repeat it, and the last one");
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        assert_eq!(report.data, Some(json!({ "price": 5 })));
        let is_early = report.message.is_some_and(|message| message.contains("repeated its steps"));
        assert_eq!(is_early, !ends);
        // Without a page, there is nothing to answer from.
        let report = run(&web(), &model, "Price?", &schema(), &[]).await;
        assert_eq!((report.steps, report.data), (7, None));
        match report.outcome {
            RunOutcome::Refused(_) if ends => {}
            RunOutcome::Repeats if !ends => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_of_answers_that_are_not_used_count() {
    let usage = Usage { input_tokens: 1_000, output_tokens: 600 };
    let model = ScriptedModel::new(move |_| {
        Err(ModelError::InvalidResponse { reason: "it was cut off at the maximum length", usage })
    });
    let report = run(&web(), &model, "Price?", &schema(), &[URL]).await;
    let RunOutcome::Answers(reason) = report.outcome else { panic!("{report:?}") };
    assert_eq!(reason, "it was cut off at the maximum length");
    let requests = 3 + model.count(Kind::Answer) as u64;
    assert_eq!(requests, 5, "the answer is tried twice");
    let expected = Usage { input_tokens: 1_000 * requests, output_tokens: 600 * requests };
    assert_eq!(report.usage, expected);
}

#[tokio::test(start_paused = true)]
async fn requests_fit_a_small_model() {
    let rows: Vec<String> = (0..2_000)
        .map(|n| format!("- [Item {n}](http://shop.test/item/{n}?category=tea) costs {n} euros"))
        .collect();
    let page = rows.join("\n");
    let web = FakeWeb::new([
        ("http://shop.test/", "Shop", page.as_str()),
        ("http://shop.test/2", "Shop 2", page.as_str()),
    ]);
    let items =
        json!({ "items": (0..300).map(|n| json!({ "name": format!("Item {n}") })).collect::<Vec<_>>() });
    for (max_input_chars, max_chars) in [(5_000, 5_000), (16_000, 16_000), (usize::MAX, 20_000)] {
        let decisions = [
            decide("search", "", "Shop"),
            decide("collect", "p1", ""),
            decide("open", "http://shop.test/2", ""),
            decide("more", "p2", ""),
            decide("find", "", "Item 777"),
            decide("links", "p2", "Item 5"),
        ];
        let items = items.clone();
        let model = ScriptedModel::deciding(decisions, move |_| items.clone(), |_| json!({}));
        let model = ScriptedModel { max_input_chars, ..model };
        let schema = json!({ "type": "object", "properties": { "items": { "type": "array" } } });
        let report =
            run(&web, &model, "All items of the shop with prices", &schema, &["http://shop.test/"]).await;
        assert!(matches!(report.outcome, RunOutcome::Succeeded), "{report:?}");
        assert_eq!(report.data.unwrap()["items"].as_array().unwrap().len(), 300);
        let requests = model.requests();
        assert!(requests.len() >= 8, "{}", requests.len());
        for (number, request) in requests.iter().enumerate() {
            let chars =
                [&request.instructions, &request.prompt, &request.content].map(|text| text.chars().count());
            assert!(chars.iter().sum::<usize>() + 700 < max_chars, "request {number}: {chars:?}");
            assert!(request.content.contains("## Passages"), "{}", request.content);
        }
    }
}
