//! A language model with a short context.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page};

use super::{CHAT, ModelTest, json_format};

/// The context of the server, in tokens.
const CONTEXT: u64 = 4_096;

/// A server with a short context, which refuses what does not fit, and answers in the form that is wanted.
fn small_server(chars_per_token: f64) -> FakeModel {
    FakeModel::with_responder(move |body| {
        let prompt = (FakeModel::prompt_text(body).chars().count() as f64 / chars_per_token) as u64;
        if prompt + body["max_tokens"].as_u64().unwrap() > CONTEXT {
            let error = json!({
                "code": 400, "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error", "n_prompt_tokens": prompt, "n_ctx": CONTEXT,
            });
            return Page::new("application/json", json!({ "error": error }).to_string()).status(400);
        }
        let choice = json!({ "message": { "content": answer(body) }, "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": prompt, "completion_tokens": 20 });
        Page::new("application/json", json!({ "choices": [choice], "usage": usage }).to_string())
    })
}

/// Returns the answer to a request, by the properties of its schema.
fn answer(body: &Value) -> String {
    let properties = &body["response_format"]["json_schema"]["schema"]["properties"];
    let has = |name: &str| properties.get(name).is_some();
    let answer = if has("euros") {
        json!({ "tea": "sencha", "euros": 12 })
    } else if has("passages") {
        json!({ "passages": [1] })
    } else if has("boilerplate") {
        json!({ "boilerplate": [] })
    } else if has("findings") {
        json!({ "findings": [] })
    } else {
        return "Tea.".to_owned();
    };
    answer.to_string()
}

/// A request for everything that a model generates from a page.
fn all_formats() -> Value {
    let question = json!({ "type": "question", "question": "What does a tin cost?" });
    let highlights = json!({ "type": "highlights", "query": "tea" });
    let mut options = json_format();
    options["formats"].as_array_mut().unwrap().extend([json!("summary"), question, highlights]);
    options
}

#[tokio::test(flavor = "multi_thread")]
async fn formats_of_small_pages_fit_into_a_short_context() {
    let test = ModelTest::with_model(small_server(3.7), &[("WEBSVC__LLM__CONTEXT_TOKENS", "4096")]).await;
    let mut options = all_formats();
    options["onlyCleanContent"] = json!(true);
    options["redactPII"] = json!({ "mode": "accurate" });
    let body = test.scrape(options).await;
    let data = &body["data"];
    assert_eq!((&data["summary"], &data["answer"]), (&json!("Tea."), &json!("Tea.")), "{body}");
    assert_eq!(data["json"]["euros"], 12, "{body}");
    assert!(data["highlights"].is_string() && body.get("warning").is_none(), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_page_is_cut_to_a_short_context() {
    // The context is configured, but the text has more tokens than estimated; or neither is known.
    for settings in [&[("WEBSVC__LLM__CONTEXT_TOKENS", "4096")][..], &[]] {
        let test = ModelTest::with_model(small_server(2.0), settings).await;
        let body = test.scrape_url("http://long.test/", all_formats()).await;
        let data = &body["data"];
        assert_eq!((&data["summary"], &data["answer"]), (&json!("Tea."), &json!("Tea.")), "{body}");
        assert_eq!(data["json"]["euros"], 12, "{body}");
        let warning = body["warning"].as_str().unwrap();
        assert!(warning.contains("format summary: the content was shortened") && !warning.contains("failed"));
        assert_eq!(test.model_requests(CHAT).len(), 5, "one of four requests is refused: {warning}");
    }
}
