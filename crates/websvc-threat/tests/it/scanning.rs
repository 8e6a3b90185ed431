//! The scanner within its bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use http::Method;
use serde_json::json;
use websvc_testkit::{Page, TestWeb};
use websvc_threat::{Classifier, ClassifierConfig, ScanError, Scanner};
use websvc_validate::RetentionMode;

use crate::support::{SCANNER, asked, by_host, classifier, config, scanner, scored};

const URL: &str = "http://s80.test/";

#[tokio::test]
async fn a_question_is_posted_with_the_key_and_nothing_shows_it() {
    let world = scanner(by_host).await;
    let scanner = Scanner::http(world.client(), SCANNER.parse().unwrap(), Some("s3cret-key")).unwrap();
    let classifier = Classifier::new(scanner, config());
    assert_eq!(classifier.score(URL, RetentionMode::Normal).await, Some(Ok(80)));
    let [seen] = &world.requests()[..] else { panic!("one question") };
    assert_eq!((&seen.method, asked(seen).as_str()), (&Method::POST, URL));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("authorization"), Some("Bearer s3cret-key"));
    assert!(!format!("{classifier:?}").contains("s3cret"), "{classifier:?}");
}

#[tokio::test]
async fn web_risk_is_asked_as_google_documents_it() {
    let service = "http://risk.test/v1/uris:search";
    let answer = |seen: &websvc_testkit::ReceivedRequest| {
        let is_bad = seen.url.contains("uri=http%3A%2F%2Fbad.test%2F");
        let body = if is_bad { json!({"threat": {"threatTypes": ["UNWANTED_SOFTWARE"]}}) } else { json!({}) };
        Page::new("application/json; charset=UTF-8", body.to_string())
    };
    let asked_for = |uri: &str| {
        format!(
            "{service}?threatTypes=MALWARE&threatTypes=SOCIAL_ENGINEERING&threatTypes=UNWANTED_SOFTWARE\
             &threatTypes=SOCIAL_ENGINEERING_EXTENDED_COVERAGE&uri={uri}"
        )
    };
    let (bad, good) = (asked_for("http%3A%2F%2Fbad.test%2F"), asked_for("http%3A%2F%2Fgood.test%2F"));
    let world = TestWeb::builder().page_with(&bad, answer).page_with(&good, answer).start().await;
    let scanner = Scanner::web_risk(world.client(), service.parse().unwrap(), "AIza-key").unwrap();
    let classifier = Classifier::new(scanner, config());
    assert_eq!(classifier.score("http://bad.test/", RetentionMode::Normal).await, Some(Ok(80)));
    assert_eq!(classifier.score("http://good.test/", RetentionMode::Normal).await, Some(Ok(0)));
    let seen = &world.requests()[0];
    assert_eq!((&seen.method, seen.header("x-goog-api-key")), (&Method::GET, Some("AIza-key")));
    assert!(!seen.url.contains("AIza"), "a query ends in logs");
}

#[tokio::test]
async fn what_is_no_answer_is_told_apart() {
    let elsewhere = Page::redirect(302, "http://elsewhere.test/");
    let impatient = ClassifierConfig { timeout: Duration::from_millis(300), ..config() };
    for (page, expected) in [
        (Page::text("no").status(500), ScanError::Status { status: 500, retry_after: None }),
        (elsewhere, ScanError::Status { status: 302, retry_after: None }),
        (Page::text("not json"), ScanError::Unreadable { what: "not valid JSON" }),
        (scored(101), ScanError::Unreadable { what: "`score` is not between 0 and 100" }),
        (Page::text("x".repeat(70_000)), ScanError::Unreadable { what: "too large or damaged" }),
        (Page::unresponsive(), ScanError::Timeout { after: Duration::from_millis(300) }),
    ] {
        let world = TestWeb::builder().page(SCANNER, page).start().await;
        let classifier = classifier(&world, impatient);
        let found = classifier.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
        match (&found, &expected) {
            (ScanError::Timeout { .. }, ScanError::Timeout { .. }) => {}
            _ => assert_eq!(found, expected),
        }
        let figures = classifier.figures();
        assert_eq!(figures.failed.iter().map(|(_, count)| count).sum::<u64>(), 1, "{figures:?}");
        assert_eq!((figures.scanned, figures.took.last()), (0, Some(&1)));
    }
}

