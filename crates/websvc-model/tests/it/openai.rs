//! An endpoint that behaves, and one that does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_model::{
    Completion, CompletionContent, CompletionRequest, LimitedModel, Model, ModelError, OpenAi, OpenAiConfig,
    ResponseFormat, Usage,
};
use websvc_testkit::{FakeModel, Page, TestWeb};

const BASE: &str = "http://model.test/v1";
const CHAT: &str = "http://model.test/v1/chat/completions";

struct Stage {
    world: TestWeb,
    model: OpenAi,
}

impl Stage {
    async fn new(turns: impl IntoIterator<Item = Page>) -> Self {
        Self::with(turns, |_| {}).await
    }

    async fn with(turns: impl IntoIterator<Item = Page>, change: impl FnOnce(&mut OpenAiConfig)) -> Self {
        let world = FakeModel::scripted(turns).serve(TestWeb::builder(), BASE).start().await;
        let mut config = OpenAiConfig::new(world.client(), BASE.parse().unwrap());
        config.api_key = Some("sk-very-secret".to_owned());
        config.model = Some("tiny".to_owned());
        config.rerank_model = Some("tiny-rerank".to_owned());
        change(&mut config);
        Self { world, model: OpenAi::new(config).unwrap() }
    }

    async fn ask(&self, shape: ResponseFormat<'_>) -> Result<Completion, ModelError> {
        self.ask_about(shape, "a page about tea", Duration::from_secs(20)).await
    }

    async fn ask_about(
        &self,
        shape: ResponseFormat<'_>,
        content: &str,
        time: Duration,
    ) -> Result<Completion, ModelError> {
        let question = CompletionRequest {
            instructions: "Extract.",
            wish: "the tea",
            content: Some(content),
            shape,
            max_tokens: 99,
            deadline: Instant::now() + time,
        };
        self.model.complete(&question).await
    }

    /// Returns the bodies that were sent.
    fn asked(&self) -> Vec<Value> {
        let requests = self.world.requests();
        requests.iter().filter_map(|seen| serde_json::from_slice(&seen.body).ok()).collect()
    }

    /// Returns the forms in which answers were asked for.
    fn formats(&self) -> Vec<String> {
        let format = |body: &Value| body["response_format"]["type"].as_str().unwrap_or("none").to_owned();
        self.asked().iter().map(format).collect()
    }
}

fn tea() -> Page {
    FakeModel::json(&json!({ "tea": "sencha" }))
}

#[tokio::test]
async fn a_schema_is_asked_for_by_its_form_and_in_words() {
    let stage = Stage::new([tea()]).await;
    let schema = json!({ "type": "object", "properties": { "tea": { "type": "string" } } });
    let found = stage.ask(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(found.answer, CompletionContent::Json(json!({ "tea": "sencha" })));
    assert_eq!(found.usage, Usage { input_tokens: 11, output_tokens: 7 });
    assert!(!found.is_content_cut);
    let body = &stage.asked()[0];
    assert_eq!(body["model"], "tiny");
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema);
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(99), &json!(0)));
    let words = FakeModel::prompt_text(body);
    assert!(words.contains("<web-content>\na page about tea\n</web-content>"), "{words}");
    let requests = stage.world.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-very-secret"));
}

#[tokio::test]
async fn a_server_that_refuses_forms_is_asked_in_words() {
    let refusal = || FakeModel::bad_request("response_format is not supported");
    let spoken = FakeModel::text("Sure! ```json\n{\"tea\": \"sencha\"}\n```");
    let stage = Stage::new([refusal(), refusal(), spoken]).await;
    let schema = json!({ "type": "object" });
    let found = stage.ask(ResponseFormat::Schema(&schema)).await.unwrap();
    assert_eq!(found.answer.into_json(), json!({ "tea": "sencha" }));
    assert_eq!(stage.formats(), ["json_schema", "json_object", "none"]);
}

#[tokio::test]
async fn what_else_is_refused_is_left_out() {
    let turns = [
        FakeModel::bad_request("Unsupported value: 'temperature' does not support 0"),
        FakeModel::bad_request("'max_tokens' is not supported, use 'max_completion_tokens'"),
        tea(),
    ];
    let stage = Stage::new(turns).await;
    stage.ask(ResponseFormat::Json).await.unwrap();
    let asked = stage.asked();
    assert_eq!((asked[2].get("temperature"), &asked[2]["max_completion_tokens"]), (None, &json!(99)));
    assert_eq!(stage.formats(), ["json_object"; 3]);
}

