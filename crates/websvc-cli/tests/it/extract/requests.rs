//! Requests about extractions: start, status, deprecation and errors.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_types::extract::DEPRECATION;
use websvc_types::limits::BODY_MAX_BYTES;

use super::{COFFEE, EXTRACT, EXTRACT_V1, ExtractTest, GONE, TEA, UNKNOWN, drinks};
use crate::harness::{KEY, Response, Service, assert_fields, tea_world};

/// Checks the marks of a deprecated operation.
#[track_caller]
fn check_deprecation(response: &Response) {
    let Response { headers, body, .. } = response;
    assert_eq!(headers["deprecation"], "true", "{body}");
    assert_eq!(headers["link"], "</v2/scrape>; rel=\"successor-version\"", "{body}");
    assert_eq!(headers["warning"].to_str().unwrap(), format!("299 - \"{DEPRECATION}\""), "{body}");
    assert_eq!((&body["warnings"], &body["replacement"]), (&json!([DEPRECATION]), &json!("/v2/scrape")));
}

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_start_and_read_the_same_extractions() {
    let test = ExtractTest::new().await;
    for (start_path, other_path) in [(EXTRACT, EXTRACT_V1), (EXTRACT_V1, EXTRACT)] {
        let started = test.try_start(start_path, json!({})).await;
        assert_eq!(started.status, StatusCode::OK, "{}", started.body);
        check_deprecation(&started);
        let body = &started.body;
        assert_fields(body, &json!({ "success": true, "urlTrace": [], "invalidURLs": [], "warning": null }));
        let status = test.wait_for_end(other_path, body).await;
        assert_fields(&status, &json!({ "success": true, "status": "completed", "data": drinks() }));
        assert_eq!(status, test.wait_for_end(start_path, body).await);
        check_deprecation(&test.service.get(&format!("{start_path}/{}", body["id"].as_str().unwrap())).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_extractions_are_rejected_with_field_and_rule() {
    let test = ExtractTest::new().await;
    for (fields, path) in [
        (json!({ "urls": null, "prompt": null }), "/urls"),
        (json!({ "scrapeOptions": { "waitFor": -1 } }), "/scrapeOptions/waitFor"),
        (json!({ "surprise": 1 }), "/surprise"),
        (json!({ "webhook": "http://127.0.0.1/in" }), "/webhook"),
    ] {
        for version in [EXTRACT, EXTRACT_V1] {
            let response = test.try_start(version, fields.clone()).await;
            let body = &response.body;
            assert_eq!(response.status, StatusCode::BAD_REQUEST, "{path}: {body}");
            let details = body["details"].as_array().unwrap();
            assert!(details.iter().any(|detail| detail["path"] == path), "{path}: {body}");
            check_deprecation(&response);
        }
    }
    let broken = test.try_start(EXTRACT, json!({ "schema": { "type": "objekt" } })).await;
    assert!(broken.body["error"].as_str().unwrap().contains("Invalid JSON schema"), "{}", broken.body);
    let replaced = test.try_start(EXTRACT, json!({ "agent": { "model": "v3-beta" } })).await;
    assert!(replaced.body["error"].as_str().unwrap().contains("use POST /v2/agent"), "{}", replaced.body);
    let none = test.try_start(EXTRACT, json!({ "urls": ["ftp://shop.test/"] })).await;
    assert!(none.body["error"].as_str().unwrap().contains("No valid URLs provided"), "{}", none.body);
    assert!(test.world.requests().is_empty(), "nothing is requested for a rejected extraction");
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_urls_are_listed_and_the_others_extracted() {
    let test = ExtractTest::new().await;
    let (started, status) = test.run(json!({ "urls": ["ftp://shop.test/", TEA, TEA] })).await;
    assert_eq!(started["invalidURLs"], json!(["ftp://shop.test/"]), "{started}");
    assert_eq!(status["data"]["drinks"], json!([{ "name": "sencha", "euros": 12 }]), "{status}");
    assert_eq!(test.requested(), [TEA]);
    let (started, _) = test.run(json!({ "ignoreInvalidURLs": false })).await;
    assert_eq!(started.get("invalidURLs"), None, "{started}");
}

#[tokio::test(flavor = "multi_thread")]
async fn options_without_effect_are_named_in_a_warning() {
    let test = ExtractTest::new().await;
    let fields = json!({
        "urls": [TEA],
        "agent": { "model": "FIRE-1" },
        "limit": 500,
        "scrapeOptions": { "formats": ["html"] },
        "__experimental_streamSteps": true,
        "__experimental_llmUsage": true,
        "origin": "test",
        "integration": "test",
    });
    let (started, status) = test.run(fields).await;
    let warning = started["warning"].as_str().unwrap();
    for text in ["agent is not available", "counts as 100", "formats was ignored"] {
        assert!(warning.contains(text), "{warning}");
    }
    assert_fields(&status, &json!({ "warning": started["warning"], "status": "completed" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_and_trace_are_returned_on_request() {
    let test = ExtractTest::new().await;
    let (_, plain) = test.run(json!({})).await;
    assert_eq!((plain.get("sources"), plain.get("urlTrace")), (None, None), "{plain}");
    // Two pages with data: 1 for each page and 4 for its data.
    assert_eq!(plain["creditsUsed"], 10, "{plain}");
    assert!(plain["tokensUsed"].as_u64().unwrap() > 0, "{plain}");
    let expires: jiff::Timestamp = plain["expiresAt"].as_str().unwrap().parse().unwrap();
    assert!(expires > jiff::Timestamp::now());
    let fields = json!({ "urls": [TEA, COFFEE, GONE], "showSources": true, "urlTrace": true });
    let (started, status) = test.run(fields).await;
    assert_eq!(started["urlTrace"], json!([]), "{started}");
    let expected = json!({
        "data": drinks(), "sources": { "shop": [COFFEE], "drinks[0]": [TEA, COFFEE], "drinks[1]": [COFFEE] },
    });
    assert_fields(&status, &expected);
    let read = |url: &str| json!({ "url": url, "status": "scraped", "usedInCompletion": true });
    let failed = json!({ "url": GONE, "status": "error", "error": "the page has status 404",
        "usedInCompletion": false });
    assert_eq!(status["urlTrace"], json!([read(TEA), read(COFFEE), failed]), "{status}");
    assert!(status["warning"].as_str().unwrap().contains("1 page is missing: "), "{status}");
    let activity = test.service.get("/v2/team/activity?endpoint=extract").await.body;
    assert_fields(&activity["data"][0], &json!({ "endpoint": "extract", "target": TEA }));
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_that_does_not_exist_or_belongs_to_another_team_is_not_found() {
    let test = ExtractTest::new().await;
    let (started, _) = test.run(json!({ "urls": [TEA] })).await;
    let bearer = format!("Bearer {}", test.site.create_key(&["--team", "other"]));
    for version in [EXTRACT, EXTRACT_V1] {
        let unknown = test.service.get(&format!("{version}/{UNKNOWN}")).await;
        let path = format!("{version}/{}", started["id"].as_str().unwrap());
        let headers = [("authorization", bearer.as_str())];
        let foreign = test.service.send(Method::GET, &path, &headers, "").await;
        for response in [unknown, foreign] {
            assert_eq!(
                (response.status.as_u16(), &response.body["error"]),
                (404, &json!("Extract job not found"))
            );
            check_deprecation(&response);
        }
        let wrong = test.service.get(&format!("{version}/x")).await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{}", wrong.body);
        let refused = test.service.send(Method::GET, &path, &[("authorization", "Bearer fc-no")], "").await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
        check_deprecation(&refused);
    }
    let agent = test.service.get(&format!("/v2/agent/{}", started["id"].as_str().unwrap())).await;
    assert_eq!(agent.status, StatusCode::NOT_FOUND, "{}", agent.body);
    assert_eq!(test.service.get("/v2/agent").await.body["agents"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_routes_and_bodies_are_marked_as_deprecated() {
    let test = ExtractTest::new().await;
    let bearer = format!("Bearer {KEY}");
    let json_type = "application/json";
    let too_large = "x".repeat(BODY_MAX_BYTES + 1);
    for path in [EXTRACT, EXTRACT_V1] {
        let below = format!("{path}/{UNKNOWN}");
        let errors = format!("{below}/errors");
        for (method, path, media_type, body, status) in [
            (Method::GET, path, json_type, "", StatusCode::METHOD_NOT_ALLOWED),
            (Method::DELETE, &below, json_type, "", StatusCode::METHOD_NOT_ALLOWED),
            (Method::GET, &errors, json_type, "", StatusCode::NOT_FOUND),
            (Method::POST, path, "text/plain", "{}", StatusCode::UNSUPPORTED_MEDIA_TYPE),
            (Method::POST, path, json_type, &too_large, StatusCode::PAYLOAD_TOO_LARGE),
        ] {
            let headers = [("authorization", bearer.as_str()), ("content-type", media_type)];
            let response = test.service.send(method.clone(), path, &headers, body).await;
            assert_eq!(response.status, status, "{method} {path}: {}", response.body);
            check_deprecation(&response);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_needs_the_scope_agent_and_the_format_json() {
    let test = ExtractTest::new().await;
    for (options, status) in
        [(["--scope", "scrape"], 403), (["--format", "markdown"], 403), (["--scope", "agent"], 200)]
    {
        let bearer = format!("Bearer {}", test.site.create_key(&options));
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = json!({ "urls": [TEA] }).to_string();
        let response = test.service.send(Method::POST, EXTRACT, &headers, body).await;
        assert_eq!(response.status.as_u16(), status, "{options:?}: {}", response.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn extraction_without_a_model_is_not_implemented() {
    let world = tea_world().await;
    let service = Service::for_world(&world);
    for version in [EXTRACT, EXTRACT_V1] {
        let response = service.post(version, json!({ "urls": ["http://tea.test/"] }).to_string()).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["code"]),
            (501, &json!("LLM_NOT_CONFIGURED")),
            "{}",
            response.body
        );
        assert!(response.body["error"].as_str().unwrap().contains("[llm]"), "{}", response.body);
        check_deprecation(&response);
        let wrong = service.post(version, json!({}).to_string()).await;
        assert_eq!(wrong.status, StatusCode::BAD_REQUEST, "{}", wrong.body);
    }
    assert!(world.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_version_1_are_translated() {
    let test = ExtractTest::new().await;
    let fields =
        json!({ "urls": [TEA], "schema": null, "scrapeOptions": { "parsePDF": false, "formats": null } });
    let v2 = test.try_start(EXTRACT, fields.clone()).await;
    assert!(v2.body["warning"].as_str().unwrap().contains("parsePDF"), "{}", v2.body);
    let v1 = test.try_start(EXTRACT_V1, fields).await;
    assert_eq!((v1.status, v1.body.get("warning")), (StatusCode::OK, None), "{}", v1.body);
    let status: Value = test.wait_for_end(EXTRACT, &v1.body).await;
    assert_eq!(status["status"], "completed", "{status}");
}