#[tokio::test]
async fn a_scanner_that_fails_again_and_again_is_left_alone() {
    let world = scanner(|_| Page::text("down").status(500)).await;
    let pause = Duration::from_secs(3600);
    let classifier = classifier(&world, ClassifierConfig { failures: 3, pause, ..config() });
    for at in 0..5 {
        let error = classifier
            .score(&format!("http://{at}.test/"), RetentionMode::Normal)
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(matches!(error, ScanError::Paused { .. }), at >= 3, "{error:?}");
    }
    assert_eq!(world.requests().len(), 3);
}

#[tokio::test]
async fn one_bad_url_says_nothing_about_the_scanner_and_a_limit_pauses_at_once() {
    let world = scanner(|_| Page::text("bad url").status(400)).await;
    let breaking = ClassifierConfig { failures: 1, ..config() };
    let refusing = classifier(&world, breaking);
    for _ in 0..3 {
        let error = refusing.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
        assert_eq!(error, ScanError::Status { status: 400, retry_after: None });
    }
    let world = scanner(|_| Page::text("slow down").status(429).header("retry-after", "60")).await;
    let limited = classifier(&world, ClassifierConfig { failures: 1000, ..config() });
    limited.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
    let error = limited.score(URL, RetentionMode::Normal).await.unwrap().unwrap_err();
    assert!(matches!(error, ScanError::Paused { .. }), "{error:?}");
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn verdicts_are_remembered_except_for_requests_of_zero_retention() {
    let world = scanner(by_host).await;
    let day = Duration::from_secs(86_400);
    let remembering = ClassifierConfig { remember_risky: day, remember_clean: day, ..config() };
    let classifier = classifier(&world, remembering);
    let (risky, clean) = (URL, "http://s0.test/");
    for url in [risky, clean] {
        // Nothing is left behind by zero retention, for itself or for others.
        for retention in [RetentionMode::Zero, RetentionMode::Zero, RetentionMode::Normal] {
            classifier.score(url, retention).await.unwrap().unwrap();
        }
        assert_eq!(world.requests().len(), 3, "{url}");
        classifier.score(url, RetentionMode::Normal).await.unwrap().unwrap();
        assert_eq!(world.requests().len(), 3, "{url} is remembered");
        for retention in [RetentionMode::Anonymous, RetentionMode::Zero] {
            classifier.score(url, retention).await.unwrap().unwrap();
        }
        assert_eq!(world.requests().len(), 5, "{url}: who leaves nothing behind does not even look");
        world.clear_requests();
    }
    let figures = classifier.figures();
    assert_eq!((figures.scanned, figures.remembered), (10, 2));
}

#[tokio::test]
async fn no_failure_is_remembered() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let world = scanner(move |seen| match counted.fetch_add(1, SeqCst) {
        0 => Page::text("down").status(500),
        _ => by_host(seen),
    });
    let world = world.await;
    let day = Duration::from_secs(86_400);
    let classifier =
        classifier(&world, ClassifierConfig { remember_risky: day, remember_clean: day, ..config() });
    assert!(classifier.score(URL, RetentionMode::Normal).await.unwrap().is_err());
    assert_eq!(classifier.score(URL, RetentionMode::Normal).await, Some(Ok(80)));
}

#[tokio::test]
async fn so_many_questions_are_asked_at_a_time() {
    let delay = Duration::from_millis(20);
    let world = TestWeb::builder().page(SCANNER, scored(1).delay(delay)).start().await;
    let classifier = classifier(&world, ClassifierConfig { concurrency: 1, ..config() });
    let mut asking = tokio::task::JoinSet::new();
    let started = std::time::Instant::now();
    for at in 0..4 {
        let classifier = classifier.clone();
        asking.spawn(async move {
            classifier.score(&format!("http://{at}.test/"), RetentionMode::Normal).await.unwrap().unwrap()
        });
    }
    assert_eq!(asking.join_all().await, [1, 1, 1, 1]);
    assert!(started.elapsed() >= 4 * delay, "one after the other");
    assert_eq!(classifier.figures().scanned, 4);
}
