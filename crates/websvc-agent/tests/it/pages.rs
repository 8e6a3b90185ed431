//! Data of one page without a run.

use std::time::{Duration, Instant};

use serde_json::json;
use websvc_agent::{ReadPage, collect_page};
use websvc_model::{ModelError, Usage};

use crate::fixture::{Kind, ScriptedModel, object};

fn page(markdown: String) -> ReadPage {
    ReadPage { url: "http://a.test/".into(), title: "Shop".into(), markdown, links: Vec::new() }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[tokio::test(start_paused = true)]
async fn long_page_is_read_in_parts_whose_data_is_merged() {
    let lines: Vec<String> = (0..600).map(|n| format!("- Item {n}. {}", "word ".repeat(10))).collect();
    let model = ScriptedModel::new(|request| {
        assert_eq!(request.kind, Kind::Collect);
        let items = request
            .content
            .lines()
            .filter_map(|line| Some(line.split("- Item ").nth(1)?.split('.').next()?.to_owned()));
        Ok(json!({ "items": items.collect::<Vec<_>>(), "shop": null }))
    });
    let schema = object(
        &json!({ "items": { "type": "array", "items": { "type": "string" } }, "shop": { "type": "string" } }),
    );
    let collected =
        collect_page(&model, "All items", Some(&schema), page(lines.join("\n")), deadline()).await.unwrap();
    assert_eq!(collected.data["items"].as_array().unwrap().len(), 600);
    assert!(!collected.is_cut && model.requests().len() > 1);
    assert!(collected.usage.input_tokens > 5_000, "{:?}", collected.usage);
}

#[tokio::test(start_paused = true)]
async fn number_of_parts_is_limited() {
    let model = ScriptedModel::new(|_| Ok(json!({ "a": 1 })));
    let collected = collect_page(&model, "x", None, page("word ".repeat(60_000)), deadline()).await.unwrap();
    assert!(collected.is_cut);
    assert_eq!((model.requests().len(), collected.data), (6, json!({ "a": 1 })));
}

#[tokio::test(start_paused = true)]
async fn failing_model_is_an_error_and_unusable_answers_are_null() {
    let model = ScriptedModel::new(|_| {
        Err(ModelError::InvalidResponse { reason: "no JSON", usage: Usage::default() })
    });
    let collected = collect_page(&model, "x", None, page("tea".into()), deadline()).await.unwrap();
    assert_eq!((collected.data, collected.problem), (json!(null), Some("no JSON")));
    let model = ScriptedModel::new(|_| Err(ModelError::Status { status: 500 }));
    let error = collect_page(&model, "x", None, page("tea".into()), deadline()).await;
    assert_eq!(error.unwrap_err(), ModelError::Status { status: 500 });
}

#[tokio::test(start_paused = true)]
async fn answer_without_properties_of_the_schema_is_asked_for_again_once() {
    let schema = object(&json!({ "name": { "type": "string" }, "price": { "type": "number" } }));
    let unrelated = json!({ "type": "object", "properties": { "name": "Assam" } });
    let reason = "it has none of the properties of the schema";
    for (again, expected, problem) in [
        (unrelated.clone(), json!(null), Some(reason)),
        (json!({ "data": { "name": "Assam", "price": "5" } }), json!({ "name": "Assam", "price": 5 }), None),
    ] {
        let first = unrelated.clone();
        let model = ScriptedModel::new(move |request| {
            let is_again = request.prompt.contains("Your last answer was refused");
            Ok(if is_again { again.clone() } else { first.clone() })
        });
        let collected =
            collect_page(&model, "x", Some(&schema), page("tea".into()), deadline()).await.unwrap();
        assert_eq!((collected.data, collected.problem), (expected, problem));
        assert_eq!(model.requests().len(), 2);
    }
}
