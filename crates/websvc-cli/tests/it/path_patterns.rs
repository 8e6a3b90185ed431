//! Path patterns of crawls over HTTP: equal ones are shared, others bounded, and all are free when the crawls end.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::batch::{delete, start_at};
use crate::harness::Service;

const CRAWL: &str = "/v2/crawl";

fn heavy(number: usize) -> String {
    format!("(x{{200}}){{100}}y{number}")
}

fn crawl(patterns: &[String]) -> Value {
    json!({ "url": "http://site.test/", "excludePaths": patterns, "limit": 10 })
}

/// Starts a service and a site, which ends when it is dropped.
async fn service() -> (TestWeb, Service) {
    // Robots.txt is asked for first, and its answer takes longer than the test.
    let slow = Page::text("User-agent: *\nAllow: /\n").delay(Duration::from_secs(20));
    let world = TestWeb::builder().page("http://site.test/robots.txt", slow).start().await;
    let service = Service::of(&world);
    (world, service)
}

async fn figure(service: &Service, name: &str) -> u64 {
    let text = service.text("/metrics").await;
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.expect("the metric").parse().expect("a number")
}

/// Waits until so many patterns are in use, and returns their bytes.
async fn until(service: &Service, patterns: u64) -> u64 {
    let asked = async {
        while figure(service, "websvc_path_patterns").await != patterns {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asked).await.expect("it comes that far");
    figure(service, "websvc_path_pattern_bytes").await
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_patterns_of_many_crawls_count_once_and_are_free_after_cancel() {
    let (_world, service) = service().await;
    let patterns: Vec<String> = (0..100).map(|number| heavy(number % 8)).collect();
    let mut crawls = vec![start_at(&service, CRAWL, crawl(&patterns)).await];
    let alone = until(&service, 8).await;
    assert!((1 << 20..16 << 20).contains(&alone), "{alone} bytes");
    for _ in 1..20 {
        crawls.push(start_at(&service, CRAWL, crawl(&patterns)).await);
    }
    assert_eq!(until(&service, 8).await, alone);
    for path in &crawls {
        assert_eq!(delete(&service, path).await.status, 200);
    }
    assert_eq!(until(&service, 0).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_over_the_bound_of_a_request_or_team_are_refused() {
    let (_world, service) = service().await;
    let different = |from: usize, count: usize| (from..from + count).map(heavy).collect::<Vec<_>>();
    for (path, body) in [
        (CRAWL, crawl(&different(0, 100))),
        ("/v2/map", json!({ "url": "http://site.test/", "includePaths": different(0, 100) })),
    ] {
        let answer = service.post(path, body.to_string()).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        let message = answer.body["details"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("exceeds the memory limit") && message.contains("16777216 bytes"),
            "{message}"
        );
    }
    let mut crawls = Vec::new();
    for number in 0..3 {
        crawls.push(start_at(&service, CRAWL, crawl(&different(number * 15, 15))).await);
        until(&service, (number as u64 + 1) * 15).await;
    }
    let refused = service.post(CRAWL, crawl(&different(100, 15)).to_string()).await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("RATE_LIMITED")),
        "{}",
        refused.body
    );
    let text = refused.body["error"].as_str().unwrap();
    assert!(text.contains("50331648 bytes"), "{text}");
    // Those that are there cost nothing more, and one that needs none goes on.
    crawls.push(start_at(&service, CRAWL, crawl(&different(0, 15))).await);
    crawls.push(start_at(&service, CRAWL, crawl(&[])).await);
    for path in &crawls {
        assert_eq!(delete(&service, path).await.status, 200);
    }
    until(&service, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_with_a_hundred_ordinary_patterns_keeps_to_them() {
    let links: String = (0..120).map(|number| format!("<a href=/s{number}/page-1.html>x</a> ")).collect();
    let start = format!("<title>Start</title><main><h1>Start</h1><p>About it.</p>{links}</main>");
    let mut world = TestWeb::builder().page("http://site.test/", Page::html(start));
    for number in 0..120 {
        let page = format!("<title>{number}</title><main><h1>{number}</h1><p>About {number}.</p></main>");
        world = world.page(&format!("http://site.test/s{number}/page-1.html"), Page::html(page));
    }
    let world = world.start().await;
    let service = Service::of(&world);
    let patterns: Vec<String> = (0..100).map(|number| format!(r"^/s{number}/\w+-\d+\.html$")).collect();
    let body = json!({ "url": "http://site.test/", "includePaths": patterns, "limit": 200 });
    let path = start_at(&service, CRAWL, body).await;
    let status = crate::batch::ended(&service, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(101)), "{status}");
    until(&service, 0).await;
}
