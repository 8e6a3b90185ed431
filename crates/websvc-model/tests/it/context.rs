//! Prompts in the context of the server: estimates, refusals of prompts that are too long, and prompts that are cut.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_model::{Completion, Model, ModelError, ResponseFormat};
use websvc_testkit::{FakeModel, Page};

use crate::fixture::{CHAT, Setup};

const ENGLISH: &str = "Sencha is a green tea from Japan, and most people drink it without milk. ";

/// The number of tokens of a text for a server that has a token for this number of characters.
fn tokens_of(body: &Value, chars_per_token: f64) -> u64 {
    (FakeModel::prompt_text(body).chars().count() as f64 / chars_per_token) as u64
}

/// An answer to a prompt with this number of tokens.
fn answer(prompt_tokens: u64) -> Page {
    let choice = json!({ "message": { "content": "ok" }, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": prompt_tokens, "completion_tokens": 1 });
    Page::new("application/json", json!({ "choices": [choice], "usage": usage }).to_string())
}

/// A server with a context of 4,096 tokens that refuses what does not fit as llama.cpp does.
fn small_server(chars_per_token: f64) -> FakeModel {
    FakeModel::with_responder(move |body| {
        let (prompt, response) = (tokens_of(body, chars_per_token), body["max_tokens"].as_u64().unwrap());
        if prompt + response <= 4_096 {
            return answer(prompt);
        }
        let error = json!({
            "code": 400, "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": 4096,
        });
        Page::new("application/json", json!({ "error": error }).to_string()).status(400)
    })
}

async fn complete(setup: &Setup, content: &str) -> Result<Completion, ModelError> {
    setup.complete_with(ResponseFormat::Text, content, Duration::from_secs(20)).await
}

#[tokio::test]
async fn prompt_and_response_fit_into_the_configured_context() {
    let long = |text: &str| text.repeat(40_000 / text.chars().count());
    for (content, chars_per_token) in [
        (long(ENGLISH), 3.8),
        (long("| 12 | 345.6 | 7,890 |\n"), 1.2),
        (long("\u{714e}\u{8336}\u{306f}\u{7dd1}\u{8336}\u{3067}\u{3059}\u{3002}"), 1.4),
        (long("[Sencha](https://tea.example/shop/sencha?size=100)\n"), 2.1),
    ] {
        let setup =
            Setup::with_model(&small_server(chars_per_token), |config| config.context_tokens = Some(4_096))
                .await;
        let found = complete(&setup, &content).await.unwrap();
        assert!(found.is_content_truncated && !found.is_cut_by_server);
        assert_eq!(setup.web.count(CHAT), 1, "it fits at once");
        // The context is used, too: the response has 99 tokens.
        assert!((2_800..=4_000).contains(&found.usage.input_tokens), "{:?}", found.usage);
        let body = &setup.sent_bodies()[0];
        let prompt = FakeModel::prompt_text(body);
        assert!(prompt.contains("Extract.") && prompt.contains("the tea"), "{prompt}");
        assert_eq!(body["max_tokens"], 99, "a short response is not made shorter");
    }
}

#[tokio::test]
async fn short_content_is_sent_as_a_whole() {
    let setup = Setup::with_model(&small_server(3.8), |config| config.context_tokens = Some(4_096)).await;
    let found = complete(&setup, &ENGLISH.repeat(20)).await.unwrap();
    assert!(!found.is_content_truncated);
    assert!(FakeModel::prompt_text(&setup.sent_bodies()[0]).contains(&ENGLISH.repeat(20)));
}

#[tokio::test]
async fn refused_prompt_is_cut_in_proportion_and_the_context_is_remembered() {
    // A token for every 1.5 characters of English, more than estimated.
    let setup = Setup::with_model(&small_server(1.5), |_| {}).await;
    assert_eq!(setup.model.max_input_chars(), 48_000);
    for requests in [2, 3] {
        let found = complete(&setup, &ENGLISH.repeat(400)).await.unwrap();
        assert!(found.is_content_truncated);
        assert_eq!(setup.web.count(CHAT), requests, "later requests fit at once");
    }
    assert!(setup.model.max_input_chars() < 8_000, "{}", setup.model.max_input_chars());
    let prompts = setup.sent_bodies();
    let used = tokens_of(&prompts[1], 1.5);
    assert!((3_000..=3_997).contains(&used), "{used}: as much as fits");
}

#[tokio::test]
async fn refusal_without_numbers_halves_the_content() {
    let refusal = || {
        let error = json!({ "error": "the input length exceeds the context length" });
        Page::new("application/json", error.to_string()).status(400)
    };
    let setup = Setup::new([refusal(), FakeModel::text("ok"), refusal(), refusal()]).await;
    let content = ENGLISH.repeat(40);
    let found = complete(&setup, &content).await.unwrap();
    assert!(found.is_content_truncated);
    let sent: Vec<usize> =
        setup.sent_bodies().iter().map(|body| FakeModel::prompt_text(body).len()).collect();
    let difference = sent[0] - sent[1];
    assert!(difference.abs_diff(content.len() / 2) < 2, "{sent:?}");
    let error = complete(&setup, &content).await.unwrap_err();
    assert_eq!(error, ModelError::TooLarge { subject: "the request" });
    assert_eq!(setup.web.count(CHAT), 4, "it is retried once");
}

#[tokio::test]
async fn request_that_cannot_be_shorter_fails() {
    // Neither another form nor a retry makes it shorter: the content is one character.
    for status in [400, 500] {
        let text = r#"{"error":{"code":"context_length_exceeded","message":"max_tokens, temperature"}}"#;
        let setup = Setup::new([Page::new("application/json", text).status(status)]).await;
        let found = complete(&setup, "x").await;
        assert_eq!(found.unwrap_err(), ModelError::TooLarge { subject: "the request" });
        assert_eq!(setup.web.count(CHAT), 1);
    }
    // The instructions alone are too long, so nothing is sent.
    let setup = Setup::with([], |config| config.context_tokens = Some(128)).await;
    let found = complete(&setup, &ENGLISH.repeat(9)).await;
    assert_eq!(found.unwrap_err(), ModelError::TooLarge { subject: "the request" });
    assert_eq!(setup.web.count(CHAT), 0);
}

#[tokio::test]
async fn response_is_shortened_to_leave_space_for_the_prompt() {
    let schema = json!({ "type": "object" });
    let setup = Setup::with([FakeModel::json(&json!({}))], |config| {
        config.context_tokens = Some(4_096);
        config.max_output_tokens = Some(1_000);
    });
    let setup = setup.await;
    let request = |max_tokens| websvc_model::CompletionRequest {
        feature: websvc_model::Feature::Json,
        instructions: "Extract.",
        user_prompt: "the tea",
        content: Some(ENGLISH),
        format: ResponseFormat::Schema(&schema),
        max_tokens,
        deadline: std::time::Instant::now() + Duration::from_secs(20),
    };
    setup.model.complete(&request(4_096)).await.unwrap();
    assert_eq!(setup.sent_bodies()[0]["max_tokens"], 1_000);
}

#[tokio::test]
async fn prompt_that_the_server_cuts_silently_counts_as_truncated() {
    let content = ENGLISH.repeat(400);
    let setup = Setup::new([answer(4_096), answer(7_000), answer(11)]).await;
    let found = complete(&setup, &content).await.unwrap();
    assert!(found.is_cut_by_server && found.is_content_truncated);
    let found = complete(&setup, &content).await.unwrap();
    assert!(!found.is_cut_by_server && !found.is_content_truncated);
    let found = complete(&setup, &content).await.unwrap();
    assert!(!found.is_cut_by_server, "it counts only what was not in its cache");
}
