//! Tests of reading JSON, and of the error messages.

use serde_json::{Value, json};
use websvc_types::{Action, Format, RedactPii, SearchRequest};

/// Reads a search request with the given fields beside its query.
fn request(fields: &Value) -> Result<SearchRequest, serde_json::Error> {
    let mut body = json!({ "query": "q" });
    let given = fields.as_object().expect("the fields are an object").clone();
    body.as_object_mut().expect("the body is an object").extend(given);
    serde_json::from_str(&body.to_string())
}

/// Checks that both writings are read as the same request.
#[track_caller]
fn check_same(short: &Value, long: &Value) {
    let [short_read, long_read] =
        [short, long].map(|fields| request(fields).expect("the fields are accepted"));
    assert_eq!(short_read, long_read, "{short} and {long}");
}

/// Checks that the fields are refused, and that the message holds every one of `parts`.
#[track_caller]
fn check_refused(fields: &Value, parts: &[&str]) {
    let message = request(fields).expect_err(&fields.to_string()).to_string();
    for part in parts {
        assert!(message.contains(part), "{fields}: \"{message}\" does not contain \"{part}\"");
    }
}

#[test]
fn names_and_objects_mean_the_same_and_may_be_mixed() {
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
fn a_null_is_as_if_not_given() {
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
fn a_boolean_redacts_like_an_object_without_options() {
    let redact = |value: Value| {
        request(&json!({ "scrapeOptions": { "redactPII": value } }))
            .unwrap()
            .scrape_options
            .unwrap()
            .redact_pii
    };
    assert_eq!(redact(json!(false)), Some(RedactPii::Off));
    assert_eq!(redact(json!(true)), redact(json!({})));
    check_refused(
        &json!({ "scrapeOptions": { "redactPII": "yes" } }),
        &["true, false or an object", "\"yes\""],
    );
}

#[test]
fn the_older_name_of_the_enhanced_proxy_is_known() {
    check_same(
        &json!({ "scrapeOptions": { "proxy": "stealth" } }),
        &json!({ "scrapeOptions": { "proxy": "enhanced" } }),
    );
}

#[test]
fn every_action_is_read_by_its_name() {
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
fn keys_of_newer_clients_are_tolerated_where_the_specification_allows_them() {
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
fn other_properties_are_refused_where_the_specification_says_so() {
    for options in [
        json!({ "parsers": [{ "type": "pdf", "pages": 1 }] }),
        json!({ "actions": [{ "type": "wait", "milliseconds": 1, "pages": 1 }] }),
        json!({ "redactPII": { "pages": 1 } }),
        json!({ "auditMetadata": { "username": "u", "pages": 1 } }),
    ] {
        check_refused(&json!({ "scrapeOptions": options }), &["unknown field `pages`"]);
    }
}

#[test]
fn a_message_names_the_unknown_value_and_the_known_ones() {
    check_refused(&json!({ "sources": ["webb"] }), &["`webb`", "`web`", "`images`", "`news`"]);
    check_refused(&json!({ "sources": [{ "type": "webb" }] }), &["`webb`", "`news`"]);
    check_refused(&json!({ "categories": ["gov"] }), &["`gov`", "`research`"]);
    check_refused(
        &json!({ "scrapeOptions": { "formats": ["md"] } }),
        &["`md`", "`markdown`", "`highlights`"],
    );
    check_refused(&json!({ "scrapeOptions": { "parsers": ["image"] } }), &["`image`", "`pdf`"]);
    check_refused(&json!({ "scrapeOptions": { "actions": [{ "type": "swipe" }] } }), &["`swipe`", "`click`"]);
    check_refused(&json!({ "scrapeOptions": { "formats": [7] } }), &["integer `7`", "the name of a format"]);
    check_refused(&json!({ "enterprise": ["none"] }), &["`none`", "`zdr`"]);
}

#[test]
fn required_fields_are_missed_by_name() {
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
        check_refused(&json!({ "scrapeOptions": options }), &["missing field", &format!("`{field}`")]);
    }
}
