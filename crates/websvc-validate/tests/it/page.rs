//! Tests of scrape requests and of options of uploaded files.

use serde_json::{Value, json};
use websvc_types::rerank::RerankRequest;
use websvc_types::{ParseOptions, ParseUploadRequest, ScrapeRequest, UploadUrlRequest, schema};
use websvc_validate::{
    FeaturePolicy, Policy, Rejection, RetentionMode, check_request, read_object, read_request,
};

fn paths(rejection: Option<Rejection>) -> Vec<String> {
    match rejection {
        None => Vec::new(),
        Some(Rejection::Invalid(violations)) => {
            violations.into_iter().map(|violation| violation.path).collect()
        }
        Some(other) => panic!("{other:?}"),
    }
}

/// Checks that a scrape request breaks rules at these paths. The schema and the check of the typed request must agree.
#[track_caller]
fn check(body: &Value, expected: &[&str]) {
    let policy = Policy::default();
    assert_eq!(
        paths(read_request::<ScrapeRequest>(body.to_string().as_bytes(), &policy).err()),
        expected,
        "{body}"
    );
    let schema = schema::request::<ScrapeRequest>().to_value();
    assert_eq!(jsonschema::is_valid(&schema, body), expected.is_empty(), "{body}");
    if let Ok(request) = serde_json::from_value::<ScrapeRequest>(body.clone()) {
        assert_eq!(paths(check_request(&request, &policy).err()), expected, "{body}");
    }
}

#[test]
fn request_for_tools_of_providers_is_not_offered() {
    let providers = json!([{ "provider": "p", "capability": "c", "options": {} }]);
    check(&json!({ "alexandria": providers }), &["/alexandria"]);
    check(&json!({ "alexandria": providers, "url": "http://tea.test/" }), &[]);
    let body = json!({ "alexandria": providers }).to_string();
    let text = read_request::<ScrapeRequest>(body.as_bytes(), &Policy::default()).unwrap_err().to_string();
    assert!(text.contains("not offered here") && text.contains("POST /v2/search"), "{text}");
}

#[test]
fn scrape_request_has_url_and_options_at_the_top_level() {
    check(&json!({ "url": "http://tea.test/" }), &[]);
    check(
        &json!({ "url": "http://tea.test/", "origin": "js-sdk@4.42.0", "integration": "cli", "fastMode": false }),
        &[],
    );
    check(
        &json!({
            "url": "http://tea.test/",
            "formats": ["markdown", { "type": "json", "prompt": "p" }, { "type": "screenshot", "fullPage": true }],
            "maxAge": 5,
            "headers": { "a": "b" },
            "redactPII": { "mode": "fast" },
            "actions": [{ "type": "wait", "milliseconds": 5 }],
            "parsers": ["pdf"],
            "zeroDataRetention": false,
        }),
        &[],
    );
    check(&json!({}), &["/url"]);
    check(&json!({ "url": 5 }), &["/url"]);
    check(&json!({ "url": " " }), &["/url"]);
    check(&json!({ "url": "http://tea.test/", "timeout": 1, "formats": ["x"] }), &["/formats/0", "/timeout"]);
}

