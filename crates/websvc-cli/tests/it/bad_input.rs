//! Tests of invalid requests: each has the status and the body of the contract.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Response, Service, tea_world};

/// A name, a body, and the path and code of each of its violations.
type Case<'a> = (&'a str, Value, &'a [(&'a str, &'a str)]);

fn codes(response: &Response) -> Vec<(String, String)> {
    let details = response.body["details"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    details.iter().map(|detail| (text(&detail["path"]), text(&detail["code"]))).collect()
}

#[tokio::test]
async fn every_rule_violation_is_reported() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let table: &[Case<'_>] = &[
        ("no query", json!({}), &[("/query", "missing")]),
        (
            "several violations",
            json!({"limit": 0, "country": "XX", "scrapeOptions": {"timeout": 5, "formats": ["markdwon"]}}),
            &[
                ("/query", "missing"),
                ("/limit", "too_small"),
                ("/country", "unknown_value"),
                ("/scrapeOptions/timeout", "too_small"),
                ("/scrapeOptions/formats/0", "unknown_value"),
            ],
        ),
    ];
    for (name, body, expected) in table {
        let response = service.search(body.clone()).await;
        assert_eq!(response.status, 400, "{name}: {}", response.body);
        assert_eq!(response.body["success"], json!(false), "{name}");
        let error = response.body["error"].as_str().unwrap();
        let first = &response.body["details"][0];
        let first = format!("{}: {}", first["path"].as_str().unwrap(), first["message"].as_str().unwrap());
        assert!(error.starts_with(&format!("Invalid request body: {first}")), "{name}: {error}");
        assert_eq!(response.body["code"], json!("BAD_REQUEST"), "{name}");
        let mut found = codes(&response);
        let mut expected: Vec<(String, String)> =
            expected.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}: {}", response.body);
    }
}

#[tokio::test]
async fn query_of_500_characters_is_accepted() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let response = service.search(json!({"query": "ä".repeat(500)})).await;
    assert_eq!(response.status, 200, "{}", response.body);
}

#[tokio::test]
async fn malformed_json_is_reported_with_its_line() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let response = service.post("/v2/search", "{\n  \"query\": tea\n}").await;
    assert_eq!(response.status, 400);
    assert_eq!(response.body["code"], json!("BAD_REQUEST_INVALID_JSON"));
    let error = response.body["error"].as_str().unwrap();
    assert!(error.contains("line 2"), "{error}");
}

#[tokio::test]
async fn unknown_key_is_named_in_the_warning() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let response = service.search(json!({"query": "tea", "limits": 3})).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let warning = response.body["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("limits") && warning.contains("limit"), "{warning}");
}

#[tokio::test]
async fn missing_and_wrong_api_keys_are_rejected() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    for (value, error) in [
        ("", "Unauthorized: Token missing"),
        ("Bearer ", "Unauthorized: Token missing"),
        ("Basic abc", "Unauthorized: Token missing"),
        ("Bearer fc-wrong", "Unauthorized: Invalid token"),
    ] {
        let headers = [("authorization", value), ("content-type", "application/json")];
        let response =
            service.send(Method::POST, "/v2/search", &headers, r#"{"query":"tea"}"#.to_owned()).await;
        assert_eq!(response.status, 401, "{value:?}");
        assert_eq!(response.headers["www-authenticate"], "Bearer");
        let expected = json!({"success": false, "error": error, "code": "UNAUTHORIZED"});
        assert_eq!(response.body, expected, "{value:?}");
    }
}

#[tokio::test]
async fn body_over_the_limit_is_rejected() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let body = format!("{{\"query\": \"{}\"}}", "x".repeat(11 * 1024 * 1024));
    let response = service.post("/v2/search", body).await;
    assert_eq!(response.status, 413);
    assert_eq!(response.body["code"], json!("PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn unsupported_media_types_paths_and_methods_are_rejected() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let response = service.send(Method::POST, "/v2/search", &form, "query=tea".to_owned()).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (415, &json!("UNSUPPORTED_MEDIA_TYPE")));
    let response = service.get("/v2/nothing").await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (404, &json!("NOT_FOUND")));
    let response = service.get("/v2/search").await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (405, &json!("METHOD_NOT_ALLOWED")));
    assert_eq!(response.headers["allow"], "POST");
}

#[tokio::test]
async fn options_that_may_not_be_ignored_are_rejected() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    let options = json!({"formats": ["markdown"], "actions": [{"type": "click", "selector": "a"}]});
    let response = service.search(json!({"query": "tea", "scrapeOptions": options})).await;
    assert_eq!(response.status, 400, "{}", response.body);
    assert_eq!(response.body["code"], json!("SCRAPE_ACTIONS_NOT_SUPPORTED"));
    let options = json!({"formats": ["markdown"], "profile": {"name": "shop"}});
    let response = service.search(json!({"query": "tea", "scrapeOptions": options})).await;
    assert_eq!(response.status, 400, "{}", response.body);
    assert_eq!(codes(&response), [("/scrapeOptions/profile".to_owned(), "not_supported".to_owned())]);
    let response = service.search(json!({"query": "tea", "enterprise": ["zdr"]})).await;
    assert_eq!((response.status.as_u16(), &response.body["code"]), (403, &json!("FORBIDDEN")));
}
