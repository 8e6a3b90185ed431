//! Several endpoints and models: which one answers, and what is counted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_model::{
    Completion, CompletionContent, CompletionRequest, EndpointConfig, FailoverError, FailoverModel, Feature,
    Model, ModelError, OpenAiConfig, ResponseFormat,
};
use websvc_testkit::{FakeModel, Page, TestWeb};

const FIRST: &str = "http://first.test/v1";
const SECOND: &str = "http://second.test/v1";

/// Two endpoints with scripted responses.
struct Endpoints {
    web: TestWeb,
    model: FailoverModel,
}

impl Endpoints {
    async fn new(first: impl IntoIterator<Item = Page>, second: impl IntoIterator<Item = Page>) -> Self {
        Self::with(first, second, |_| {}).await
    }

    async fn with(
        first: impl IntoIterator<Item = Page>,
        second: impl IntoIterator<Item = Page>,
        change: impl FnOnce(&mut [EndpointConfig; 2]),
    ) -> Self {
        let web = FakeModel::scripted(first).serve(TestWeb::builder(), FIRST);
        let web = FakeModel::scripted(second).serve(web, SECOND).start().await;
        let mut endpoints = [FIRST, SECOND].map(|base| endpoint(&web, base));
        change(&mut endpoints);
        Self { web, model: FailoverModel::new(endpoints.into()).unwrap() }
    }

    async fn complete(&self, feature: Feature) -> Result<Completion, ModelError> {
        let request = CompletionRequest {
            feature,
            instructions: "Answer.",
            user_prompt: "tea",
            content: None,
            format: ResponseFormat::Text,
            max_tokens: 9,
            deadline: Instant::now() + Duration::from_secs(20),
        };
        self.model.complete(&request).await
    }

    async fn answer(&self, feature: Feature) -> String {
        self.complete(feature).await.unwrap().content.into_text()
    }

    /// Returns the numbers of requests to both endpoints.
    fn counts(&self) -> (usize, usize) {
        let count = |base: &str| self.web.count(&format!("{base}/chat/completions"));
        (count(FIRST), count(SECOND))
    }

    /// Returns a field of the bodies of all requests, in order.
    fn sent(&self, field: &str) -> Vec<Value> {
        let bodies = self.web.requests().into_iter();
        bodies.map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()[field].take()).collect()
    }
}

fn endpoint(web: &TestWeb, base: &str) -> EndpointConfig {
    let mut endpoint = OpenAiConfig::new(web.client(), base.parse().unwrap());
    endpoint.model = Some("large".to_owned());
    endpoint.rerank_model = Some("ranker".to_owned());
    EndpointConfig { endpoint, models: Vec::new() }
}

fn text(text: &str) -> Page {
    FakeModel::text(text)
}

/// An error that is not worth a wait: the next attempt would be too late.
fn down(status: u16) -> Page {
    Page::text("down").status(status).header("retry-after", "3600")
}

#[tokio::test]
async fn next_endpoint_answers_and_the_failed_one_is_skipped() {
    for status in [429, 503] {
        let endpoints = Endpoints::new([down(status), text("late")], [text("one"), text("two")]).await;
        assert_eq!(endpoints.answer(Feature::Summary).await, "one");
        assert_eq!(endpoints.counts(), (1, 1));
        assert_eq!(endpoints.answer(Feature::Summary).await, "two", "the first one is skipped");
        assert_eq!(endpoints.counts(), (1, 2));
        let metrics = endpoints.model.metrics().unwrap();
        let [(first, true), (second, false)] = &metrics.endpoints[..] else { panic!("{metrics:?}") };
        assert_eq!((first.failed.get(), first.skipped.get()), (1, 1));
        assert_eq!((second.answered.get(), second.failed.get()), (2, 0));
    }
}

#[tokio::test]
async fn endpoint_that_fails_several_times_is_replaced() {
    let failures = (0..4).map(|_| Page::text("down").status(502));
    let endpoints = Endpoints::new(failures, [text("one")]).await;
    assert_eq!(endpoints.answer(Feature::Summary).await, "one");
    assert_eq!(endpoints.counts(), (4, 1), "with 3 retries");
}

#[tokio::test]
async fn failure_of_the_request_is_not_sent_to_another_endpoint() {
    for status in [401, 404, 413] {
        let endpoints = Endpoints::new([Page::text("no").status(status), text("one")], [text("no")]).await;
        endpoints.complete(Feature::Summary).await.unwrap_err();
        assert_eq!(endpoints.answer(Feature::Summary).await, "one", "it is not skipped");
        assert_eq!(endpoints.counts(), (2, 0));
    }
}

#[tokio::test]
async fn endpoint_that_cannot_be_reached_is_replaced() {
    let endpoints = Endpoints::with([], [text("one"), text("two")], |[first, _]| {
        first.endpoint.base_url = "http://127.0.0.1:9/v1".parse().unwrap();
    });
    let endpoints = endpoints.await;
    assert_eq!(endpoints.answer(Feature::Summary).await, "one");
    let started = Instant::now();
    assert_eq!(endpoints.answer(Feature::Summary).await, "two");
    assert!(started.elapsed() < Duration::from_secs(5), "the second request does not try it");
}

#[tokio::test]
async fn skipped_endpoint_is_the_last_resort() {
    let endpoints = Endpoints::new([down(503), text("back")], [down(429)]).await;
    assert_eq!(endpoints.complete(Feature::Summary).await, Err(ModelError::Status { status: 429 }));
    assert_eq!(endpoints.answer(Feature::Summary).await, "back");
    assert_eq!(endpoints.counts(), (2, 1));
}

