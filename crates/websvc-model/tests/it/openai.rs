//! The OpenAI client, with endpoints that respond as documented and with others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use websvc_model::{
    AcceptedForm, CompletionContent, CompletionRequest, Feature, LimitedModel, Model, ModelError, OpenAi,
    OpenAiConfig, RejectionCause, ResponseFormat, Usage,
};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::fixture::{BASE, CHAT, Setup, tea};

#[tokio::test]
async fn schema_is_sent_as_response_format_and_in_the_prompt() {
    let setup = Setup::new([tea()]).await;
    let schema = json!({ "type": "object", "properties": { "tea": { "type": "string" } } });
    let found = setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(found.content, CompletionContent::Json(json!({ "tea": "sencha" })));
    assert_eq!(found.usage, Usage { input_tokens: 11, output_tokens: 7 });
    assert!(!found.is_content_truncated);
    let body = &setup.sent_bodies()[0];
    assert_eq!(body["model"], "tiny");
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(99), &json!(0)));
    let words = FakeModel::prompt_text(body);
    assert!(words.contains("<web-content>\na page about tea\n</web-content>"), "{words}");
    let requests = setup.web.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-very-secret"));
}

#[tokio::test]
async fn schema_is_sent_and_data_is_returned_in_the_order_of_their_authors() {
    let text =
        r#"{"type":"object","properties":{"why":{"type":"string"},"answer":{"type":"string"},"a":{}}}"#;
    let schema: Value = serde_json::from_str(text).unwrap();
    let setup = Setup::new([FakeModel::text(r#"{"why":"x","answer":"y","a":[{"z":1,"b":2}]}"#)]).await;
    let found = setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(found.content.into_text(), r#"{"why":"x","answer":"y","a":[{"z":1,"b":2}]}"#);
    let body = String::from_utf8(setup.web.requests()[0].body.to_vec()).unwrap();
    assert!(body.contains(&format!("\"schema\":{text}")), "{body}");
    assert!(FakeModel::prompt_text(&setup.sent_bodies()[0]).contains(text));
}

#[tokio::test]
async fn strict_mode_is_sent_and_left_out_when_the_server_refuses_it() {
    let refusal = "Invalid schema for response_format 'answer': 'maxLength' is not permitted.";
    let strict = "json_schema.strict: Extra inputs are not permitted";
    let pages = [FakeModel::bad_request(refusal), tea(), FakeModel::bad_request(strict), tea(), tea()];
    let setup = Setup::new(pages).await;
    let schema = json!({
        "type": "object", "properties": { "tea": { "type": "string", "maxLength": 9 } }, "required": ["tea"],
        "additionalProperties": false,
    });
    for _ in 0..3 {
        setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    }
    let sent = |body: &Value| {
        let json_schema = &body["response_format"]["json_schema"];
        let has_length = json_schema["schema"]["properties"]["tea"]["maxLength"] == 9;
        (json_schema["strict"].as_bool().unwrap(), has_length)
    };
    let sent: Vec<(bool, bool)> = setup.sent_bodies().iter().map(sent).collect();
    assert_eq!(sent, [(true, true), (true, false), (true, false), (false, true), (false, true)]);
}

#[tokio::test]
async fn rejected_response_format_is_replaced_by_the_prompt() {
    let rejection = || FakeModel::bad_request("response_format is not supported");
    let text = FakeModel::text("Sure! ```json\n{\"tea\": \"sencha\"}\n```");
    let setup = Setup::new([rejection(), rejection(), text]).await;
    let schema = json!({ "type": "object" });
    let found = setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(found.content.into_json(), json!({ "tea": "sencha" }));
    assert_eq!(setup.formats(), ["json_schema", "json_object", "none"]);
    let expected = AcceptedForm { response_format: "none", dropped: Vec::new() };
    assert_eq!(setup.model.accepted_form(), Some(expected));
}

#[tokio::test]
async fn rejected_parameters_are_omitted() {
    let pages = [
        FakeModel::bad_request("Unsupported value: 'temperature' does not support 0"),
        FakeModel::bad_request("'max_tokens' is not supported, use 'max_completion_tokens'"),
        tea(),
    ];
    let setup = Setup::new(pages).await;
    setup.complete(ResponseFormat::Json).await.unwrap();
    let sent_bodies = setup.sent_bodies();
    assert_eq!(
        (sent_bodies[2].get("temperature"), &sent_bodies[2]["max_completion_tokens"]),
        (None, &json!(99))
    );
    assert_eq!(setup.formats(), ["json_object"; 3]);
    let dropped = vec!["temperature", "max_tokens (max_completion_tokens in its place)"];
    let expected = AcceptedForm { response_format: "json_object", dropped };
    assert_eq!(setup.model.accepted_form(), Some(expected));
}

#[tokio::test]
async fn reasoning_that_is_cut_off_gets_more_tokens() {
    let cut = || {
        let message = json!({ "content": "", "reasoning": "Okay, let me think" });
        let usage = json!({ "prompt_tokens": 5, "completion_tokens": 99 });
        let body = json!({ "choices": [{ "message": message, "finish_reason": "length" }], "usage": usage });
        Page::new("application/json", body.to_string())
    };
    let setup = Setup::new([cut(), tea(), tea(), cut()]).await;
    let found = setup.complete(ResponseFormat::Json).await.unwrap();
    assert_eq!(found.usage, Usage { input_tokens: 16, output_tokens: 106 }, "of both attempts");
    setup.complete(ResponseFormat::Json).await.unwrap();
    let error = setup.complete(ResponseFormat::Json).await.unwrap_err();
    assert!(error.to_string().contains("its reasoning was cut off"), "{error}");
    let limits: Vec<u64> =
        setup.sent_bodies().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(limits, [99, 4_195, 4_195, 4_195], "later requests begin with more");
}

#[tokio::test]
async fn reasoning_effort_is_sent_unless_the_server_rejects_it() {
    let rejection = FakeModel::bad_request("Unrecognized request argument supplied: reasoning_effort");
    let setup =
        Setup::with([tea(), rejection, tea()], |config| config.reasoning_effort = Some("none".to_owned()))
            .await;
    setup.complete(ResponseFormat::Json).await.unwrap();
    setup.complete(ResponseFormat::Json).await.unwrap();
    let bodies = setup.sent_bodies();
    let sent: Vec<Option<&str>> = bodies.iter().map(|body| body["reasoning_effort"].as_str()).collect();
    assert_eq!(sent, [Some("none"), Some("none"), None]);
}

#[tokio::test]
async fn parameters_that_the_server_does_not_know_are_not_sent_again() {
    let format = || FakeModel::bad_request("response_format is not supported");
    let temperature = || FakeModel::bad_request("Unsupported value: 'temperature' does not support 0");
    let pages = [format(), format(), tea(), tea(), temperature(), tea(), tea()];
    let setup = Setup::new(pages).await;
    let schema = json!({ "type": "object" });
    for _ in 0..2 {
        setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    }
    setup.complete(ResponseFormat::Json).await.unwrap();
    setup.complete(ResponseFormat::Text).await.unwrap();
    assert_eq!(setup.formats(), ["json_schema", "json_object", "none", "none", "none", "none", "none"]);
    let has_temperature: Vec<bool> =
        setup.sent_bodies().iter().map(|body| body.get("temperature").is_some()).collect();
    assert_eq!(has_temperature, [true, true, true, true, true, false, false]);
}

#[tokio::test]
async fn schema_that_names_a_parameter_does_not_remove_it_from_other_requests() {
    let message = "failed to parse grammar: root ::= temperature";
    let setup =
        Setup::new([FakeModel::bad_request(message), FakeModel::bad_request(message), tea(), tea()]).await;
    let schema = json!({ "type": "object" });
    for _ in 0..2 {
        setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    }
    assert_eq!(setup.formats(), ["json_schema", "json_schema", "json_object", "json_schema"]);
    assert_eq!(setup.sent_bodies()[3]["temperature"], json!(0));
}

#[tokio::test]
async fn schema_without_a_grammar_is_replaced_by_the_prompt() {
    let message = r#"{"error":{"code":500,"message":"failed to parse grammar","type":"server_error"}}"#;
    let failure = Page::new("application/json", message).status(500);
    let setup = Setup::new([failure, tea()]).await;
    let schema = json!({ "type": "object" });
    setup.complete(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(setup.formats(), ["json_schema", "json_object"]);
}

#[tokio::test]
async fn error_in_place_of_an_answer_is_a_status() {
    let error = |code: Value| {
        let body = json!({ "error": { "message": "Provider returned error", "code": code } });
        Page::new("application/json", body.to_string())
    };
    let setup = Setup::new([error(json!(429)), tea()]).await;
    setup.complete(ResponseFormat::Json).await.unwrap();
    let setup = Setup::new([error(json!("no_credit")), error(json!(402))]).await;
    assert_eq!(setup.complete(ResponseFormat::Json).await, Err(ModelError::Status { status: 402 }));
    assert_eq!(setup.web.count(CHAT), 2, "an error without a status is temporary");
}

#[tokio::test]
async fn persistent_error_status_is_returned() {
    let setup = Setup::new([FakeModel::bad_request("the content of messages[1] is not acceptable")]).await;
    let cause = RejectionCause { code: Some("invalid_request_error".to_owned()), parameter: None };
    let expected = ModelError::Rejected { status: 400, cause };
    assert_eq!(setup.complete(ResponseFormat::Json).await, Err(expected));
    assert_eq!(setup.web.count(CHAT), 1, "another form does not change the content");
    let setup = Setup::new([Page::text("").status(422), Page::text("no").status(422)]).await;
    assert_eq!(setup.complete(ResponseFormat::Json).await, Err(ModelError::Status { status: 422 }));
    assert_eq!(setup.web.count(CHAT), 2, "an error without a text may be about the form");
    let setup = Setup::new([Page::text("who?").status(401)]).await;
    assert_eq!(setup.complete(ResponseFormat::Text).await, Err(ModelError::Status { status: 401 }));
    assert_eq!(setup.web.count(CHAT), 1);
}

#[tokio::test]
async fn busy_server_is_retried() {
    let busy = Page::text("slow down").status(429).header("retry-after", "0");
    let setup = Setup::new([busy, Page::text("down").status(503), FakeModel::text("ok")]).await;
    assert_eq!(
        setup.complete(ResponseFormat::Text).await.unwrap().content,
        CompletionContent::Text("ok".to_owned())
    );
    assert_eq!(setup.web.count(CHAT), 3);
}

#[tokio::test]
async fn retry_after_beyond_the_deadline_is_not_awaited() {
    let busy = Page::text("slow down").status(429).header("retry-after", "3600");
    let setup = Setup::new([busy]).await;
    let started = Instant::now();
    assert_eq!(setup.complete(ResponseFormat::Text).await, Err(ModelError::Status { status: 429 }));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn slow_server_times_out_at_the_deadline() {
    let setup = Setup::new([Page::unresponsive()]).await;
    let found = setup.complete_with(ResponseFormat::Text, "x", Duration::from_millis(200)).await;
    assert!(matches!(found, Err(ModelError::Timeout { .. })), "{found:?}");
    let setup =
        Setup::with([Page::unresponsive()], |config| config.timeout = Duration::from_millis(200)).await;
    let found = setup.complete(ResponseFormat::Text).await;
    assert!(matches!(found, Err(ModelError::Timeout { .. })), "{found:?}");
}

#[tokio::test]
async fn requests_beyond_the_concurrency_limit_wait() {
    let setup =
        Setup::with([Page::unresponsive(), FakeModel::text("ok")], |config| config.concurrency = 1).await;
    let timeout = |ms: u64| Duration::from_millis(ms);
    let hanging = setup.complete_with(ResponseFormat::Text, "x", timeout(400));
    let waiting = setup.complete_with(ResponseFormat::Text, "y", timeout(100));
    let (hanging, waiting) = tokio::join!(hanging, waiting);
    assert!(matches!(hanging, Err(ModelError::Timeout { .. })), "{hanging:?}");
    assert_eq!(waiting, Err(ModelError::Busy { places: 1 }));
    assert_eq!(setup.web.count(CHAT), 1, "the second request was never sent");
    assert!(setup.complete(ResponseFormat::Text).await.is_ok(), "the permit is free again");
}

#[tokio::test]
async fn limited_model_uses_half_of_the_concurrency() {
    let pages = [Page::unresponsive(), FakeModel::text("ok")];
    let Setup { web, model } = Setup::with(pages, |config| config.concurrency = 2).await;
    let model: Arc<dyn Model> = Arc::new(model);
    let limited = LimitedModel::half_of(Arc::clone(&model));
    assert_eq!((model.concurrency(), limited.concurrency(), limited.can_complete()), (2, 1, true));
    let request = |ms: u64| CompletionRequest {
        feature: Feature::Json,
        instructions: "",
        user_prompt: "",
        content: None,
        format: ResponseFormat::Text,
        max_tokens: 9,
        deadline: Instant::now() + Duration::from_millis(ms),
    };
    let (first, second, other) = (request(1_000), request(500), request(20_000));
    let hanging = limited.complete(&first);
    let more = async {
        websvc_testkit::until("the first request is sent", || web.count(CHAT) == 1).await;
        let waiting = limited.complete(&second).await;
        (waiting, model.complete(&other).await)
    };
    let (hanging, (waiting, other)) = tokio::join!(hanging, more);
    assert!(matches!(hanging, Err(ModelError::Timeout { .. })), "{hanging:?}");
    assert_eq!(waiting, Err(ModelError::Busy { places: 1 }));
    assert_eq!(other.unwrap().content, CompletionContent::Text("ok".to_owned()), "the other half is free");
    assert_eq!(web.count(CHAT), 2, "the second request was never sent");
}

#[tokio::test]
async fn invalid_and_oversized_responses_are_errors() {
    let bad = |page: Page| async move {
        Setup::new([page]).await.complete(ResponseFormat::Json).await.unwrap_err()
    };
    for page in [
        Page::html("<p>welcome"),
        Page::new("application/json", "{}"),
        FakeModel::text("I would rather not."),
        FakeModel::text(""),
    ] {
        let error = bad(page).await;
        assert!(matches!(error, ModelError::InvalidResponse { .. }), "{error}");
    }
    let flood = bad(Page::endless("application/json", " ".repeat(65_536))).await;
    assert_eq!(flood, ModelError::TooLarge { subject: "the response" });
    let full = bad(Page::text("too long").status(413)).await;
    assert_eq!(full, ModelError::TooLarge { subject: "the request" });
}

#[tokio::test]
async fn content_beyond_the_limit_is_truncated() {
    let setup = Setup::with([FakeModel::text("ok")], |config| config.max_input_chars = 2_000).await;
    let content = "x".repeat(100_000);
    let found = setup.complete_with(ResponseFormat::Text, &content, Duration::from_secs(20)).await.unwrap();
    assert!(found.is_content_truncated);
    assert!(FakeModel::prompt_text(&setup.sent_bodies()[0]).chars().count() <= 2_002);
}

#[tokio::test]
async fn errors_and_debug_contain_no_part_of_a_request() {
    let mut shown = String::new();
    let echo = Page::text("echo: a page about tea, sk-very-secret").status(403);
    let setup = Setup::with([echo], |config| {
        config.base_url.set_query(Some("code=query-secret"));
        config.headers.insert("x-token", "header-secret".parse().unwrap());
        config.extra_body = object(json!({ "user": "body-secret" }));
        shown = format!("{config:?}");
    });
    let setup = setup.await;
    let error = setup.complete(ResponseFormat::Text).await.unwrap_err();
    shown.push_str(&format!("{error} {error:?} {:?}", setup.model));
    for secret in ["sk-very-secret", "tea,", "model.test", "query-secret", "header-secret", "body-secret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn server_that_does_not_listen_is_unreachable() {
    let web = TestWeb::builder().start().await;
    let mut config = OpenAiConfig::new(web.client(), "http://127.0.0.1:9/v1".parse().unwrap());
    config.model = Some("tiny".to_owned());
    let setup = Setup { web, model: OpenAi::new(config).unwrap() };
    let found = setup.complete_with(ResponseFormat::Text, "x", Duration::from_millis(600)).await;
    assert!(matches!(found, Err(ModelError::Unreachable { .. })), "{found:?}");
}

#[tokio::test]
async fn rerank_uses_the_rerank_model() {
    let results = json!({ "results": [
        { "index": 0, "relevance_score": 0.25 }, { "index": 1, "relevance_score": 0.75 },
    ], "usage": { "total_tokens": 21 } });
    let setup = Setup::new([Page::new("application/json", results.to_string())]).await;
    let long = "z".repeat(50_000);
    let deadline = Instant::now() + Duration::from_secs(20);
    let found = setup.model.rerank("tea", &["a", &long], 2, deadline).await.unwrap();
    let order: Vec<usize> = found.texts.iter().map(|text| text.index).collect();
    assert_eq!((order, found.total_tokens), (vec![1, 0], Some(21)));
    let body = &setup.sent_bodies()[0];
    assert_eq!((&body["model"], &body["top_n"]), (&json!("tiny-rerank"), &json!(2)));
    assert_eq!(body["documents"][1].as_str().unwrap().len(), 8_000);
}

#[tokio::test]
async fn model_that_is_not_configured_is_an_error() {
    let setup = Setup::with([], |config| (config.model, config.rerank_model) = (None, None)).await;
    assert_eq!(setup.complete(ResponseFormat::Text).await, Err(ModelError::NotConfigured));
    assert!(!setup.model.can_complete() && !setup.model.can_rerank());
    let deadline = Instant::now() + Duration::from_secs(20);
    assert_eq!(setup.model.rerank("q", &["a"], 1, deadline).await, Err(ModelError::NotConfigured));
    assert_eq!(setup.model.models(deadline).await.unwrap(), ["tiny"]);
}

#[tokio::test]
async fn base_url_with_user_or_fragment_is_rejected() {
    let client = TestWeb::builder().start().await.client();
    for (address, is_valid) in [
        ("http://127.0.0.1:8000/v1", true),
        ("https://model.test/v1/", true),
        ("http://model.test/v1?key=x", true),
        ("http://model.test/v1#key", false),
        ("http://user:pass@model.test/v1", false),
        ("ftp://model.test/v1", false),
    ] {
        let config = OpenAiConfig::new(client.clone(), address.parse().unwrap());
        assert_eq!(OpenAi::new(config).is_ok(), is_valid, "{address}");
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

#[tokio::test]
async fn query_and_headers_are_a_part_of_every_request() {
    let (address, query) = ("http://azure.test/openai/deployments/d", "api-version=2024-10-21&x=a%20b");
    let web = TestWeb::builder();
    let web = ["chat/completions", "rerank", "models"]
        .into_iter()
        .fold(web, |web, path| web.page(&format!("{address}/{path}?{query}"), FakeModel::text("ok")));
    let web = web.start().await;
    let mut config = OpenAiConfig::new(web.client(), format!("{address}/?{query}").parse().unwrap());
    (config.model, config.rerank_model) = (Some("m".to_owned()), Some("m".to_owned()));
    config.headers.insert("api-key", "secret".parse().unwrap());
    config.headers.insert("authorization", "Basic Zm9v".parse().unwrap());
    let setup = Setup { web, model: OpenAi::new(config).unwrap() };
    setup.complete(ResponseFormat::Text).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    // The answers are none of a ranking and of a list, but the requests are what counts here.
    setup.model.rerank("tea", &["a"], 1, deadline).await.unwrap_err();
    setup.model.models(deadline).await.unwrap_err();
    let requests = setup.web.requests();
    let urls: Vec<&str> = requests.iter().map(|request| request.url.as_str()).collect();
    let expected = ["chat/completions", "rerank", "models"].map(|path| format!("{address}/{path}?{query}"));
    assert_eq!(urls, expected);
    for request in &requests {
        let headers = (request.header("api-key"), request.header("authorization"));
        assert_eq!(headers, (Some("secret"), Some("Basic Zm9v")));
    }
}

#[tokio::test]
async fn configured_parameters_are_sent() {
    let setup = Setup::with([tea()], |config| {
        (config.temperature, config.seed) = (0.7, Some(42));
        config.extra_body = object(json!({ "chat_template_kwargs": { "enable_thinking": false } }));
    });
    let setup = setup.await;
    setup.complete(ResponseFormat::Json).await.unwrap();
    let body = &setup.sent_bodies()[0];
    assert_eq!((&body["temperature"], &body["seed"]), (&json!(0.7), &json!(42)));
    assert_eq!(body["chat_template_kwargs"], json!({ "enable_thinking": false }));
}

#[tokio::test]
async fn headers_and_parameters_of_the_client_are_rejected() {
    let client = TestWeb::builder().start().await.client();
    let check = |field: &str, change: &dyn Fn(&mut OpenAiConfig)| {
        let mut config = OpenAiConfig::new(client.clone(), BASE.parse().unwrap());
        change(&mut config);
        let error = OpenAi::new(config).unwrap_err();
        assert_eq!(error.field(), field, "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    };
    for name in
        ["host", "content-length", "connection", "te", "proxy-authorization", "content-type", "accept"]
    {
        check("headers", &|config| {
            config.headers.insert(name, "s3cret".parse().unwrap());
        });
    }
    check("headers", &|config| {
        config.api_key = Some("s3cret".to_owned());
        config.headers.insert("authorization", "s3cret".parse().unwrap());
    });
    check("headers", &|config| {
        for number in 0..33 {
            config.headers.append("x-many", number.into());
        }
    });
    check("api_key", &|config| config.api_key = Some("s3cret\n".to_owned()));
    check("temperature", &|config| config.temperature = 3.0);
    check("extra_body", &|config| config.extra_body = object(json!({ "stream": "s3cret" })));
}
