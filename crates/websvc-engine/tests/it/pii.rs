//! Tests of the evaluation of `redactPII` with a language model, with fake models behind an OpenAI-compatible endpoint.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_model::{OpenAi, OpenAiConfig};
use websvc_redact::Kind;
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::pii_evaluation::{Evaluation, Score, evaluate};

const BASE: &str = "http://model.test/v1";
const TEMPLATES: &[&str] = &["Ask {P} for tea.", "Mail {E}.", "Call {T}."];

/// Evaluates a model whose answer is a function of its prompt.
async fn evaluate_with(answer: impl Fn(&str) -> Page + Send + Sync + 'static) -> Evaluation {
    let model = FakeModel::with_responder(move |body| answer(&FakeModel::prompt_text(body)));
    let web = model.serve(TestWeb::builder(), BASE).start().await;
    let mut config = OpenAiConfig::new(web.client(), BASE.parse().unwrap());
    config.model = Some("tiny".to_owned());
    let endpoint = OpenAi::new(config).unwrap();
    evaluate(&endpoint, TEMPLATES, 5, Duration::from_secs(30)).await
}

/// Returns the text between two others.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.rsplit_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn finding(entity: &str, text: &str) -> Value {
    json!({ "entity": entity, "text": text })
}

fn all(hits: u32, misses: u32, wrong: u32) -> Score {
    Score { hits, misses, wrong }
}

#[tokio::test]
async fn model_that_names_every_piece_is_perfect() {
    let evaluation = evaluate_with(|prompt| {
        let findings = [
            finding("PERSON", between(prompt, "Ask ", " for tea.")),
            finding("EMAIL", between(prompt, "Mail ", ".\n\n")),
            finding("PHONE", between(prompt, "Call ", ".\n\n")),
        ];
        FakeModel::json(&json!({ "findings": findings }))
    })
    .await;
    for kind in [Kind::Person, Kind::Email, Kind::Phone] {
        assert_eq!(evaluation.accurate[kind as usize], all(5, 0, 0), "{}", kind.name());
    }
    assert_eq!((evaluation.documents, evaluation.unread), (5, 0));
    let table = evaluation.to_string();
    assert!(table.contains("| PERSON | 5 | ") && table.contains(" 1.000 | 1.000 |"), "{table}");
}

#[tokio::test]
async fn model_that_misses_what_the_rules_find_is_as_good_as_the_rules() {
    let evaluation = evaluate_with(|prompt| {
        let findings = [
            // A part of the name, another entity, and a text that is not in the content.
            finding("PERSON", "Ask"),
            finding("LOCATION", between(prompt, "Ask ", " for tea.")),
            finding("EMAIL", "nobody@else.test"),
        ];
        FakeModel::json(&json!({ "findings": findings }))
    })
    .await;
    // The rules find the addresses that the model missed, so nothing else that it named counts.
    assert_eq!(evaluation.missed, 5);
    assert_eq!(evaluation.accurate, evaluation.fast);
    assert_eq!(evaluation.accurate[Kind::Email as usize], all(5, 0, 0));
    let Score { hits, misses, wrong } = evaluation.aggressive[Kind::Location as usize];
    assert_eq!((hits, misses, wrong), (0, 0, 5));
    assert_eq!(evaluation.aggressive[Kind::Email as usize], all(5, 0, 0));
}

#[tokio::test]
async fn model_without_usable_answers_leaves_the_rules() {
    let evaluation = evaluate_with(|_| FakeModel::text("I cannot do that.")).await;
    assert_eq!((evaluation.documents, evaluation.unread), (5, 5));
    assert_eq!(evaluation.accurate, evaluation.fast);
    assert!(evaluation.to_string().contains("of which the model did not read 5 and read 0 badly"));
}
