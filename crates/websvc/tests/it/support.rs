//! Shared support of the tests: scripted services, and clients without waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use websvc::{Client, ClientBuilder, RetryPolicy};
use websvc_testkit::{Page, TestWeb};

pub(crate) const FOUND: &str = r#"{"success": true, "data": {"web": []}, "id": "1", "creditsUsed": 0}"#;

/// A key that must show up nowhere.
pub(crate) const KEY: &str = "fc-0123456789abcdef";

pub(crate) fn json(status: u16, body: &str) -> Page {
    Page::new("application/json", body.to_owned()).status(status)
}

pub(crate) fn found() -> Page {
    json(200, FOUND)
}

/// An answer of the service that carries an error body.
pub(crate) fn refusal(status: u16) -> Page {
    json(status, r#"{"success": false, "error": "refused"}"#)
}

/// Starts a service that gives these answers in turn, and the last one for ever, to `POST /v2/search` and `POST
/// /v2/index/documents`.
pub(crate) async fn service(answers: Vec<Page>) -> TestWeb {
    let given = std::sync::Arc::new(AtomicUsize::new(0));
    let mut world = TestWeb::builder();
    for path in ["/v2/search", "/v2/index/documents"] {
        let (answers, given) = (answers.clone(), std::sync::Arc::clone(&given));
        world = world.page_with(&format!("http://127.0.0.1{path}"), move |_| {
            let place = given.fetch_add(1, Ordering::SeqCst);
            answers[place.min(answers.len() - 1)].clone()
        });
    }
    world.start().await
}

/// Four attempts that follow each other at once.
pub(crate) fn impatient() -> RetryPolicy {
    RetryPolicy {
        attempts: 4,
        base: Duration::from_millis(1),
        max: Duration::from_millis(2),
        ..RetryPolicy::default()
    }
}

pub(crate) fn builder(base: &str) -> ClientBuilder {
    Client::builder(base.parse().unwrap()).key(KEY).retry(impatient())
}

pub(crate) fn base(world: &TestWeb) -> String {
    format!("http://{}", world.http_addr())
}

pub(crate) fn client(world: &TestWeb) -> Client {
    builder(&base(world)).build().unwrap()
}
