//! Scans: requests, errors, circuit breaker, cache and concurrency limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use http::Method;
use serde_json::json;
use websvc_scrape::threat::{Classifier, ClassifierConfig, ScanError, Scanner};
use websvc_testkit::{Page, TestWeb};
use websvc_validate::RetentionMode;

use crate::threat::support::{SCANNER, classifier, config, scanned_url, scanner, score_by_host, scored};

const URL: &str = "http://s80.test/";

#[tokio::test]
async fn scan_is_posted_with_the_key_which_debug_omits() {
    let web = scanner(score_by_host).await;
    let scanner = Scanner::http(web.client(), SCANNER.parse().unwrap(), Some("s3cret-key")).unwrap();
    let classifier = Classifier::new(scanner, config());
    assert_eq!(classifier.score(URL, RetentionMode::Normal).await, Some(Ok(80)));
    let [request] = &web.requests()[..] else { panic!("one request") };
    assert_eq!((&request.method, scanned_url(request).as_str()), (&Method::POST, URL));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("authorization"), Some("Bearer s3cret-key"));
    assert!(!format!("{classifier:?}").contains("s3cret"), "{classifier:?}");
}

#[tokio::test]
async fn web_risk_request_follows_the_documentation_of_google() {
    let service = "http://risk.test/v1/uris:search";
    let respond = |request: &websvc_testkit::ReceivedRequest| {
        let is_bad = request.url.contains("uri=http%3A%2F%2Fbad.test%2F");
        let body = if is_bad { json!({"threat": {"threatTypes": ["UNWANTED_SOFTWARE"]}}) } else { json!({}) };
        Page::new("application/json; charset=UTF-8", body.to_string())
    };
    let search_url = |uri: &str| {
        format!(
            "{service}?threatTypes=MALWARE&threatTypes=SOCIAL_ENGINEERING&threatTypes=UNWANTED_SOFTWARE\
             &threatTypes=SOCIAL_ENGINEERING_EXTENDED_COVERAGE&uri={uri}"
        )
    };
    let (bad, good) = (search_url("http%3A%2F%2Fbad.test%2F"), search_url("http%3A%2F%2Fgood.test%2F"));
    let web = TestWeb::builder().page_with(&bad, respond).page_with(&good, respond).start().await;
    let scanner = Scanner::web_risk(web.client(), service.parse().unwrap(), "AIza-key").unwrap();
    let classifier = Classifier::new(scanner, config());
    assert_eq!(classifier.score("http://bad.test/", RetentionMode::Normal).await, Some(Ok(80)));
    assert_eq!(classifier.score("http://good.test/", RetentionMode::Normal).await, Some(Ok(0)));
    let request = &web.requests()[0];
    assert_eq!((&request.method, request.header("x-goog-api-key")), (&Method::GET, Some("AIza-key")));
    assert!(!request.url.contains("AIza"), "a query appears in logs");
}

#[tokio::test]
async fn invalid_responses_are_distinguished() {
    let redirect = Page::redirect(302, "http://other.test/");
    let short_timeout = ClassifierConfig { timeout: Duration::from_millis(300), ..config() };
    for (page, expected) in [
        (Page::text("no").status(500), ScanError::Status { status: 500, retry_after: None }),
        (redirect, ScanError::Status { status: 302, retry_after: None }),
        (Page::text("not json"), ScanError::Unreadable { what: "not valid JSON" }),
        (scored(101), ScanError::Unreadable { what: "`score` is not between 0 and 100" }),
        (Page::text("x".repeat(70_000)), ScanError::Unreadable { what: "too large or damaged" }),
        (Page::unresponsive(), ScanError::Timeout { after: Duration::from_millis(300) }),
    ] {
        let web = TestWeb::builder().page(SCANNER, page).start().await;
        let classifier = classifier(&web, short_timeout);
        let error = classifier.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
        match (&error, &expected) {
            (ScanError::Timeout { .. }, ScanError::Timeout { .. }) => {}
            _ => assert_eq!(error, expected),
        }
        let metrics = classifier.metrics();
        assert_eq!(metrics.failed.total(), 1, "{metrics:?}");
        assert_eq!((metrics.scanned.get(), metrics.scans.distribution().counts.last()), (0, Some(&1)));
    }
}

