//! The time of requests: it begins with the permit, and retries use what is left.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use websvc_model::{ModelError, ResponseFormat};
use websvc_testkit::{FakeModel, Page};

use crate::fixture::{CHAT, Setup};

#[tokio::test]
async fn time_of_a_request_begins_with_its_permit() {
    // Ten answers one after the other take longer than the time of one request.
    let slow = FakeModel::with_responder(|_| FakeModel::text("ok").delay(Duration::from_millis(100)));
    let setup = Setup::with_model(&slow, |config| {
        config.concurrency = 1;
        config.timeout = Duration::from_millis(700);
    });
    let setup = setup.await;
    let found = join_all((0..10).map(|_| setup.complete(ResponseFormat::Text))).await;
    assert!(found.iter().all(Result::is_ok), "{found:?}");
}

#[tokio::test]
async fn request_that_was_not_sent_is_not_a_timeout_of_the_model() {
    let setup = Setup::with([Page::unresponsive()], |config| config.concurrency = 1).await;
    let (hanging, waiting) = tokio::join!(
        setup.complete_with(ResponseFormat::Text, "x", Duration::from_millis(400)),
        setup.complete_with(ResponseFormat::Text, "y", Duration::from_millis(100)),
    );
    assert!(matches!(hanging, Err(ModelError::Timeout { .. })), "{hanging:?}");
    let error = waiting.unwrap_err();
    assert!(error.is_late());
    assert_eq!(error.to_string(), "not sent: the only place of the model is busy");
}

#[tokio::test]
async fn server_that_loads_its_model_is_asked_until_it_has_loaded() {
    let loading = || {
        let error = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
        Page::new("application/json", error).status(503)
    };
    let setup = Setup::new([loading(), loading(), loading(), FakeModel::text("ok")]).await;
    let started = Instant::now();
    assert!(setup.complete(ResponseFormat::Text).await.is_ok());
    assert!(started.elapsed() >= Duration::from_millis(3_400), "the pauses grow");
    let setup = Setup::with_model(&FakeModel::with_responder(move |_| loading()), |_| {}).await;
    let found = setup.complete_with(ResponseFormat::Text, "x", Duration::from_millis(900)).await;
    assert_eq!(found, Err(ModelError::Status { status: 503 }), "the cause, and not the end of the time");
    assert_eq!(setup.web.count(CHAT), 2);
}

#[tokio::test]
async fn account_without_credit_is_not_asked_again() {
    let error = r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#;
    let setup = Setup::new([Page::new("application/json", error).status(429)]).await;
    assert_eq!(setup.complete(ResponseFormat::Text).await, Err(ModelError::Status { status: 429 }));
    assert_eq!(setup.web.count(CHAT), 1);
}
