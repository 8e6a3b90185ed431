//! Requests for browser sessions and for code in them.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_types::interact::{CreateBrowserRequest, ExecuteRequest, InteractLanguage, InteractRequest};
use websvc_validate::{CodePlan, FeaturePolicy, InteractPlan, Policy, Rejection, read_request};

fn first<T: std::fmt::Debug>(read: Result<T, Rejection>) -> String {
    match read.expect_err("it is invalid") {
        Rejection::Invalid(violations) => format!("{} {}", violations[0].path, violations[0].message),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn interact_rejects(body: &Value, expected: &str) {
    let text = first(read_request::<InteractRequest>(body.to_string().as_bytes(), ()));
    assert!(text.contains(expected), "{body}: {text}");
}

#[test]
fn interact_needs_code_or_a_prompt_and_code_wins() {
    interact_rejects(&json!({}), "/code code or prompt is required");
    interact_rejects(&json!({"code": ""}), "/code code must not be empty");
    interact_rejects(&json!({"code": "x".repeat(100_001)}), "/code code must have at most 100000 characters");
    interact_rejects(&json!({"prompt": "x".repeat(10_001)}), "/prompt prompt must have at most 10000");
    interact_rejects(
        &json!({"code": "1", "timeout": 301}),
        "/timeout timeout must be between 1 and 300, not 301",
    );
    interact_rejects(
        &json!({"code": "1", "timeout": 0.9}),
        "/timeout timeout must be between 1 and 300, not 0.9",
    );
    interact_rejects(&json!({"code": "1", "language": "perl"}), "/language");
    interact_rejects(&json!({"code": 7}), "/code");
    let read = |body: Value| read_request::<InteractRequest>(body.to_string().as_bytes(), ()).unwrap().plan;
    let body = json!({"code": "é".repeat(100_000), "prompt": "p", "language": "bash", "timeout": 1.5, "origin": "cli"});
    let InteractPlan::Code(CodePlan { code, language, timeout }) = read(body) else { panic!("it is code") };
    assert_eq!((code.chars().count(), language), (100_000, InteractLanguage::Bash));
    assert_eq!(timeout, Duration::from_millis(1500));
    let prompt = read(json!({"prompt": "p", "language": "node"}));
    assert_eq!(prompt, InteractPlan::Prompt { prompt: "p".to_owned(), timeout: None });
}

#[test]
fn execute_needs_code() {
    assert!(first(read_request::<ExecuteRequest>(b"{}", ())).starts_with("/code"));
    let plan = read_request::<ExecuteRequest>(br#"{"code": "1"}"#, ()).unwrap().plan;
    let timeout = Duration::from_secs(30);
    assert_eq!(plan, CodePlan { code: "1".to_owned(), language: InteractLanguage::Node, timeout });
}

#[test]
fn session_has_bounds_and_defaults() {
    let policy = Policy::default();
    let read = |body: &Value| read_request::<CreateBrowserRequest>(body.to_string().as_bytes(), &policy);
    for (body, expected) in [
        (json!({"ttl": 29}), "/ttl ttl must be between 30 and 3600, not 29"),
        (json!({"ttl": 3601}), "/ttl ttl must be between 30 and 3600, not 3601"),
        (json!({"activityTtl": 9}), "/activityTtl activityTtl must be between 10 and 3600, not 9"),
        (json!({"activityTtl": 3601}), "/activityTtl"),
        (json!({"profile": {"name": ""}}), "/profile/name"),
        (json!({"profile": {}}), "/profile/name"),
        (json!({"location": {"country": "XX"}}), "/location/country"),
    ] {
        assert!(first(read(&body)).contains(expected), "{body}");
    }
    let plan = read_request::<CreateBrowserRequest>(b" ", &policy).unwrap().plan;
    assert_eq!((plan.ttl, plan.activity_ttl), (Duration::from_secs(600), Duration::from_secs(300)));
    assert!(plan.stream_web_view && plan.scrape.block_ads && plan.scrape.profile.is_none());
    let body =
        json!({"ttl": 3600, "activityTtl": 10, "profile": {"name": "p"}, "recordSession": false, "x": 1});
    assert_eq!(read(&body).unwrap().plan.scrape.profile.as_ref().unwrap().name, "p");
    let zero = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    let text = first(read_request::<CreateBrowserRequest>(br#"{"profile": {"name": "p"}}"#, &zero));
    assert!(text.starts_with("/profile"), "{text}");
}