#[tokio::test]
async fn each_feature_has_its_model() {
    let answers = || (0..4).map(|_| text("ok"));
    let endpoints = Endpoints::with(answers(), [], |[first, _]| {
        first.models = vec![
            (Feature::Judge, "small".to_owned()),
            (Feature::Agent, "large".to_owned()),
            (Feature::RedactPii, "small".to_owned()),
        ];
    });
    let endpoints = endpoints.await;
    for feature in [Feature::Judge, Feature::Agent, Feature::RedactPii, Feature::Json] {
        endpoints.complete(feature).await.unwrap();
    }
    assert_eq!(endpoints.sent("model"), ["small", "large", "small", "large"]);
    let names: Vec<Vec<_>> = endpoints
        .model
        .models()
        .map(|models| models.iter().map(|model| model.model_name().unwrap()).collect())
        .collect();
    assert_eq!(names, [vec!["large", "small"], vec!["large"]]);
}

#[tokio::test]
async fn models_of_an_endpoint_learn_their_parameters_apart_and_share_its_concurrency() {
    let rejection = FakeModel::bad_request("Unsupported value: 'temperature' does not support 0");
    let pages = [rejection, text("a"), text("b"), text("c"), Page::unresponsive()];
    let endpoints = Endpoints::with(pages, [], |[first, _]| {
        first.models = vec![(Feature::Judge, "small".to_owned())];
        first.endpoint.concurrency = 1;
        first.endpoint.timeout = Duration::from_millis(400);
    });
    let endpoints = endpoints.await;
    for feature in [Feature::Judge, Feature::Judge, Feature::Json] {
        endpoints.complete(feature).await.unwrap();
    }
    assert_eq!(endpoints.sent("temperature"), [json!(0), Value::Null, Value::Null, json!(0)]);
    let (hanging, waiting) =
        tokio::join!(endpoints.complete(Feature::Json), endpoints.complete(Feature::Judge));
    assert!(hanging.is_err() && waiting.is_err());
    assert!(endpoints.web.requests().iter().all(|request| request.in_flight == 1), "never at the same time");
}

#[tokio::test]
async fn requests_are_counted_by_feature() {
    let busy = Page::text("slow down").status(429).header("retry-after", "0");
    let first = [busy, text("ok"), text(""), Page::text("who?").status(401)];
    let endpoints = Endpoints::new(first, []).await;
    endpoints.complete(Feature::Question).await.unwrap();
    endpoints.complete(Feature::Question).await.unwrap_err();
    endpoints.complete(Feature::Judge).await.unwrap_err();
    let metrics = endpoints.model.metrics().unwrap();
    let of = |feature: Feature| &metrics.features[feature as usize];
    let count =
        |feature, name| of(feature).outcomes.counts().iter().find(|(outcome, _)| *outcome == name).unwrap().1;
    let tokens = |feature| (of(feature).input_tokens.get(), of(feature).output_tokens.get());
    let question = of(Feature::Question);
    assert_eq!((count(Feature::Question, "answered"), count(Feature::Question, "invalid_response")), (1, 1));
    assert_eq!((question.retries.get(), question.durations.distribution().counts.last()), (1, Some(&2)));
    // The tokens of a response that cannot be used were spent, too.
    assert_eq!(tokens(Feature::Question), (22, 14));
    assert_eq!((count(Feature::Judge, "rejected"), tokens(Feature::Judge)), (1, (0, 0)));
    assert_eq!(of(Feature::Json).durations.distribution().counts.last(), Some(&0));
}

#[tokio::test]
async fn reranking_uses_the_next_endpoint_and_is_counted() {
    let results =
        json!({ "results": [{ "index": 0, "relevance_score": 0.5 }], "usage": { "total_tokens": 21 } });
    let ranking = Page::new("application/json", results.to_string());
    let endpoints = Endpoints::new([down(503)], [ranking]).await;
    let deadline = Instant::now() + Duration::from_secs(20);
    let found = endpoints.model.rerank("tea", &["a"], 1, deadline).await.unwrap();
    assert_eq!(found.total_tokens, Some(21));
    let metrics = endpoints.model.metrics().unwrap();
    assert_eq!(metrics.features[Feature::Rerank as usize].input_tokens.get(), 21);
}

#[tokio::test]
async fn limits_are_those_that_hold_for_every_endpoint() {
    let endpoints = Endpoints::with([], [text("ok")], |[first, second]| {
        (first.endpoint.model, first.endpoint.concurrency) = (None, 7);
        (second.endpoint.rerank_model, second.endpoint.max_input_chars) = (None, 9_000);
    });
    let endpoints = endpoints.await;
    let model = &endpoints.model;
    assert_eq!((model.concurrency(), model.max_input_chars()), (7, 9_000));
    assert!(model.can_complete() && model.can_rerank());
    let found = endpoints.complete(Feature::Json).await.unwrap();
    assert_eq!(found.content, CompletionContent::Text("ok".to_owned()), "of the one that has a model");
}

#[tokio::test]
async fn invalid_endpoint_is_named_and_their_number_is_limited() {
    let web = TestWeb::builder().start().await;
    assert!(matches!(FailoverModel::new(Vec::new()), Err(FailoverError::Count)));
    let many = (0..9).map(|_| endpoint(&web, FIRST)).collect();
    assert!(matches!(FailoverModel::new(many), Err(FailoverError::Count)));
    let mut wrong = endpoint(&web, SECOND);
    wrong.endpoint.temperature = 9.0;
    let error = FailoverModel::new(vec![endpoint(&web, FIRST), wrong]).unwrap_err();
    assert!(matches!(error, FailoverError::Endpoint { index: 1, .. }), "{error}");
}
