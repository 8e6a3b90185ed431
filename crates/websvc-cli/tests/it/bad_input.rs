//! Bad input: each the exact status and body of the contract.

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Answer, Service, tea_world};

/// A name, a body, and the path and code of every violation in it.
type Case<'a> = (&'a str, Value, &'a [(&'a str, &'a str)]);

fn codes(answer: &Answer) -> Vec<(String, String)> {
    let details = answer.body["details"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    details.iter().map(|detail| (text(&detail["path"]), text(&detail["code"]))).collect()
}

#[tokio::test]
async fn every_rule_has_its_answer() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let long = "ä".repeat(501);
    let table: &[Case<'_>] = &[
        ("limit 0", json!({"query": "tea", "limit": 0}), &[("/limit", "too_small")]),
        ("limit 101", json!({"query": "tea", "limit": 101}), &[("/limit", "too_big")]),
        ("501 characters", json!({"query": long}), &[("/query", "too_long")]),
        ("no query", json!({}), &[("/query", "missing")]),
        ("wrong type", json!({"query": "tea", "limit": "ten"}), &[("/limit", "invalid_type")]),
        (
            "both domain filters",
            json!({"query": "tea", "includeDomains": ["a.test"], "excludeDomains": ["b.test"]}),
            &[("/excludeDomains", "conflict")],
        ),
        (
            "nested wrong type",
            json!({"query": "tea", "scrapeOptions": {"formats": ["markdown", {"type": "question"}]}}),
            &[("/scrapeOptions/formats/1/question", "missing")],
        ),
        (
            "unknown key where there are no others",
            json!({"query": "tea", "scrapeOptions": {"formats": ["markdown"], "redactPII": {"mod": "fast"}}}),
            &[("/scrapeOptions/redactPII/mod", "unknown_field")],
        ),
        (
            "everything at once",
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
        let answer = service.search(body.clone()).await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
        assert_eq!(answer.body["success"], json!(false), "{name}");
        let error = answer.body["error"].as_str().unwrap();
        let first = &answer.body["details"][0];
        let first = format!("{}: {}", first["path"].as_str().unwrap(), first["message"].as_str().unwrap());
        assert!(error.starts_with(&format!("Invalid request body: {first}")), "{name}: {error}");
        assert_eq!(answer.body["code"], json!("BAD_REQUEST"), "{name}");
        let mut found = codes(&answer);
        let mut expected: Vec<(String, String)> =
            expected.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned())).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}: {}", answer.body);
    }
}

#[tokio::test]
async fn five_hundred_characters_are_not_too_many() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let answer = service.search(json!({"query": "ä".repeat(500)})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn malformed_json_is_told_with_its_place() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let answer = service.post("/v2/search", "{\n  \"query\": tea\n}").await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.body["code"], json!("BAD_REQUEST_INVALID_JSON"));
    let error = answer.body["error"].as_str().unwrap();
    assert!(error.contains("line 2"), "{error}");
}

#[tokio::test]
async fn an_unknown_key_is_named_in_the_warning() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let answer = service.search(json!({"query": "tea", "limits": 3})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let warning = answer.body["warning"].as_str().unwrap_or_default();
    assert!(warning.contains("limits") && warning.contains("limit"), "{warning}");
}

#[tokio::test]
async fn a_key_is_needed_and_has_to_be_right() {
    let world = tea_world().await;
    let service = Service::of(&world);
    for (value, error) in [
        ("", "Unauthorized: Token missing"),
        ("Bearer ", "Unauthorized: Token missing"),
        ("Basic abc", "Unauthorized: Token missing"),
        ("Bearer fc-wrong", "Unauthorized: Invalid token"),
    ] {
        let headers = [("authorization", value), ("content-type", "application/json")];
        let answer =
            service.send(Method::POST, "/v2/search", &headers, r#"{"query":"tea"}"#.to_owned()).await;
        assert_eq!(answer.status, 401, "{value:?}");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        let expected = json!({"success": false, "error": error, "code": "UNAUTHORIZED"});
        assert_eq!(answer.body, expected, "{value:?}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let body = format!("{{\"query\": \"{}\"}}", "x".repeat(11 * 1024 * 1024));
    let answer = service.post("/v2/search", body).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.body["code"], json!("PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn other_media_types_paths_and_methods_are_refused() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = service.send(Method::POST, "/v2/search", &form, "query=tea".to_owned()).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (415, &json!("UNSUPPORTED_MEDIA_TYPE")));
    let answer = service.get("/v2/nothing").await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (404, &json!("NOT_FOUND")));
    let answer = service.get("/v2/search").await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (405, &json!("METHOD_NOT_ALLOWED")));
    assert_eq!(answer.headers["allow"], "POST");
}

#[tokio::test]
async fn what_may_not_be_left_out_is_refused() {
    let world = tea_world().await;
    let service = Service::of(&world);
    let options = json!({"formats": ["markdown"], "actions": [{"type": "click", "selector": "a"}]});
    let answer = service.search(json!({"query": "tea", "scrapeOptions": options})).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert_eq!(answer.body["code"], json!("SCRAPE_ACTIONS_NOT_SUPPORTED"));
    let options = json!({"formats": ["markdown"], "profile": {"name": "shop"}});
    let answer = service.search(json!({"query": "tea", "scrapeOptions": options})).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    assert_eq!(codes(&answer), [("/scrapeOptions/profile".to_owned(), "not_supported".to_owned())]);
    let answer = service.search(json!({"query": "tea", "enterprise": ["zdr"]})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (403, &json!("FORBIDDEN")));
}