#[tokio::test]
async fn a_refusal_that_stays_is_an_error() {
    let refusal = || FakeModel::bad_request("the model has no such context");
    let stage = Stage::new([refusal(), refusal()]).await;
    assert_eq!(stage.ask(ResponseFormat::Json).await, Err(ModelError::Refused { status: 400 }));
    let stage = Stage::new([Page::text("who?").status(401)]).await;
    assert_eq!(stage.ask(ResponseFormat::Text).await, Err(ModelError::Refused { status: 401 }));
    assert_eq!(stage.world.count(CHAT), 1);
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let busy = Page::text("slow down").status(429).header("retry-after", "0");
    let stage = Stage::new([busy, Page::text("down").status(503), FakeModel::text("ok")]).await;
    assert_eq!(
        stage.ask(ResponseFormat::Text).await.unwrap().answer,
        CompletionContent::Text("ok".to_owned())
    );
    assert_eq!(stage.world.count(CHAT), 3);
}

#[tokio::test]
async fn a_server_that_is_busy_for_longer_than_there_is_time_is_not_waited_for() {
    let busy = Page::text("slow down").status(429).header("retry-after", "3600");
    let stage = Stage::new([busy]).await;
    let started = Instant::now();
    assert_eq!(stage.ask(ResponseFormat::Text).await, Err(ModelError::Refused { status: 429 }));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_slow_server_is_given_up_at_the_deadline() {
    let stage = Stage::new([Page::unresponsive()]).await;
    let found = stage.ask_about(ResponseFormat::Text, "x", Duration::from_millis(200)).await;
    assert!(matches!(found, Err(ModelError::Late { .. })), "{found:?}");
    let stage =
        Stage::with([Page::unresponsive()], |config| config.timeout = Duration::from_millis(200)).await;
    let found = stage.ask(ResponseFormat::Text).await;
    assert!(matches!(found, Err(ModelError::Late { .. })), "{found:?}");
}

#[tokio::test]
async fn more_questions_than_places_wait_for_their_turn() {
    let stage =
        Stage::with([Page::unresponsive(), FakeModel::text("ok")], |config| config.concurrency = 1).await;
    let patience = |ms: u64| Duration::from_millis(ms);
    let hanging = stage.ask_about(ResponseFormat::Text, "x", patience(400));
    let waiting = stage.ask_about(ResponseFormat::Text, "y", patience(100));
    let (hanging, waiting) = tokio::join!(hanging, waiting);
    assert!(matches!(hanging, Err(ModelError::Late { .. })), "{hanging:?}");
    assert!(matches!(waiting, Err(ModelError::Late { .. })), "{waiting:?}");
    assert_eq!(stage.world.count(CHAT), 1, "the second was never sent");
    assert!(stage.ask(ResponseFormat::Text).await.is_ok(), "the place is free again");
}

#[tokio::test]
async fn a_share_takes_half_of_the_places() {
    let turns = [Page::unresponsive(), FakeModel::text("ok")];
    let Stage { world, model } = Stage::with(turns, |config| config.concurrency = 2).await;
    let model: Arc<dyn Model> = Arc::new(model);
    let share = LimitedModel::half_of(Arc::clone(&model));
    assert_eq!((model.places(), share.places(), share.completes()), (2, 1, true));
    let question = |ms: u64| CompletionRequest {
        instructions: "",
        wish: "",
        content: None,
        shape: ResponseFormat::Text,
        max_tokens: 9,
        deadline: Instant::now() + Duration::from_millis(ms),
    };
    let (first, second, other) = (question(1_000), question(500), question(20_000));
    let hanging = share.complete(&first);
    let more = async {
        websvc_testkit::until("the first is sent", || world.count(CHAT) == 1).await;
        let waiting = share.complete(&second).await;
        (waiting, model.complete(&other).await)
    };
    let (hanging, (waiting, other)) = tokio::join!(hanging, more);
    assert!(matches!(hanging, Err(ModelError::Late { .. })), "{hanging:?}");
    assert!(matches!(waiting, Err(ModelError::Late { .. })), "{waiting:?}");
    assert_eq!(other.unwrap().answer, CompletionContent::Text("ok".to_owned()), "half is left for others");
    assert_eq!(world.count(CHAT), 2, "the second was never sent");
}

#[tokio::test]
async fn garbage_and_floods_are_errors() {
    let bad =
        |page: Page| async move { Stage::new([page]).await.ask(ResponseFormat::Json).await.unwrap_err() };
    for page in [
        Page::html("<p>welcome"),
        Page::new("application/json", "{}"),
        FakeModel::text("I would rather not."),
        FakeModel::text(""),
    ] {
        let error = bad(page).await;
        assert!(matches!(error, ModelError::BadAnswer { .. }), "{error}");
    }
    let flood = bad(Page::endless("application/json", " ".repeat(65_536))).await;
    assert_eq!(flood, ModelError::TooLarge { what: "the answer" });
    let full = bad(Page::text("too long").status(413)).await;
    assert_eq!(full, ModelError::TooLarge { what: "the question" });
}

#[tokio::test]
async fn content_beyond_the_budget_is_cut() {
    let stage = Stage::with([FakeModel::text("ok")], |config| config.max_input_chars = 2_000).await;
    let content = "x".repeat(100_000);
    let found = stage.ask_about(ResponseFormat::Text, &content, Duration::from_secs(20)).await.unwrap();
    assert!(found.is_content_cut);
    assert!(FakeModel::prompt_text(&stage.asked()[0]).chars().count() <= 2_002);
}

#[tokio::test]
async fn nothing_of_a_question_is_in_what_is_shown() {
    let stage = Stage::new([Page::text("echo: a page about tea, sk-very-secret").status(403)]).await;
    let error = stage.ask(ResponseFormat::Text).await.unwrap_err();
    let shown = format!("{error} {error:?} {:?}", stage.model);
    for secret in ["sk-very-secret", "tea,", "model.test"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let world = TestWeb::builder().start().await;
    let mut config = OpenAiConfig::new(world.client(), "http://127.0.0.1:9/v1".parse().unwrap());
    config.model = Some("tiny".to_owned());
    let stage = Stage { world, model: OpenAi::new(config).unwrap() };
    let found = stage.ask_about(ResponseFormat::Text, "x", Duration::from_millis(600)).await;
    assert!(matches!(found, Err(ModelError::Unreachable { .. })), "{found:?}");
}

#[tokio::test]
async fn texts_are_ordered_by_the_model_of_that_kind() {
    let results = json!({ "results": [
        { "index": 0, "relevance_score": 0.25 }, { "index": 1, "relevance_score": 0.75 },
    ], "usage": { "total_tokens": 21 } });
    let stage = Stage::new([Page::new("application/json", results.to_string())]).await;
    let long = "z".repeat(50_000);
    let deadline = Instant::now() + Duration::from_secs(20);
    let found = stage.model.rerank("tea", &["a", &long], 2, deadline).await.unwrap();
    let order: Vec<usize> = found.texts.iter().map(|text| text.index).collect();
    assert_eq!((order, found.total_tokens), (vec![1, 0], Some(21)));
    let body = &stage.asked()[0];
    assert_eq!((&body["model"], &body["top_n"]), (&json!("tiny-rerank"), &json!(2)));
    assert_eq!(body["documents"][1].as_str().unwrap().len(), 8_000);
}

#[tokio::test]
async fn a_model_that_is_not_configured_is_missing() {
    let stage = Stage::with([], |config| (config.model, config.rerank_model) = (None, None)).await;
    assert_eq!(stage.ask(ResponseFormat::Text).await, Err(ModelError::Missing));
    assert!(!stage.model.completes() && !stage.model.reranks());
    let deadline = Instant::now() + Duration::from_secs(20);
    assert_eq!(stage.model.rerank("q", &["a"], 1, deadline).await, Err(ModelError::Missing));
    assert_eq!(stage.model.models(deadline).await.unwrap(), ["tiny"]);
}

#[tokio::test]
async fn an_address_that_paths_cannot_be_added_to_is_refused() {
    let client = TestWeb::builder().start().await.client();
    for (address, is_fine) in [
        ("http://127.0.0.1:8000/v1", true),
        ("https://model.test/v1/", true),
        ("http://model.test/v1?key=x", false),
        ("http://user:pass@model.test/v1", false),
        ("ftp://model.test/v1", false),
    ] {
        let config = OpenAiConfig::new(client.clone(), address.parse().unwrap());
        assert_eq!(OpenAi::new(config).is_ok(), is_fine, "{address}");
    }
}
