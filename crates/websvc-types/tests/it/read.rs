//! Tests of deserialization and its error messages.

use serde_json::{Value, json};
use websvc_types::{Action, Format, RedactPii, SearchRequest};

/// Deserializes a search request with a query and these fields.
fn request(fields: &Value) -> Result<SearchRequest, serde_json::Error> {
    let mut body = json!({ "query": "q" });
    let given = fields.as_object().expect("the fields are an object").clone();
    body.as_object_mut().expect("the body is an object").extend(given);
    serde_json::from_str(&body.to_string())
}

/// Checks that both forms are read as the same request.
#[track_caller]
fn check_same(short: &Value, long: &Value) {
    let [short_read, long_read] =
        [short, long].map(|fields| request(fields).expect("the fields are accepted"));
    assert_eq!(short_read, long_read, "{short} and {long}");
}

/// Checks that the fields are rejected, and that the message contains all `parts`.
#[track_caller]
fn check_rejected(fields: &Value, parts: &[&str]) {
    let message = request(fields).expect_err(&fields.to_string()).to_string();
    for part in parts {
        assert!(message.contains(part), "{fields}: \"{message}\" does not contain \"{part}\"");
    }
}

#[test]
fn bare_names_and_objects_are_read_alike_also_mixed() {
    check_same(
        &json!({ "sources": ["web", { "type": "news" }, "images"] }),
        &json!({ "sources": [{ "type": "web" }, { "type": "news" }, { "type": "images" }] }),
    );
    check_same(
        &json!({ "categories": ["github", { "type": "pdf" }] }),
        &json!({ "categories": [{ "type": "github" }, "pdf"] }),
    );
    check_same(
        &json!({ "scrapeOptions": { "parsers": ["pdf"] } }),
        &json!({ "scrapeOptions": { "parsers": [{ "type": "pdf" }] } }),
    );
    for name in Format::NAMES.iter().filter(|name| !["question", "highlights"].contains(name)) {
        check_same(
            &json!({ "scrapeOptions": { "formats": [name] } }),
            &json!({ "scrapeOptions": { "formats": [{ "type": name }] } }),
        );
    }
}

#[test]
fn null_counts_as_absent() {
    check_same(
        &json!({ "limit": null, "sources": null, "tbs": null, "safe": null, "scrapeOptions": null }),
        &json!({}),
    );
    check_same(
        &json!({ "scrapeOptions": { "formats": [{ "type": "changeTracking", "tag": null }], "redactPII": null } }),
        &json!({ "scrapeOptions": { "formats": ["changeTracking"] } }),
    );
}

#[test]
fn redact_pii_true_equals_an_empty_object() {
    let redact = |value: Value| {
        request(&json!({ "scrapeOptions": { "redactPII": value } }))
            .unwrap()
            .scrape_options
            .unwrap()
            .redact_pii
    };
    assert_eq!(redact(json!(false)), Some(RedactPii::Off));
    assert_eq!(redact(json!(true)), redact(json!({})));
    check_rejected(
        &json!({ "scrapeOptions": { "redactPII": "yes" } }),
        &["true, false or an object", "\"yes\""],
    );
}

#[test]
fn proxy_stealth_is_read_as_enhanced() {
    check_same(
        &json!({ "scrapeOptions": { "proxy": "stealth" } }),
        &json!({ "scrapeOptions": { "proxy": "enhanced" } }),
    );
}

#[test]
fn actions_are_read_and_written_by_their_type() {
    let actions = [
        json!({ "type": "wait", "milliseconds": 1 }),
        json!({ "type": "wait", "selector": "#a" }),
        json!({ "type": "screenshot", "fullPage": true, "quality": 1, "viewport": { "width": 1, "height": 2 } }),
        json!({ "type": "click", "selector": "a", "all": true }),
        json!({ "type": "write", "text": "" }),
        json!({ "type": "press", "key": "Enter" }),
        json!({ "type": "scroll", "direction": "up", "selector": "main" }),
        json!({ "type": "scrape" }),
        json!({ "type": "executeJavascript", "script": "1" }),
        json!({ "type": "pdf", "format": "A4", "landscape": true, "scale": 2.0 }),
    ];
    for sent in actions {
        let action: Action = serde_json::from_str(&sent.to_string()).unwrap();
        assert_eq!(action.name(), sent["type"]);
        assert_eq!(serde_json::to_value(&action).unwrap(), sent);
    }
}

