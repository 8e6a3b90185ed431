//! The webhook sink.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use websvc_audit::{Sink, WebhookSecret};
use websvc_testkit::{Page, ReceivedRequest, TestWeb, until};

use crate::support::{Delivering, client, distinct, number, record};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn sink(world: &TestWeb) -> Sink {
    let url = format!("http://127.0.0.1:{}/hook", world.http_addr().port());
    Sink::webhook(client(), url.parse().unwrap(), WebhookSecret::new(SECRET).unwrap()).unwrap()
}

/// Verifies a batch independently, as a receiver does, and returns the numbers of its events.
fn read(request: &ReceivedRequest) -> Vec<u32> {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use ring::hmac;
    let header = |name| request.header(name).unwrap();
    assert_eq!((request.method.as_str(), header("content-type")), ("POST", "application/json"));
    let key = BASE64_STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&request.body);
    let signature = BASE64_STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&key, &signed, &signature).expect("a valid signature");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["events"].as_array().unwrap().iter().map(number).collect()
}

fn numbers(world: &TestWeb) -> Vec<u32> {
    world.requests().iter().flat_map(read).collect()
}

/// Returns a loopback web whose hook answers the n-th request with the result of `respond`.
async fn world(respond: impl Fn(usize, &ReceivedRequest) -> Page + Send + Sync + 'static) -> TestWeb {
    let count = Arc::new(AtomicUsize::new(0));
    let hook = move |request: &ReceivedRequest| respond(count.fetch_add(1, Ordering::Relaxed), request);
    TestWeb::builder().page_with("http://127.0.0.1/hook", hook).start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_are_signed_and_acknowledged() {
    let world = world(|_, _| Page::text("").status(202)).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..2500);
    until("all events were delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    assert_eq!(numbers(&world), Vec::from_iter(0..2500));
    let metrics = delivering.audit.metrics();
    assert_eq!((metrics.sinks[0].delivered, metrics.sinks[0].failures, metrics.recorded), (2500, 0, 2500));
    assert!(world.requests().len() < 500, "they are sent in batches");
    delivering.stop_and_wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unacknowledged_batch_is_sent_again_with_the_same_id() {
    let world = world(|index, _| Page::text("").status(if index < 3 { 500 } else { 200 })).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..1);
    until("it was delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    let requests = world.requests();
    assert_eq!(requests.iter().map(read).collect::<Vec<_>>(), vec![vec![0]; 4]);
    let ids: HashSet<&str> = requests.iter().map(|request| request.header("webhook-id").unwrap()).collect();
    assert_eq!(ids.len(), 1);
    record(&delivering.audit, 1..2);
    until("the next one was delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    assert!(!ids.contains(world.requests()[4].header("webhook-id").unwrap()), "other events have another id");
    assert_eq!(delivering.audit.metrics().sinks[0].failures, 3);
    delivering.stop_and_wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_that_is_too_large_is_halved() {
    let world =
        world(|_, request| Page::text("").status(if read(request).len() > 3 { 413 } else { 200 })).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..40);
    until("all events were delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    let accepted = world.requests().iter().map(read).filter(|batch| batch.len() <= 3).flatten().collect();
    assert_eq!(distinct(accepted), Vec::from_iter(0..40));
    assert_eq!(delivering.audit.metrics().sinks[0].failures, 0);
    delivering.stop_and_wait().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_is_not_an_acknowledgement_and_not_followed() {
    let world =
        world(|index, _| if index == 0 { Page::redirect(307, "/other") } else { Page::text("") }).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..1);
    until("it was delivered", || delivering.audit.metrics().sinks[0].backlog == 0).await;
    assert_eq!(numbers(&world), [0, 0]);
    assert!(world.requests().iter().all(|request| request.url.ends_with("/hook")));
    delivering.stop_and_wait().await;
}

#[tokio::test]
async fn check_of_a_webhook_sends_an_empty_batch() {
    let accepting = world(|_, _| Page::text("")).await;
    sink(&accepting).check().await.unwrap();
    assert_eq!(accepting.requests().iter().map(read).collect::<Vec<_>>(), [Vec::<u32>::new()]);
    let rejecting = world(|_, _| Page::text("").status(401)).await;
    let error = sink(&rejecting).check().await.unwrap_err();
    assert_eq!(error.to_string(), "responded with status 401");
}
