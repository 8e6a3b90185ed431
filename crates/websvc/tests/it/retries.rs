//! Tests of retries: their conditions, number and delays.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use websvc::types::action::Scrape;
use websvc::types::index::IndexUploadRequest;
use websvc::types::{Action, ScrapeOptions};
use websvc::{Client, ClientError, RetryPolicy};
use websvc_testkit::Page;

use crate::support::{
    EMPTY_RESPONSE, base, builder, client, empty_response, error_response, fast_retries, json, service,
};

/// Sends a search to a service with these responses, and checks the number of requests and the success of the call.
async fn check(responses: Vec<Page>, requests: usize, succeeds: bool) {
    let world = service(responses).await;
    let result = client(&world).search("q").send().await;
    assert_eq!(result.is_ok(), succeeds, "{result:?}");
    let seen = world.requests();
    assert_eq!(seen.len(), requests);
    assert!(seen.iter().all(|request| request.body == seen[0].body), "each attempt sends the whole request");
}

#[tokio::test]
async fn status_429_502_and_503_are_retried_until_success() {
    for status in [429, 502, 503] {
        check(vec![error_response(status), error_response(status), empty_response()], 3, true).await;
    }
}

#[tokio::test]
async fn attempts_are_limited() {
    for status in [429, 502, 503] {
        check(vec![error_response(status)], 4, false).await;
    }
}

#[tokio::test]
async fn other_statuses_are_not_retried() {
    for status in [201, 301, 302, 400, 401, 402, 403, 404, 405, 408, 413, 415, 500, 501, 504] {
        check(vec![error_response(status), empty_response()], 1, false).await;
    }
}

#[tokio::test]
async fn invalid_response_body_is_not_retried() {
    check(vec![json(200, "{}"), empty_response()], 1, false).await;
}

#[tokio::test]
async fn policy_with_one_attempt_does_not_retry() {
    let world = service(vec![error_response(503), empty_response()]).await;
    for retry in [RetryPolicy::none(), RetryPolicy { attempts: 0, ..fast_retries() }] {
        let client = builder(&base(&world)).retry(retry).build().unwrap();
        world.clear_requests();
        // The first client gets the 503, the second one the 200.
        let _ = client.search("q").send().await;
        assert_eq!(world.requests().len(), 1);
    }
}

#[tokio::test]
async fn upload_is_retried_after_a_502() {
    let world = service(vec![error_response(502), json(200, r#"{"success": true, "accepted": 0}"#)]).await;
    client(&world).add_documents(&IndexUploadRequest::default()).await.unwrap();
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn search_with_actions_is_retried_only_if_not_processed() {
    let actions = Some(vec![Action::Scrape(Scrape::default())]);
    let options = ScrapeOptions { actions, ..ScrapeOptions::default() };
    for (status, requests) in [(429, 2), (502, 1), (503, 1)] {
        let world = service(vec![error_response(status), empty_response()]).await;
        // The number of requests shows the success.
        let _ = client(&world).search("q").scrape_options(options.clone()).send().await;
        assert_eq!(world.requests().len(), requests, "{status}");
    }
    let broken = BrokenFirst::start(1).await;
    broken.client().search("q").scrape_options(options).send().await.unwrap_err();
    assert_eq!(broken.connections(), 1);
}

#[tokio::test]
async fn broken_connection_is_retried() {
    let broken = BrokenFirst::start(3).await;
    broken.client().search("q").send().await.unwrap();
    assert_eq!(broken.connections(), 4);
    let broken = BrokenFirst::start(4).await;
    let error = broken.client().search("q").send().await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    assert!(!error.is_connect(), "the service may have processed the request");
    assert_eq!(broken.connections(), 4);
}

#[tokio::test]
async fn truncated_response_is_retried() {
    check(vec![empty_response().truncated_at(20), empty_response()], 2, true).await;
    check(vec![empty_response().truncated_at(20)], 4, false).await;
}

#[tokio::test]
async fn retry_after_delays_the_next_attempt() {
    let world = service(vec![error_response(429).header("retry-after", "1"), empty_response()]).await;
    let started = Instant::now();
    client(&world).search("q").send().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn retry_after_date_is_relative_to_the_service_clock() {
    let busy = error_response(503)
        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
        .header("retry-after", "Sun, 06 Nov 1994 08:49:38 GMT");
    let world = service(vec![busy, empty_response()]).await;
    let started = Instant::now();
    client(&world).search("q").send().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn retry_after_above_the_maximum_is_returned() {
    let world = service(vec![error_response(429).header("retry-after", "3600"), empty_response()]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn retry_that_exceeds_the_timeout_is_not_made() {
    let world = service(vec![error_response(429).header("retry-after", "20"), empty_response()]).await;
    let started = Instant::now();
    let client = builder(&base(&world)).timeout(Duration::from_secs(10)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 429, "the last error, not a timeout");
    assert_eq!(world.requests().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(10), "the call fails at once");
}

#[tokio::test]
async fn timeout_limits_all_attempts_together() {
    // Each attempt takes two seconds: a second one fits into the timeout, a third one does not.
    let slow = error_response(503).delay(Duration::from_secs(2));
    let world = service(vec![slow]).await;
    let client = builder(&base(&world)).timeout(Duration::from_millis(5800)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn response_timeout_is_not_retried() {
    let world = service(vec![Page::unresponsive()]).await;
    let client = builder(&base(&world)).timeout(Duration::from_secs(1)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_timeout() && !error.is_connect(), "{error:?}");
    assert_eq!(world.requests().len(), 1);
}

/// A service that closes the first `broken` connections after the request, without a response.
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
                let index = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let mut request = Vec::new();
                while !request.ends_with(br#"}"#) {
                    assert!(stream.read_buf(&mut request).await.unwrap() > 0);
                }
                if index >= broken {
                    let response = format!(
                        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{EMPTY_RESPONSE}",
                        EMPTY_RESPONSE.len()
                    );
                    stream.write_all(response.as_bytes()).await.unwrap();
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
