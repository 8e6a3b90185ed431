//! Tests of browser actions.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;

use crate::support::{Expected, check, check_item, check_option};

#[track_caller]
fn check_action(action: &Value, expected: Expected<'_>) {
    check_item("actions", action, expected);
}

#[test]
fn wait_requires_exactly_one_of_milliseconds_and_selector() {
    let wait = |rest: Value| {
        let mut action = rest;
        action["type"] = json!("wait");
        action
    };
    check_action(&wait(json!({ "milliseconds": 1 })), &[]);
    check_action(&wait(json!({ "selector": "#a" })), &[]);
    check_action(&wait(json!({})), &[("", Missing)]);
    check_action(&wait(json!({ "milliseconds": 1, "selector": "#a" })), &[("", Conflict)]);
    check_action(&wait(json!({ "milliseconds": 0 })), &[("/milliseconds", TooSmall)]);
    check_action(&wait(json!({ "selector": "" })), &[("/selector", TooShort)]);
}

#[test]
fn action_fields_are_checked() {
    let table: &[(Value, Expected<'_>)] = &[
        (json!({ "type": "screenshot", "fullPage": true, "quality": 80 }), &[]),
        (json!({ "type": "screenshot", "quality": 0 }), &[("/quality", TooSmall)]),
        (json!({ "type": "click", "selector": "a", "all": true }), &[]),
        (json!({ "type": "click" }), &[("/selector", Missing)]),
        (json!({ "type": "click", "selector": " " }), &[("/selector", TooShort)]),
        (json!({ "type": "click", "selector": "a:hover > b:has(i)" }), &[]),
        (json!({ "type": "click", "selector": "a::before" }), &[("/selector", InvalidFormat)]),
        (json!({ "type": "scroll", "selector": "a[" }), &[("/selector", InvalidFormat)]),
        (json!({ "type": "wait", "selector": "..x" }), &[("/selector", InvalidFormat)]),
        (json!({ "type": "write", "text": "" }), &[]),
        (json!({ "type": "write" }), &[("/text", Missing)]),
        (json!({ "type": "press", "key": " " }), &[]),
        (json!({ "type": "press", "key": "" }), &[("/key", TooShort)]),
        (json!({ "type": "press" }), &[("/key", Missing)]),
        (json!({ "type": "scroll" }), &[]),
        (json!({ "type": "scroll", "direction": "left" }), &[("/direction", UnknownValue)]),
        (json!({ "type": "scrape" }), &[]),
        (json!({ "type": "executeJavascript", "script": "1" }), &[]),
        (json!({ "type": "executeJavascript" }), &[("/script", Missing)]),
        (json!({ "type": "pdf", "format": "A4", "landscape": true, "scale": 2.0 }), &[]),
        (json!({ "type": "pdf", "scale": 0 }), &[("/scale", TooSmall)]),
        (json!({ "type": "pdf", "format": "A7" }), &[("/format", UnknownValue)]),
        (json!({ "selector": "a" }), &[("/type", Missing)]),
        (json!("scrape"), &[("", InvalidType)]),
    ];
    for (action, expected) in table {
        check_action(action, expected);
    }
}

#[test]
fn actions_above_50_are_rejected() {
    check_option("actions", &json!(vec![json!({ "type": "scrape" }); 50]), &[]);
    check_option("actions", &json!(vec![json!({ "type": "scrape" }); 51]), &[("actions", TooLong)]);
}

#[test]
fn sum_of_all_waits_above_60_seconds_is_rejected() {
    let wait = |ms: u64| json!({ "type": "wait", "milliseconds": ms });
    let options = |wait_for: u64, waits: &[u64]| {
        let actions: Vec<_> = waits.iter().map(|ms| wait(*ms)).collect();
        json!({ "query": "q", "scrapeOptions": { "waitFor": wait_for, "actions": actions } })
    };
    check(&options(0, &[30_000, 30_000]), &[]);
    check(&options(0, &[30_000, 30_001]), &[("/scrapeOptions/actions", TooBig)]);
    check(&options(30_000, &[30_000]), &[]);
    check(&options(30_001, &[30_000]), &[("/scrapeOptions/actions", TooBig)]);
    check(&options(60_000, &[]), &[]);
    check(&options(60_001, &[]), &[("/scrapeOptions/waitFor", TooBig)]);
    check(&options(60_001, &[1]), &[("/scrapeOptions/waitFor", TooBig)]);
    check(&options(0, &[60_001]), &[("/scrapeOptions/actions/0/milliseconds", TooBig)]);
}

#[test]
fn wait_for_above_half_of_the_timeout_is_rejected() {
    let options = |wait_for: u64, timeout: u64| json!({ "query": "q", "scrapeOptions": { "waitFor": wait_for, "timeout": timeout } });
    check(&options(15_000, 30_000), &[]);
    check(&options(15_001, 30_000), &[("/scrapeOptions/waitFor", TooBig)]);
    check(&options(60_000, 120_000), &[]);
    check(&options(60_001, 1_000), &[("/scrapeOptions/waitFor", TooBig)]);
}
