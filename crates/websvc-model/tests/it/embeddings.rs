//! The client of `embeddings`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_model::{Embeddings, ModelError, OpenAiConfig};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::fixture::BASE;

/// A client of an endpoint that returns scripted responses.
async fn client(pages: impl IntoIterator<Item = Page>) -> (TestWeb, Embeddings) {
    let web = FakeModel::scripted(pages).serve(TestWeb::builder(), BASE).start().await;
    let mut config = OpenAiConfig::new(web.client(), BASE.parse().unwrap());
    config.api_key = Some("sk-very-secret".to_owned());
    config.model = Some("tiny-embed".to_owned());
    (web, Embeddings::new(config).unwrap())
}

fn vectors(data: &Value) -> Page {
    Page::new("application/json", json!({ "object": "list", "data": data }).to_string())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[tokio::test]
async fn texts_become_vectors_in_their_order() {
    let data = json!([{ "index": 1, "embedding": [0.5, -1.0] }, { "index": 0, "embedding": [1.0, 0.0] }]);
    let (web, client) = client([vectors(&data)]).await;
    let long = "z".repeat(50_000);
    let found = client.embed(&["tea", &long], soon()).await.unwrap();
    assert_eq!(found, [[1.0, 0.0], [0.5, -1.0]]);
    let request = &web.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!((&body["model"], &body["input"][0]), (&json!("tiny-embed"), &json!("tea")));
    assert_eq!(body["input"][1].as_str().unwrap().len(), 8_000);
    assert!(!format!("{client:?}").contains("secret"));
}

#[tokio::test]
async fn vectors_of_many_dimensions_fit_into_the_response() {
    let vector = vec![-0.012_345_678_901_234_567; 4_096];
    let data: Vec<Value> = (0..16).map(|index| json!({ "index": index, "embedding": vector })).collect();
    let (_web, client) = client([vectors(&json!(data))]).await;
    assert_eq!(client.embed(&["tea"; 16], soon()).await.unwrap().len(), 16);
}

#[tokio::test]
async fn endpoint_is_not_asked_for_a_while_after_failures() {
    let unusable = vectors(&json!([]));
    let (web, client) = client([unusable.clone(), unusable.clone(), unusable]).await;
    for _ in 0..3 {
        let error = client.embed(&["tea"], soon()).await.unwrap_err();
        assert!(matches!(error, ModelError::InvalidResponse { .. }), "{error}");
    }
    let error = client.embed(&["tea"], soon()).await.unwrap_err();
    assert!(error.to_string().contains("shortly before"), "{error}");
    assert_eq!(web.requests().len(), 3);
}