#[test]
fn scrape_defaults_to_markdown_and_keeps_the_url_as_sent() {
    let plan = read_request::<ScrapeRequest>(br#"{"url": "TEA.test"}"#, &Policy::default()).unwrap().plan;
    assert_eq!(plan.scrape.formats.iter().map(websvc_types::Format::name).collect::<Vec<_>>(), ["markdown"]);
    assert_eq!(
        (plan.target.text.as_str(), plan.target.url.as_str()),
        ("http://TEA.test", "http://tea.test/")
    );
    assert_eq!(plan.scrape.retention, RetentionMode::Normal);
}

#[test]
fn zero_data_retention_requires_the_permission() {
    let body = br#"{"url": "http://tea.test/", "zeroDataRetention": true}"#;
    assert!(matches!(
        read_request::<ScrapeRequest>(body, &Policy::default()),
        Err(Rejection::Forbidden { .. })
    ));
    let allowed = Policy { zdr: FeaturePolicy::Allowed, ..Policy::default() };
    let plan = read_request::<ScrapeRequest>(body, &allowed).unwrap().plan;
    assert_eq!((plan.scrape.retention, plan.scrape.store_in_cache), (RetentionMode::Zero, false));
    let file = read_request::<ParseOptions>(br#"{"zeroDataRetention": true}"#, &allowed).unwrap().plan;
    assert_eq!(file.scrape.retention, RetentionMode::Zero);
    let forced = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    let plan = read_request::<ScrapeRequest>(br#"{"url": "a.test", "zeroDataRetention": false}"#, &forced)
        .unwrap()
        .plan;
    assert_eq!(plan.scrape.retention, RetentionMode::Zero);
}

#[test]
fn uploaded_file_is_never_stored_in_the_cache() {
    let plan = read_request::<ParseOptions>(br#"{"storeInCache": true}"#, &Policy::default()).unwrap().plan;
    assert!(!plan.scrape.store_in_cache);
    let schema = schema::request::<ParseOptions>().to_value();
    assert!(jsonschema::is_valid(&schema, &json!({ "formats": ["html"], "onlyMainContent": false })));
    assert_eq!(
        paths(read_request::<ParseOptions>(br#"{"timeout": 1}"#, &Policy::default()).err()),
        ["/timeout"]
    );
}

#[test]
fn file_of_an_upload_url_has_a_reference_in_addition_to_its_options() {
    let read =
        |body: Value| read_request::<ParseUploadRequest>(body.to_string().as_bytes(), &Policy::default());
    let (reference, plan) = read(json!({ "uploadRef": "a.b", "formats": ["html"] })).unwrap().plan;
    assert_eq!((reference.as_str(), plan.scrape.formats.len()), ("a.b", 1));
    assert_eq!(paths(read(json!({ "timeout": 1 })).err()), ["/timeout", "/uploadRef"]);
    let parsed = read(json!({ "uploadRef": "a.b", "parsers": [{ "type": "image" }] })).unwrap();
    assert_eq!(parsed.warnings.len(), 1, "what other operations ignore with a warning, this one does too");
    assert_eq!(paths(read(json!({ "uploadRef": "a".repeat(3000) })).err()), ["/uploadRef"]);
}

#[test]
fn upload_url_is_not_available_to_teams_that_store_nothing() {
    let body = br#"{"filename": "tea.pdf", "contentType": "application/pdf", "declaredSizeBytes": 52428800}"#;
    assert!(read_request::<UploadUrlRequest>(body, &Policy::default()).is_ok());
    for policy in [
        Policy { zdr: FeaturePolicy::Forced, ..Policy::default() },
        Policy { anon: FeaturePolicy::Forced, ..Policy::default() },
    ] {
        assert!(matches!(read_request::<UploadUrlRequest>(body, &policy), Err(Rejection::Forbidden { .. })));
    }
    let wrong = br#"{"filename": "", "contentType": "\u00e9", "declaredSizeBytes": 52428801}"#;
    assert_eq!(
        paths(read_request::<UploadUrlRequest>(wrong, &Policy::default()).err()),
        ["/contentType", "/declaredSizeBytes", "/filename"]
    );
}

#[test]
fn rerank_request_is_checked() {
    let schema = schema::request::<RerankRequest>().to_value();
    for (body, expected) in [
        (json!({ "query": "a", "documents": ["b", { "text": "c" }], "top_n": 1, "model": "m" }), &[][..]),
        (json!({ "query": "a", "documents": [] }), &["/documents"]),
        (json!({ "query": "", "documents": ["a"] }), &["/query"]),
        (json!({ "documents": ["a"] }), &["/query"]),
        (json!({ "query": "a" }), &["/documents"]),
        (json!({ "query": "a", "documents": ["a"], "top_n": 0 }), &["/top_n"]),
        (json!({ "query": "a", "documents": vec!["a"; 1001] }), &["/documents"]),
    ] {
        assert_eq!(
            paths(read_request::<RerankRequest>(body.to_string().as_bytes(), ()).err()),
            expected,
            "{body}"
        );
        assert_eq!(jsonschema::is_valid(&schema, &body), expected.is_empty(), "{body}");
    }
}

#[test]
fn read_object_accepts_only_objects() {
    assert_eq!(read_object(br#"{"a": 1}"#).unwrap()["a"], 1);
    assert_eq!(paths(read_object(b"[]").err()), [""]);
    assert!(matches!(read_object(b"{"), Err(Rejection::Json { line: 1, .. })));
}