#[test]
fn unknown_fields_are_ignored_in_open_objects() {
    for fields in [
        json!({ "origin": "python-sdk@4.55.0", "integration": "_e2e-test", "domainTools": true, "lang": "en" }),
        json!({ "scrapeOptions": { "fastMode": false, "useMock": "x", "checkPromptInjection": true } }),
        json!({ "scrapeOptions": { "formats": [{ "type": "markdown", "newer": 1 }] } }),
        json!({ "scrapeOptions": { "actions": [{ "type": "scrape", "newer": 1 }] } }),
        json!({ "sources": [{ "type": "news", "newer": 1 }], "categories": [{ "type": "pdf", "newer": 1 }] }),
        json!({ "threatProtection": { "newer": 1 }, "enterprise": ["default"] }),
    ] {
        request(&fields).unwrap_or_else(|error| panic!("{fields}: {error}"));
    }
}

#[test]
fn unknown_fields_are_rejected_in_closed_objects() {
    for options in [
        json!({ "parsers": [{ "type": "pdf", "depth": 1 }] }),
        json!({ "actions": [{ "type": "wait", "milliseconds": 1, "depth": 1 }] }),
        json!({ "redactPII": { "depth": 1 } }),
        json!({ "auditMetadata": { "username": "u", "depth": 1 } }),
    ] {
        check_rejected(&json!({ "scrapeOptions": options }), &["unknown field `depth`"]);
    }
}

#[test]
fn unknown_value_error_names_the_value_and_the_allowed_ones() {
    check_rejected(&json!({ "sources": ["webb"] }), &["`webb`", "`web`", "`images`", "`news`"]);
    check_rejected(&json!({ "sources": [{ "type": "webb" }] }), &["`webb`", "`news`"]);
    check_rejected(&json!({ "categories": ["gov"] }), &["`gov`", "`research`"]);
    check_rejected(
        &json!({ "scrapeOptions": { "formats": ["md"] } }),
        &["`md`", "`markdown`", "`highlights`"],
    );
    check_rejected(&json!({ "scrapeOptions": { "parsers": ["image"] } }), &["`image`", "`pdf`"]);
    check_rejected(
        &json!({ "scrapeOptions": { "actions": [{ "type": "swipe" }] } }),
        &["`swipe`", "`click`"],
    );
    check_rejected(&json!({ "scrapeOptions": { "formats": [7] } }), &["integer `7`", "the name of a format"]);
    check_rejected(&json!({ "enterprise": ["none"] }), &["`none`", "`zdr`"]);
}

#[test]
fn missing_field_error_names_the_field() {
    let error = serde_json::from_str::<SearchRequest>("{}").unwrap_err().to_string();
    assert!(error.contains("missing field `query`"), "{error}");
    for (options, field) in [
        (json!({ "formats": ["question"] }), "question"),
        (json!({ "formats": [{ "type": "highlights" }] }), "query"),
        (json!({ "formats": [{ "type": "screenshot", "viewport": { "width": 1 } }] }), "height"),
        (json!({ "actions": [{ "type": "click" }] }), "selector"),
        (json!({ "actions": [{ "type": "write" }] }), "text"),
        (json!({ "actions": [{ "type": "press" }] }), "key"),
        (json!({ "actions": [{ "type": "executeJavascript" }] }), "script"),
        (json!({ "actions": [{ "milliseconds": 1 }] }), "type"),
        (json!({ "parsers": [{ "mode": "fast" }] }), "type"),
        (json!({ "profile": {} }), "name"),
        (json!({ "auditMetadata": {} }), "username"),
    ] {
        check_rejected(&json!({ "scrapeOptions": options }), &["missing field", &format!("`{field}`")]);
    }
}
