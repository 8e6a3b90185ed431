//! Tests of path patterns of crawls: equal patterns are shared, limits apply, and the memory is freed after the crawls.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{delete, start_at};
use crate::harness::Service;

const CRAWL: &str = "/v2/crawl";

/// Returns a pattern that compiles to a large program.
fn heavy(number: usize) -> String {
    format!("(x{{200}}){{100}}y{number}")
}

fn crawl(patterns: &[String]) -> Value {
    json!({ "url": "http://site.test/", "excludePaths": patterns, "limit": 10 })
}

/// Starts a service, and a site that stops when it is dropped.
async fn service() -> (TestWeb, Service) {
    // The crawl waits for robots.txt, which responds later than the end of the test.
    let slow = Page::text("User-agent: *\nAllow: /\n").delay(Duration::from_secs(20));
    let world = TestWeb::builder().page("http://site.test/robots.txt", slow).start().await;
    let service = Service::for_world(&world);
    (world, service)
}

async fn metric(service: &Service, name: &str) -> u64 {
    let text = service.text("/metrics").await;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.expect("the metric").parse().expect("a number")
}

/// Waits until `patterns` patterns are in use, and returns their bytes.
async fn wait_for_patterns(service: &Service, patterns: u64) -> u64 {
    let polling = async {
        while metric(service, "websvc_path_patterns").await != patterns {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), polling).await.expect("the number of patterns is reached");
    metric(service, "websvc_path_pattern_bytes").await
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_patterns_are_shared_and_freed_after_cancel() {
    let (_world, service) = service().await;
    let patterns: Vec<String> = (0..100).map(|number| heavy(number % 8)).collect();
    let mut crawls = vec![start_at(&service, CRAWL, crawl(&patterns)).await];
    let bytes = wait_for_patterns(&service, 8).await;
    assert!((1 << 20..16 << 20).contains(&bytes), "{bytes} bytes");
    for _ in 1..20 {
        crawls.push(start_at(&service, CRAWL, crawl(&patterns)).await);
    }
    assert_eq!(wait_for_patterns(&service, 8).await, bytes);
    for path in &crawls {
        assert_eq!(delete(&service, path).await.status, 200);
    }
    assert_eq!(wait_for_patterns(&service, 0).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_over_the_limit_of_a_request_or_team_are_rejected() {
    let (_world, service) = service().await;
    let different = |from: usize, count: usize| (from..from + count).map(heavy).collect::<Vec<_>>();
    for (path, body) in [
        (CRAWL, crawl(&different(0, 100))),
        ("/v2/map", json!({ "url": "http://site.test/", "includePaths": different(0, 100) })),
    ] {
        let response = service.post(path, body.to_string()).await;
        assert_eq!(response.status, 400, "{}", response.body);
        let message = response.body["details"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("exceeds the memory limit") && message.contains("16777216 bytes"),
            "{message}"
        );
    }
    let mut crawls = Vec::new();
    for number in 0..3 {
        crawls.push(start_at(&service, CRAWL, crawl(&different(number * 15, 15))).await);
        wait_for_patterns(&service, (number as u64 + 1) * 15).await;
    }
    let rejected = service.post(CRAWL, crawl(&different(100, 15)).to_string()).await;
    assert_eq!(
        (rejected.status, &rejected.body["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("RATE_LIMITED")),
        "{}",
        rejected.body
    );
    let text = rejected.body["error"].as_str().unwrap();
    assert!(text.contains("50331648 bytes"), "{text}");
    // Patterns in use cost nothing more, and a crawl without patterns is accepted.
    crawls.push(start_at(&service, CRAWL, crawl(&different(0, 15))).await);
    crawls.push(start_at(&service, CRAWL, crawl(&[])).await);
    for path in &crawls {
        assert_eq!(delete(&service, path).await.status, 200);
    }
    wait_for_patterns(&service, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_with_a_hundred_patterns_completes() {
    let links: String = (0..120).map(|number| format!("<a href=/s{number}/page-1.html>x</a> ")).collect();
    let start = format!("<title>Start</title><main><h1>Start</h1><p>About it.</p>{links}</main>");
    let mut world = TestWeb::builder().page("http://site.test/", Page::html(start));
    for number in 0..120 {
        let page = format!("<title>{number}</title><main><h1>{number}</h1><p>About {number}.</p></main>");
        world = world.page(&format!("http://site.test/s{number}/page-1.html"), Page::html(page));
    }
    let world = world.start().await;
    let service = Service::for_world(&world);
    let patterns: Vec<String> = (0..100).map(|number| format!(r"^/s{number}/\w+-\d+\.html$")).collect();
    let body = json!({ "url": "http://site.test/", "includePaths": patterns, "limit": 200 });
    let path = start_at(&service, CRAWL, body).await;
    let status = crate::batch::wait_for_end(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(100)), "{status}");
    wait_for_patterns(&service, 0).await;
}
