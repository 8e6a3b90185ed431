//! Tests of the errors of calls.

use std::time::Duration;

use websvc::types::{ErrorCode, ViolationCode};
use websvc::{ApiError, Client, ClientError};
use websvc_testkit::{Page, TestWeb};

use crate::support::{client, json, service};

/// Returns the error of a search with this response, and its `ApiError`.
async fn failed_search(response: Page) -> (ClientError, ApiError) {
    let world = service(vec![response]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    let api_error = error.api_error().unwrap_or_else(|| panic!("{error:?}")).clone();
    (error, api_error)
}

#[tokio::test]
async fn error_codes_of_the_service_are_known_with_their_status() {
    for &code in ErrorCode::ALL {
        let body = format!(r#"{{"success": false, "error": "why", "code": "{code}"}}"#);
        let world = service(vec![json(code.status(), &body)]).await;
        let error = client(&world).search("q").send().await.unwrap_err();
        assert_eq!(error.code(), Some(code));
        assert_eq!(error.status().map(|status| status.as_u16()), Some(code.status()));
        assert_eq!(error.api_error().unwrap().message, "why");
    }
}

#[tokio::test]
async fn violations_are_in_details_and_in_the_text() {
    let body = r#"{"success": false, "error": "Invalid request body: /limit: limit must be between 1 and 100, not 101 (and 1 more)", "code": "BAD_REQUEST", "details": [
        {"path": "/limit", "code": "too_big", "message": "limit must be between 1 and 100, not 101"},
        {"path": "/query", "code": "too_short", "message": "query must not be empty"}]}"#;
    let (error, api_error) = failed_search(json(400, body).header("x-request-id", "0197")).await;
    assert_eq!(error.code(), Some(ErrorCode::BadRequest));
    let codes: Vec<_> = error.details().iter().map(|violation| violation.code).collect();
    assert_eq!(codes, [ViolationCode::TooBig, ViolationCode::TooShort]);
    assert_eq!(api_error.request_id.as_deref(), Some("0197"));
    assert_eq!(
        error.to_string(),
        "the service responded with 400 Bad Request: Invalid request body: /limit: limit must be between 1 and 100, not \
         101; /query: query must not be empty"
    );
}

#[tokio::test]
async fn error_text_has_at_most_five_violations() {
    let violation = r#"{"path": "/a", "code": "missing", "message": "m"}"#;
    let body = format!(r#"{{"error": "e", "details": [{}]}}"#, [violation; 7].join(","));
    let (error, _) = failed_search(json(400, &body)).await;
    assert_eq!(error.details().len(), 7);
    assert!(error.to_string().ends_with("; /a: m; and 2 more"), "{error}");
}

#[tokio::test]
async fn unknown_codes_of_a_newer_service_hide_nothing() {
    let body = r#"{"success": false, "error": "new", "code": "NEW", "details": [
        {"path": "/a", "code": "newer", "message": "m"}, {"path": "/b", "code": "missing", "message": "m"}]}"#;
    let (error, api_error) = failed_search(json(400, body)).await;
    assert_eq!((error.code(), api_error.code.as_deref()), (None, Some("NEW")));
    assert_eq!(api_error.message, "new");
    assert_eq!(error.details().iter().map(|violation| violation.path.as_str()).collect::<Vec<_>>(), ["/b"]);
}

#[tokio::test]
async fn error_page_of_another_server_keeps_its_status() {
    for body in ["<h1>Not here</h1>", "", "[]", "null", r#"{"error": {"code": 7}}"#] {
        let (error, api_error) = failed_search(Page::html(body).status(404)).await;
        assert_eq!(
            (api_error.status.as_u16(), api_error.code, api_error.details.len()),
            (404, None, 0),
            "{body}"
        );
        assert_eq!(
            error.to_string(),
            "the service responded with 404 Not Found: the body is not a websvc error"
        );
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let other_host = TestWeb::builder().start().await;
    let target = format!("http://{}/v2/search", other_host.http_addr());
    let (error, api_error) = failed_search(Page::redirect(307, &target)).await;
    assert_eq!(api_error.status.as_u16(), 307, "{error}");
    assert!(other_host.requests().is_empty());
}

#[tokio::test]
async fn status_408_is_a_timeout() {
    let (error, api_error) =
        failed_search(json(408, r#"{"success": false, "error": "Request timed out"}"#)).await;
    assert!(error.is_timeout());
    assert_eq!((error.code(), api_error.code), (None, None));
}

#[tokio::test]
async fn retry_after_of_a_429_is_returned() {
    let (error, api_error) = failed_search(json(429, "{}").header("retry-after", "86400")).await;
    assert_eq!(api_error.retry_after, Some(Duration::from_secs(86_400)));
    assert_eq!(error.retry_after(), api_error.retry_after);
}

#[tokio::test]
async fn status_200_with_another_body_is_a_decode_error() {
    let world = service(vec![Page::html("<h1>Welcome</h1>")]).await;
    let error = client(&world).search("q").send().await.unwrap_err();
    assert!(matches!(error, ClientError::Decode { .. }), "{error:?}");
    assert_eq!(error.status().unwrap(), 200);
}

#[tokio::test]
async fn readiness_503_is_a_result_and_is_requested_once() {
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
async fn health_503_of_a_gateway_is_an_api_error() {
    let world =
        TestWeb::builder().page("http://127.0.0.1/health", Page::html("busy").status(503)).start().await;
    let error = client(&world).health().await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(world.requests().len(), 1);
}

#[test]
fn invalid_settings_are_rejected_by_name() {
    let invalid = |base: &str, key: &str| match Client::new(base.parse().unwrap(), key) {
        Err(ClientError::Config { setting, .. }) => setting,
        other => panic!("{other:?}"),
    };
    assert_eq!(invalid("ftp://a.test", "k"), "base URL");
    assert_eq!(invalid("http://user:pass@a.test", "k"), "base URL");
    assert_eq!(invalid("http://a.test/?q", "k"), "base URL");
    assert_eq!(invalid("http://a.test/#f", "k"), "base URL");
    assert_eq!(invalid("http://a.test", "a\nb"), "API key");
    let builder = || Client::builder("http://a.test".parse().unwrap());
    let error = builder().user_agent("a\nb").build().unwrap_err();
    assert!(matches!(error, ClientError::Config { setting: "user agent", .. }), "{error:?}");
    for error in [
        builder().proxy("ftp://p.test:1080".parse().unwrap()).build().unwrap_err(),
        builder().ca_file("missing.pem").build().unwrap_err(),
    ] {
        assert!(matches!(error, ClientError::Transport(_)), "{error:?}");
    }
}