#[tokio::test]
async fn repeated_failures_open_the_circuit_breaker() {
    let web = scanner(|_| Page::text("down").status(500)).await;
    let pause = Duration::from_secs(3600);
    let classifier = classifier(&web, ClassifierConfig { failures: 3, pause, ..config() });
    for index in 0..5 {
        let error = classifier
            .score(&format!("http://{index}.test/"), RetentionMode::Normal)
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(matches!(error, ScanError::Paused { .. }), index >= 3, "{error:?}");
    }
    assert_eq!(web.requests().len(), 3);
}

#[tokio::test]
async fn status_400_does_not_open_the_breaker_but_retry_after_does() {
    let web = scanner(|_| Page::text("bad url").status(400)).await;
    let sensitive = ClassifierConfig { failures: 1, ..config() };
    let rejecting = classifier(&web, sensitive);
    for _ in 0..3 {
        let error = rejecting.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
        assert_eq!(error, ScanError::Status { status: 400, retry_after: None });
    }
    let web = scanner(|_| Page::text("slow down").status(429).header("retry-after", "60")).await;
    let limited = classifier(&web, ClassifierConfig { failures: 1000, ..config() });
    limited.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
    let error = limited.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
    assert!(matches!(error, ScanError::Paused { .. }), "{error:?}");
    assert_eq!(web.requests().len(), 1);
}

#[tokio::test]
async fn verdicts_are_cached_except_for_requests_with_zero_retention() {
    let web = scanner(score_by_host).await;
    let day = Duration::from_secs(86_400);
    let caching = ClassifierConfig { risky_ttl: day, clean_ttl: day, ..config() };
    let classifier = classifier(&web, caching);
    let (risky, clean) = (URL, "http://s0.test/");
    for url in [risky, clean] {
        // Requests with zero retention store no verdicts.
        for retention in [RetentionMode::Zero, RetentionMode::Zero, RetentionMode::Normal] {
            classifier.score(url, retention).await.unwrap().unwrap();
        }
        assert_eq!(web.requests().len(), 3, "{url}");
        classifier.score(url, RetentionMode::Normal).await.unwrap().unwrap();
        assert_eq!(web.requests().len(), 3, "{url} is cached");
        for retention in [RetentionMode::Anonymous, RetentionMode::Zero] {
            classifier.score(url, retention).await.unwrap().unwrap();
        }
        assert_eq!(web.requests().len(), 5, "{url}: requests without retention do not read the cache");
        web.clear_requests();
    }
    let metrics = classifier.metrics();
    assert_eq!((metrics.scanned.get(), metrics.cached.get()), (10, 2));
}

#[tokio::test]
async fn failures_are_not_cached() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let web = scanner(move |request| match counted.fetch_add(1, SeqCst) {
        0 => Page::text("down").status(500),
        _ => score_by_host(request),
    });
    let web = web.await;
    let day = Duration::from_secs(86_400);
    let classifier = classifier(&web, ClassifierConfig { risky_ttl: day, clean_ttl: day, ..config() });
    assert!(classifier.score(URL, RetentionMode::Normal).await.unwrap().is_err());
    assert_eq!(classifier.score(URL, RetentionMode::Normal).await, Some(Ok(80)));
}

#[tokio::test]
async fn concurrent_scans_are_limited() {
    let delay = Duration::from_millis(20);
    let web = TestWeb::builder().page(SCANNER, scored(1).delay(delay)).start().await;
    let classifier = classifier(&web, ClassifierConfig { concurrency: 1, ..config() });
    let mut scans = tokio::task::JoinSet::new();
    let started = std::time::Instant::now();
    for index in 0..4 {
        let classifier = classifier.clone();
        scans.spawn(async move {
            classifier.score(&format!("http://{index}.test/"), RetentionMode::Normal).await.unwrap().unwrap()
        });
    }
    assert_eq!(scans.join_all().await, [1, 1, 1, 1]);
    assert!(started.elapsed() >= 4 * delay, "the scans are sequential");
    assert_eq!(classifier.metrics().scanned.get(), 4);
}
