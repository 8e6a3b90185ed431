//! Tests of requests for agent runs.

use serde_json::{Value, json};
use websvc_types::Location;
use websvc_types::ViolationCode::{
    self, InvalidFormat, Missing, NotSupported, TooBig, TooLong, TooShort, TooSmall, UnknownValue,
};
use websvc_types::agent::{AgentEffort, AgentMode, AgentRequest, RunEventKind};
use websvc_validate::{
    AgentPlan, Checked, FeaturePolicy, Policy, Rejection, check_request, read_with_request,
};

use crate::support::check_rejected;

fn read(body: &Value) -> Result<Checked<AgentPlan>, Rejection> {
    let Checked { plan: (request, plan), warnings } =
        read_with_request::<AgentRequest>(body.to_string().as_bytes(), &Policy::default())?;
    let again = check_request(&request, &Policy::default())?;
    assert_eq!(again.plan, plan, "the check can be repeated");
    Ok(Checked { plan, warnings })
}

#[track_caller]
fn accept(body: &Value) -> Checked<AgentPlan> {
    read(body).unwrap_or_else(|rejection| panic!("{rejection}"))
}

#[track_caller]
fn check_violation(body: &Value, path: &str, code: ViolationCode) {
    check_rejected(body, read(body), path, code);
}

#[test]
fn request_with_only_a_prompt_has_the_documented_defaults() {
    let plan = accept(&json!({ "prompt": "x" })).plan;
    assert_eq!((plan.max_credits, plan.effort, plan.mode), (2_500, AgentEffort::Medium, AgentMode::Extract));
    assert!(!plan.is_strict && !plan.allow_interact && plan.urls.is_empty() && plan.webhook.is_none());
}

#[test]
fn official_clients_are_understood() {
    let python = json!({
        "prompt": "x", "urls": ["https://a.test", "a.test/b", "https://a.test"], "maxCredits": 5,
        "strictConstrainToURLs": true, "model": "spark-2", "effort": "high", "mode": "chat",
        "webhook": { "url": "https://hook.test", "events": ["failed", "started", "failed"] },
        "location": { "country": "DE", "languages": ["de"] }, "origin": "python-sdk@4.55.0", "integration": "_e2e-test",
        "zeroDataRetention": false,
    });
    let Checked { plan, warnings } = accept(&python);
    assert_eq!(warnings, Vec::<String>::new());
    let urls: Vec<&str> = plan.urls.iter().map(|target| target.text.as_str()).collect();
    assert_eq!(urls, ["https://a.test", "http://a.test/b"], "each once");
    assert_eq!((plan.is_strict, plan.mode), (true, AgentMode::Chat));
    let (country, languages) = (Some("DE".to_owned()), Some(vec!["de".to_owned()]));
    assert_eq!(plan.location, Some(Location { country, languages, city: None }));
    let events = plan.webhook.unwrap().events;
    assert_eq!(events, [RunEventKind::Started, RunEventKind::Failed]);
    let rust = json!({ "prompt": "x", "urls": ["https://a.test"], "strictConstrainToUrls": true });
    assert!(accept(&rust).plan.is_strict, "the spelling of the Rust client");
    let exchange = accept(&json!({ "prompt": "x", "exchange": { "enabled": true } }));
    assert_eq!(exchange.warnings, ["exchange is not available and was ignored"]);
}

#[test]
fn webhook_events_have_short_and_full_names() {
    let events = |names: &[&str]| {
        let webhook = json!({ "url": "https://hook.test", "events": names });
        accept(&json!({ "prompt": "x", "webhook": webhook })).plan.webhook.unwrap().events
    };
    assert_eq!(
        events(&["agent.completed", "started", "agent.started"]),
        [RunEventKind::Started, RunEventKind::Completed]
    );
    let full = ["agent.started", "agent.action", "agent.completed", "agent.failed", "agent.cancelled"];
    assert_eq!(events(&full), RunEventKind::OF_AGENT);
    for other in ["extract.completed", "crawl.completed", "agent.page"] {
        let webhook = json!({ "url": "https://hook.test", "events": ["started", other] });
        let request = json!({ "prompt": "x", "webhook": webhook });
        check_violation(&request, "/webhook/events/1", UnknownValue);
    }
}

#[test]
fn invalid_values_are_reported_with_path_and_rule() {
    check_violation(&json!({}), "/prompt", Missing);
    check_violation(&json!({ "prompt": " " }), "/prompt", TooShort);
    check_violation(&json!({ "prompt": "x".repeat(10_001) }), "/prompt", TooLong);
    check_violation(&json!({ "prompt": "x", "urls": vec!["http://a.test"; 101] }), "/urls", TooLong);
    check_violation(&json!({ "prompt": "x", "urls": ["ftp://a.test"] }), "/urls/0", InvalidFormat);
    check_violation(&json!({ "prompt": "x", "strictConstrainToURLs": true }), "/urls", Missing);
    check_violation(&json!({ "prompt": "x", "maxCredits": 0 }), "/maxCredits", TooSmall);
    check_violation(&json!({ "prompt": "x", "maxCredits": 1_000_001 }), "/maxCredits", TooBig);
    check_violation(&json!({ "prompt": "x", "model": "x".repeat(129) }), "/model", TooLong);
    check_violation(&json!({ "prompt": "x", "schema": { "type": "objekt" } }), "/schema", InvalidFormat);
    check_violation(
        &json!({ "prompt": "x", "schema": { "$ref": "http://a.test/" } }),
        "/schema",
        InvalidFormat,
    );
    check_violation(&json!({ "prompt": "x", "threadId": "1" }), "/threadId", InvalidFormat);
    check_violation(&json!({ "prompt": "x", "zeroDataRetention": true }), "/zeroDataRetention", NotSupported);
    check_violation(
        &json!({ "prompt": "x", "webhook": { "url": "http://a.test", "events": [] } }),
        "/webhook/events",
        TooShort,
    );
    check_violation(&json!({ "prompt": "x", "surprise": 1 }), "/surprise", ViolationCode::UnknownField);
}

#[test]
fn strict_run_of_a_thread_may_inherit_its_urls() {
    let thread = "0B1F8C1E-6F0F-4F0A-9A53-6F1B2C3D4E5F";
    let plan = accept(&json!({ "prompt": "x", "strictConstrainToURLs": true, "threadId": thread })).plan;
    assert_eq!(plan.thread.as_deref(), Some(thread.to_ascii_lowercase().as_str()));
}

#[test]
fn teams_whose_requests_are_not_stored_have_no_runs() {
    for policy in [
        Policy { zdr: FeaturePolicy::Forced, ..Policy::default() },
        Policy { anon: FeaturePolicy::Forced, ..Policy::default() },
    ] {
        let rejection = read_with_request::<AgentRequest>(br#"{"prompt":"x"}"#, &policy).unwrap_err();
        assert!(rejection.to_string().contains("zero data retention"), "{rejection}");
    }
}

/// Many clients show only the first violation, and compare it with this text.
#[test]
fn invalid_schema_is_reported_before_its_reason() {
    for schema in [json!({ "description": "x".repeat(262_145) }), json!({ "$ref": "http://a.test/" })] {
        let body = json!({ "prompt": "x", "schema": schema }).to_string();
        let Err(Rejection::Invalid(violations)) =
            read_with_request::<AgentRequest>(body.as_bytes(), &Policy::default())
        else {
            panic!("the schema is not valid")
        };
        assert_eq!((&*violations[0].path, &*violations[0].message), ("/schema", "Invalid JSON schema"));
        assert_eq!(violations.len(), 2, "{violations:?}");
    }
}
