//! When requests are sent again, how often, and when not.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use websvc::types::action::Scrape;
use websvc::types::index::IndexUploadRequest;
use websvc::types::{Action, ScrapeOptions};
use websvc::{Client, ClientError, RetryPolicy};
use websvc_testkit::Page;

use crate::support::{FOUND, base, builder, client, found, impatient, json, refusal, service};

/// Asks a service with these answers, and compares how many requests it got and whether the last answer was good.
async fn check(answers: Vec<Page>, requests: usize, succeeds: bool) {
    let world = service(answers).await;
    let result = client(&world).search("q").send().await;
    assert_eq!(result.is_ok(), succeeds, "{result:?}");
    let seen = world.requests();
    assert_eq!(seen.len(), requests);
    assert!(seen.iter().all(|one| one.body == seen[0].body), "each attempt sends the whole request");
}

#[tokio::test]
async fn a_busy_or_broken_service_is_asked_again_until_it_answers() {
    for status in [429, 502, 503] {
        check(vec![refusal(status), refusal(status), found()], 3, true).await;
    }
}

#[tokio::test]
async fn attempts_come_to_an_end() {
    for status in [429, 502, 503] {
        check(vec![refusal(status)], 4, false).await;
    }
}

#[tokio::test]
async fn other_statuses_are_final() {
    for status in [201, 301, 302, 400, 401, 402, 403, 404, 405, 408, 413, 415, 500, 501, 504] {
        check(vec![refusal(status), found()], 1, false).await;
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_final() {
    check(vec![json(200, "{}"), found()], 1, false).await;
}

#[tokio::test]
async fn a_policy_of_one_attempt_repeats_nothing() {
    let world = service(vec![refusal(503), found()]).await;
    for retry in [RetryPolicy::none(), RetryPolicy { attempts: 0, ..impatient() }] {
        let client = builder(&base(&world)).retry(retry).build().unwrap();
        world.clear_requests();
        // The first client gets the 503, the second one the 200.
        let _ = client.search("q").send().await;
        assert_eq!(world.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_upload_is_repeated_because_it_replaces() {
    let world = service(vec![refusal(502), json(200, r#"{"success": true, "accepted": 0}"#)]).await;
    client(&world).add_documents(&IndexUploadRequest::default()).await.unwrap();
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn a_search_with_actions_is_repeated_only_when_nothing_was_done() {
    let actions = Some(vec![Action::Scrape(Scrape::default())]);
    let options = ScrapeOptions { actions, ..ScrapeOptions::default() };
    for (status, requests) in [(429, 2), (502, 1), (503, 1)] {
        let world = service(vec![refusal(status), found()]).await;
        // Whether it succeeds follows from the count.
        let _ = client(&world).search("q").scrape_options(options.clone()).send().await;
        assert_eq!(world.requests().len(), requests, "{status}");
    }
    let broken = BrokenFirst::start(1).await;
    broken.client().search("q").scrape_options(options).send().await.unwrap_err();
    assert_eq!(broken.connections(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_is_made_again() {
    let broken = BrokenFirst::start(3).await;
    broken.client().search("q").send().await.unwrap();
    assert_eq!(broken.connections(), 4);
    let broken = BrokenFirst::start(4).await;
    let error = broken.client().search("q").send().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    assert!(!error.is_connect(), "the service may have seen it");
    assert_eq!(broken.connections(), 4);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    check(vec![found().truncated_at(20), found()], 2, true).await;
    check(vec![found().truncated_at(20)], 4, false).await;
}

#[tokio::test]
async fn a_retry_after_is_waited_for() {
    let world = service(vec![refusal(429).header("retry-after", "1"), found()]).await;
    let started = Instant::now();
    client(&world).search("q").send().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn a_retry_after_may_be_a_date_by_the_clock_of_the_service() {
    let busy = refusal(503)
        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .header("retry-after", "Sun, 06 Nov 1994 08:49:38 GMT");
    let world = service(vec![busy, found()]).await;
    let started = Instant::now();
    client(&world).search("q").send().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_retry_after_beyond_the_policy_is_left_to_the_caller() {
    let world = service(vec![refusal(429).header("retry-after", "3600"), found()]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn a_repetition_that_cannot_be_done_in_time_is_not_begun() {
    let world = service(vec![refusal(429).header("retry-after", "20"), found()]).await;
    let started = Instant::now();
    let client = builder(&base(&world)).timeout(Duration::from_secs(10)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 429, "what happened last, not a timeout");
    assert_eq!(world.requests().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(10), "it does not wait for the end");
}

#[tokio::test]
async fn the_time_bounds_all_attempts_together() {
    // Each attempt takes a second: there is room for a second one, and not for a third.
    let slow = refusal(503).delay(Duration::from_secs(1));
    let world = service(vec![slow]).await;
    let client = builder(&base(&world)).timeout(Duration::from_millis(2900)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn a_service_that_is_silent_is_asked_once() {
    let world = service(vec![Page::unresponsive()]).await;
    let client = builder(&base(&world)).timeout(Duration::from_millis(300)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_timeout() && !error.is_connect(), "{error:?}");
    assert_eq!(world.requests().len(), 1);
}

/// A service that takes the first requests and closes without an answer.
struct BrokenFirst {
    base: String,
    connections: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl BrokenFirst {
    async fn start(broken: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let connections = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&connections);
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let place = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let mut request = Vec::new();
                while !request.ends_with(br#"}"#) {
                    assert!(stream.read_buf(&mut request).await.unwrap() > 0);
                }
                if place >= broken {
                    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{FOUND}", FOUND.len());
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        });
        Self { base, connections, task }
    }

    fn client(&self) -> Client {
        builder(&self.base).build().unwrap()
    }

    fn connections(&self) -> usize {
        self.connections.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl Drop for BrokenFirst {
    fn drop(&mut self) {
        self.task.abort();
    }
}
