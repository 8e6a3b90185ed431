//! Tests of the checks of language models.

use serde_json::json;
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::Installation;

const FIRST: &str = "http://first.test/v1";
const SPARE: &str = "http://spare.test/v1";

fn answer() -> Page {
    FakeModel::json(&json!({ "color": "blue", "number": 3 }))
}

/// Starts an endpoint with these responses, and returns an installation with its model `tiny`.
async fn start(pages: impl IntoIterator<Item = Page>) -> (TestWeb, Installation) {
    let world = FakeModel::scripted(pages).serve(TestWeb::builder(), FIRST);
    let world = FakeModel::scripted([answer()]).serve(world, SPARE).start().await;
    let installation = Installation::for_world(&world);
    (world, installation.with("WEBSVC__LLM__BASE_URL", FIRST).with("WEBSVC__LLM__MODEL", "tiny"))
}

#[tokio::test(flavor = "multi_thread")]
async fn model_that_follows_a_schema_passes_with_its_form_and_speed() {
    let rejection = FakeModel::bad_request("'temperature' is not supported");
    let (_world, installation) = start([rejection, answer()]).await;
    let (_, findings) = installation.run_doctor();
    let (state, message, _) = &findings["language model"];
    assert_eq!(state, "ok", "{findings:#?}");
    let expected =
        "and has tiny; completes a prompt with response_format json_schema, without temperature in ";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("(11 tokens read, 7 written, "), "{message}");
    assert!(message.ends_with(" per second)"), "{message}");
    assert_eq!(findings["agent runs"].0, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_that_does_not_follow_the_schema_is_a_warning() {
    for (page, words) in [
        (FakeModel::json(&json!({ "colour": "blue" })), "does not follow its schema"),
        (FakeModel::text("blue, 3"), "it contains no JSON"),
    ] {
        let (_world, installation) = start([page]).await;
        installation.check("language model", "warning", words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn model_that_fails_is_a_problem_although_it_is_in_the_list() {
    let (_world, installation) = start([Page::text("who?").status(401)]).await;
    let (is_ok, findings) = installation.run_doctor();
    let (state, message, advice) = &findings["language model"];
    assert!(!is_ok && state == "problem", "{findings:#?}");
    assert!(message.contains("has tiny; responded with status 401"), "{message}");
    assert_eq!(advice, "check `llm.api_key`");
    assert_eq!(findings["agent runs"].0, "warning");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_model_of_every_endpoint_is_tried() {
    let (_world, installation) = start([answer(), answer()]).await;
    let installation = installation
        .with("WEBSVC__LLM__MODELS", "{ judge = 'small', agent = 'tiny' }")
        .with("WEBSVC__LLM__FALLBACK", format!("[{{ base_url = '{SPARE}', model = 'tiny' }}]"));
    let (is_ok, findings) = installation.run_doctor();
    assert!(is_ok, "{findings:#?}");
    let states: Vec<(&str, &str)> = findings
        .iter()
        .filter(|(check, _)| check.starts_with("language model"))
        .map(|(check, (state, ..))| (check.as_str(), state.as_str()))
        .collect();
    let expected = [
        ("language model", "ok"),
        ("language model (llm.fallback[0])", "ok"),
        // The server does not list it.
        ("language model small", "warning"),
    ];
    assert_eq!(states, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_values_and_closed_ports_are_problems() {
    let (_world, installation) = start([]).await;
    let (_, findings) = installation.with("WEBSVC__LLM__MODELS__JUGDE", "x").run_doctor();
    let (state, message, _) = &findings["language model"];
    assert_eq!(state, "problem");
    assert!(
        message.contains("llm.models.jugde: there is no such feature; the features are json, "),
        "{message}"
    );
    let (_world, installation) = start([]).await;
    let (_, findings) = installation.with("WEBSVC__LLM__BASE_URL", "http://127.0.0.1:9/v1").run_doctor();
    let (state, message, advice) = &findings["language model"];
    assert_eq!((state.as_str(), message.as_str()), ("problem", "cannot be reached: could not connect"));
    assert!(advice.contains("`llm.base_url`"), "{advice}");
}
