//! Tests of the errors of a call.

use std::time::Duration;

use websvc::types::{ErrorCode, ViolationCode};
use websvc::{ApiError, Client, ClientError};
use websvc_testkit::{Page, TestWeb};

use crate::support::{client, json, service};

async fn refused(answer: Page) -> (ClientError, ApiError) {
    let world = service(vec![answer]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    let refusal = error.refusal().unwrap_or_else(|| panic!("{error:?}")).clone();
    (error, refusal)
}

#[tokio::test]
async fn every_code_of_the_service_is_known_and_keeps_its_status() {
    for &code in ErrorCode::ALL {
        let body = format!(r#"{{"success": false, "error": "why", "code": "{code}"}}"#);
        let world = service(vec![json(code.status(), &body)]).await;
        let error = client(&world).search("q").send().await.unwrap_err();
        assert_eq!(error.code(), Some(code));
        assert_eq!(error.status().map(|status| status.as_u16()), Some(code.status()));
        assert_eq!(error.refusal().unwrap().message, "why");
    }
}

#[tokio::test]
async fn violations_come_with_their_places_and_are_part_of_the_text() {
    let body = r#"{"success": false, "error": "Invalid request body: /limit: limit must be between 1 and 100, not 101 (and 1 more)", "code": "BAD_REQUEST", "details": [
        {"path": "/limit", "code": "too_big", "message": "limit must be between 1 and 100, not 101"},
        {"path": "/query", "code": "too_short", "message": "query must not be empty"}]}"#;
    let (error, refusal) = refused(json(400, body).header("x-request-id", "0197")).await;
    assert_eq!(error.code(), Some(ErrorCode::BadRequest));
    let codes: Vec<_> = error.details().iter().map(|violation| violation.code).collect();
    assert_eq!(codes, [ViolationCode::TooBig, ViolationCode::TooShort]);
    assert_eq!(refusal.request_id.as_deref(), Some("0197"));
    assert_eq!(
        error.to_string(),
        "the service answered 400 Bad Request: Invalid request body: /limit: limit must be between 1 and 100, not \
         101; /query: query must not be empty"
    );
}

#[tokio::test]
async fn the_text_of_an_error_ends_after_five_violations() {
    let violation = r#"{"path": "/a", "code": "missing", "message": "m"}"#;
    let body = format!(r#"{{"error": "e", "details": [{}]}}"#, [violation; 7].join(","));
    let (error, _) = refused(json(400, &body)).await;
    assert_eq!(error.details().len(), 7);
    assert!(error.to_string().ends_with("; /a: m; and 2 more"), "{error}");
}

#[tokio::test]
async fn codes_and_rules_of_a_newer_service_hide_nothing() {
    let body = r#"{"success": false, "error": "new", "code": "NEW", "details": [
        {"path": "/a", "code": "newer", "message": "m"}, {"path": "/b", "code": "missing", "message": "m"}]}"#;
    let (error, refusal) = refused(json(400, body)).await;
    assert_eq!((error.code(), refusal.code.as_deref()), (None, Some("NEW")));
    assert_eq!(refusal.message, "new");
    assert_eq!(error.details().iter().map(|violation| violation.path.as_str()).collect::<Vec<_>>(), ["/b"]);
}

#[tokio::test]
async fn an_error_page_of_something_else_keeps_its_status() {
    for body in ["<h1>Not here</h1>", "", "[]", "null", r#"{"error": {"code": 7}}"#] {
        let (error, refusal) = refused(Page::html(body).status(404)).await;
        assert_eq!((refusal.status.as_u16(), refusal.code, refusal.details.len()), (404, None, 0), "{body}");
        assert_eq!(error.to_string(), "the service answered 404 Not Found: no error body of websvc");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = TestWeb::builder().start().await;
    let target = format!("http://{}/v2/search", elsewhere.http_addr());
    let (error, refusal) = refused(Page::redirect(307, &target)).await;
    assert_eq!(refusal.status.as_u16(), 307, "{error}");
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn the_408_of_the_service_is_a_timeout() {
    let (error, refusal) = refused(json(408, r#"{"success": false, "error": "Request timed out"}"#)).await;
    assert!(error.is_timeout());
    assert_eq!((error.code(), refusal.code), (None, None));
}

#[tokio::test]
async fn a_refusal_says_how_long_to_wait() {
    let (error, refusal) = refused(json(429, "{}").header("retry-after", "86400")).await;
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(86_400)));
    assert_eq!(error.retry_after(), refusal.retry_after);
}

#[tokio::test]
async fn a_200_that_is_no_answer_of_websvc_is_unreadable() {
    let world = service(vec![Page::html("<h1>Welcome</h1>")]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    assert!(matches!(error, ClientError::Decode { .. }), "{error:?}");
    assert_eq!(error.status().unwrap(), 200);
}

#[tokio::test]
async fn readiness_is_an_answer_and_is_asked_for_once() {
    let world = TestWeb::builder()
        .page("http://127.0.0.1/health", json(200, r#"{"status": "ok", "version": "0.1.0"}"#))
        .page("http://127.0.0.1/ready", json(503, r#"{"status": "stopping", "checks": {"store": "ok"}}"#))
        .start()
        .await;
    let client = client(&world);
    assert_eq!(client.health().await.unwrap().version, "0.1.0");
    let readiness = client.readiness().await.unwrap();
    assert!(!readiness.is_ready());
    assert_eq!((readiness.status.as_str(), readiness.checks["store"].as_str()), ("stopping", "ok"));
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn health_of_a_gateway_without_a_service_is_a_refusal() {
    let world =
        TestWeb::builder().page("http://127.0.0.1/health", Page::html("busy").status(503)).start().await;
    let error = client(&world).health().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(world.requests().len(), 1);
}

#[test]
fn settings_that_cannot_be_used_are_refused_by_name() {
    let rule = |base: &str, key: &str| match Client::new(base.parse().unwrap(), Some(key.to_owned())) {
        Err(ClientError::Config { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(rule("ftp://a.test", "k"), "the base address");
    assert_eq!(rule("http://user:pass@a.test", "k"), "the base address");
    assert_eq!(rule("http://a.test/?q", "k"), "the base address");
    assert_eq!(rule("http://a.test/#f", "k"), "the base address");
    assert_eq!(rule("http://a.test", "a\nb"), "the key");
    let builder = || Client::builder("http://a.test".parse().unwrap());
    let error = builder().user_agent("a\nb").build().unwrap_err();
    assert!(matches!(error, ClientError::Config { what: "the user agent", .. }), "{error:?}");
    for error in [
        builder().proxy("ftp://p.test:1080".parse().unwrap()).build().unwrap_err(),
        builder().ca_file("missing.pem").build().unwrap_err(),
    ] {
        assert!(matches!(error, ClientError::Transport(_)), "{error:?}");
    }
}
