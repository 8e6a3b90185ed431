//! What is read, and that it is written so that it is read again.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use websvc_types::{
    Action, Category, Format, Parser, Proxy, RedactPii, ScrapeOptions, SearchRequest, SearchResponse, Source,
};

/// Checks that each form is read as the same value, which is written as `written`.
#[track_caller]
fn check<T: DeserializeOwned + Serialize + PartialEq + Debug>(forms: &[Value], written: &Value) {
    let value: T = serde_json::from_value(written.clone()).expect("what is written can be read");
    assert_eq!(serde_json::to_value(&value).expect("a model can be written"), *written);
    for form in forms {
        let read: T = serde_json::from_value(form.clone()).expect("each form can be read");
        assert_eq!(read, value, "{form}");
    }
}

#[test]
fn bare_names_and_objects_are_the_same() {
    check::<Source>(&[json!("news"), json!({ "type": "news" })], &json!({ "type": "news" }));
    check::<Category>(&[json!("pdf"), json!({ "type": "pdf" })], &json!("pdf"));
    check::<Parser>(&[json!("pdf"), json!({ "type": "pdf" })], &json!({ "type": "pdf" }));
    check::<RedactPii>(&[json!(true), json!({})], &json!({}));
    check::<RedactPii>(&[], &json!(false));
    check::<Proxy>(&[json!("stealth")], &json!("enhanced"));
    for name in Format::NAMES.iter().filter(|name| !["question", "highlights"].contains(name)) {
        check::<Format>(&[json!(name)], &json!({ "type": name }));
    }
}

#[test]
fn a_format_is_called_by_its_type() {
    for name in Format::NAMES {
        let form = json!({ "type": name, "question": "q", "query": "q" });
        let format: Format = serde_json::from_value(form).unwrap();
        assert_eq!(format.name(), *name);
    }
}

#[test]
fn a_format_with_required_options_has_no_bare_name() {
    for name in ["question", "highlights"] {
        assert!(serde_json::from_value::<Format>(json!(name)).is_err(), "{name}");
    }
}

#[test]
fn every_option_survives_the_round_trip() {
    let actions = json!([
        { "type": "wait", "milliseconds": 5 },
        { "type": "wait", "selector": "#a" },
        { "type": "screenshot", "fullPage": true, "quality": 80, "viewport": { "width": 8, "height": 6 } },
        { "type": "click", "selector": "a", "all": true },
        { "type": "write", "text": "t" },
        { "type": "press", "key": "Enter" },
        { "type": "scroll", "direction": "up", "selector": "#a" },
        { "type": "scrape" },
        { "type": "executeJavascript", "script": "1" },
        { "type": "pdf", "format": "A4", "landscape": true, "scale": 1.5 },
    ]);
    check::<Vec<Action>>(&[], &actions);
    let formats = json!([
        { "type": "json", "schema": { "type": "object" }, "prompt": "p" },
        { "type": "changeTracking", "modes": ["git-diff", "json"], "schema": {}, "prompt": "p", "tag": "t" },
        { "type": "question", "question": "why?" },
        { "type": "highlights", "query": "why" },
    ]);
    let options = json!({
        "formats": formats, "onlyMainContent": false, "onlyCleanContent": true, "includeTags": ["a"],
        "excludeTags": ["b"], "maxAge": 1, "minAge": 2, "headers": { "a": "b" }, "waitFor": 3, "mobile": true,
        "skipTlsVerification": false, "timeout": 1000, "parsers": [{ "type": "pdf", "mode": "ocr", "maxPages": 4 }],
        "location": { "country": "DE", "languages": ["de"] }, "removeBase64Images": false,
        "blockAds": false, "proxy": "basic", "storeInCache": false, "lockdown": true,
    });
    check::<ScrapeOptions>(&[], &options);
    let rest = json!({
        "actions": actions,
        "redactPII": { "mode": "aggressive", "entities": ["PERSON", "SECRET"], "replaceStyle": "mask" },
        "profile": { "name": "p", "saveChanges": false },
        "threatProtection": {
            "mode": "normal", "riskScoreThreshold": 5, "blacklist": ["a"], "whitelist": ["b"],
            "blockedTlds": ["zip"], "failurePolicy": "closed",
        },
        "auditMetadata": { "username": "u" }, "integration": "i", "origin": "o",
    });
    check::<ScrapeOptions>(&[], &rest);
    let request = json!({
        "query": "q", "limit": 5, "sources": [{ "type": "web", "tbs": "qdr:d", "location": "l" }],
        "categories": ["github"], "includeDomains": ["a"], "excludeDomains": ["b"], "tbs": "sbd:1",
        "location": "l", "country": "DE", "safe": true, "timeout": 6, "ignoreInvalidURLs": true,
        "highlights": false, "enterprise": ["anon", "zdr"], "scrapeOptions": {}, "threatProtection": {},
        "origin": "o", "integration": "i",
    });
    check::<SearchRequest>(&[], &request);
}

#[test]
fn what_is_left_out_is_not_written() {
    assert_eq!(serde_json::to_value(ScrapeOptions::default()).unwrap(), json!({}));
    assert_eq!(serde_json::to_value(SearchRequest::default()).unwrap(), json!({ "query": "" }));
    let response = serde_json::to_value(SearchResponse::default()).unwrap();
    assert_eq!(response, json!({ "success": false, "data": {}, "id": "", "creditsUsed": 0 }));
}

#[test]
fn unknown_fields_are_refused_only_where_the_specification_says_so() {
    let closed = |value: Value, closed: bool| {
        let read = serde_json::from_value::<ScrapeOptions>(value.clone());
        assert_eq!(read.is_err(), closed, "{value}");
    };
    closed(json!({ "auditMetadata": { "username": "u", "x": 1 } }), true);
    closed(json!({ "redactPII": { "x": 1 } }), true);
    closed(json!({ "parsers": [{ "type": "pdf", "x": 1 }] }), true);
    closed(json!({ "actions": [{ "type": "wait", "milliseconds": 1, "x": 1 }] }), true);
    closed(
        json!({ "x": 1, "actions": [{ "type": "scrape", "x": 1 }], "formats": [{ "type": "json", "x": 1 }] }),
        false,
    );
}
