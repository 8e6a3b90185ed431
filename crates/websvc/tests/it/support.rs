//! Shared test support: services with scripted responses, and clients with short retry delays.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use websvc::{Client, ClientBuilder, RetryPolicy};
use websvc_testkit::{Page, TestWeb};

pub(crate) const EMPTY_RESPONSE: &str =
    r#"{"success": true, "data": {"web": []}, "id": "1", "creditsUsed": 0}"#;

/// An API key that must not appear in any output.
pub(crate) const KEY: &str = "fc-0123456789abcdef";

pub(crate) fn json(status: u16, body: &str) -> Page {
    Page::new("application/json", body.to_owned()).status(status)
}

pub(crate) fn empty_response() -> Page {
    json(200, EMPTY_RESPONSE)
}

/// Returns a response with an error body.
pub(crate) fn error_response(status: u16) -> Page {
    json(status, r#"{"success": false, "error": "failed"}"#)
}

/// Starts a service that gives these responses in turn to searches, uploads, files and extractions, and repeats the last one.
pub(crate) async fn service(responses: Vec<Page>) -> TestWeb {
    let sent = std::sync::Arc::new(AtomicUsize::new(0));
    let mut world = TestWeb::builder();
    for path in ["/v2/search", "/v2/index/documents", "/v2/parse", "/v2/extract", "/v2/extract/e"] {
        let (responses, sent) = (responses.clone(), std::sync::Arc::clone(&sent));
        world = world.page_with(&format!("http://127.0.0.1{path}"), move |_| {
            let index = sent.fetch_add(1, Ordering::SeqCst);
            responses[index.min(responses.len() - 1)].clone()
        });
    }
    world.start().await
}

/// Returns a policy with four attempts and delays of at most two milliseconds.
pub(crate) fn fast_retries() -> RetryPolicy {
    RetryPolicy {
        attempts: 4,
        base: Duration::from_millis(1),
        max: Duration::from_millis(2),
        ..RetryPolicy::default()
    }
}

pub(crate) fn builder(base: &str) -> ClientBuilder {
    Client::builder(base.parse().unwrap()).key(KEY).retry(fast_retries())
}

pub(crate) fn base(world: &TestWeb) -> String {
    format!("http://{}", world.http_addr())
}

pub(crate) fn client(world: &TestWeb) -> Client {
    builder(&base(world)).build().unwrap()
}
