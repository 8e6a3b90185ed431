//! Signed batches.

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

/// Checks a batch as its receiver has to, with code of its own, and returns the numbers of its events.
fn read(seen: &ReceivedRequest) -> Vec<u32> {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use ring::hmac;
    let header = |name| seen.header(name).unwrap();
    assert_eq!((seen.method.as_str(), header("content-type")), ("POST", "application/json"));
    let key = BASE64_STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&seen.body);
    let signature = BASE64_STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&key, &signed, &signature).expect("a valid signature");
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    body["events"].as_array().unwrap().iter().map(number).collect()
}

fn numbers(world: &TestWeb) -> Vec<u32> {
    world.requests().iter().flat_map(read).collect()
}

/// A world whose hook answers the n-th request with what `answer` says.
async fn world(answer: impl Fn(usize, &ReceivedRequest) -> Page + Send + Sync + 'static) -> TestWeb {
    let count = Arc::new(AtomicUsize::new(0));
    let hook = move |seen: &ReceivedRequest| answer(count.fetch_add(1, Ordering::Relaxed), seen);
    TestWeb::builder().page_with("http://127.0.0.1/hook", hook).start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_are_signed_and_acknowledged() {
    let world = world(|_, _| Page::text("").status(202)).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..2500);
    until("all are there", || delivering.audit.report().sinks[0].backlog == 0).await;
    assert_eq!(numbers(&world), Vec::from_iter(0..2500));
    let report = delivering.audit.report();
    assert_eq!((report.sinks[0].delivered, report.sinks[0].failures, report.recorded), (2500, 0, 2500));
    assert!(world.requests().len() < 500, "they come in batches");
    delivering.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_not_acknowledged_comes_again_under_the_same_id() {
    let world = world(|at, _| Page::text("").status(if at < 3 { 500 } else { 200 })).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..1);
    until("it was taken", || delivering.audit.report().sinks[0].backlog == 0).await;
    let requests = world.requests();
    assert_eq!(requests.iter().map(read).collect::<Vec<_>>(), vec![vec![0]; 4]);
    let ids: HashSet<&str> = requests.iter().map(|seen| seen.header("webhook-id").unwrap()).collect();
    assert_eq!(ids.len(), 1);
    record(&delivering.audit, 1..2);
    until("the next was taken", || delivering.audit.report().sinks[0].backlog == 0).await;
    assert!(!ids.contains(world.requests()[4].header("webhook-id").unwrap()), "other events have another id");
    assert_eq!(delivering.audit.report().sinks[0].failures, 3);
    delivering.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_is_too_large_is_made_smaller() {
    let world = world(|_, seen| Page::text("").status(if read(seen).len() > 3 { 413 } else { 200 })).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..40);
    until("all are there", || delivering.audit.report().sinks[0].backlog == 0).await;
    let taken = world.requests().iter().map(read).filter(|batch| batch.len() <= 3).flatten().collect();
    assert_eq!(distinct(taken), Vec::from_iter(0..40));
    assert_eq!(delivering.audit.report().sinks[0].failures, 0);
    delivering.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_no_acknowledgement_and_is_not_followed() {
    let world = world(|at, _| if at == 0 { Page::redirect(307, "/other") } else { Page::text("") }).await;
    let delivering = Delivering::start(vec![sink(&world)]);
    record(&delivering.audit, 0..1);
    until("it was taken", || delivering.audit.report().sinks[0].backlog == 0).await;
    assert_eq!(numbers(&world), [0, 0]);
    assert!(world.requests().iter().all(|seen| seen.url.ends_with("/hook")));
    delivering.end().await;
}

#[tokio::test]
async fn an_empty_batch_tells_whether_the_hook_is_there() {
    let taking = world(|_, _| Page::text("")).await;
    sink(&taking).check().await.unwrap();
    assert_eq!(taking.requests().iter().map(read).collect::<Vec<_>>(), [Vec::<u32>::new()]);
    let refusing = world(|_, _| Page::text("").status(401)).await;
    let refused = sink(&refusing).check().await.unwrap_err();
    assert_eq!(refused.to_string(), "responded with status 401");
}
