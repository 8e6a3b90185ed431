//! Tests of requests for extractions.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_types::ViolationCode::{
    self, InvalidFormat, Missing, NotSupported, TooBig, TooLong, TooSmall, UnknownValue,
};
use websvc_types::agent::RunEventKind;
use websvc_types::extract::ExtractRequest;
use websvc_validate::{
    Checked, ExtractPlan, ExtractTarget, FeaturePolicy, Policy, Rejection, check_request, read_with_request,
};

use crate::support::check_rejected;

fn read(body: &Value) -> Result<Checked<ExtractPlan>, Rejection> {
    let Checked { plan: (request, plan), warnings } =
        read_with_request::<ExtractRequest>(body.to_string().as_bytes(), &Policy::default())?;
    let again = check_request(&request, &Policy::default())?;
    assert_eq!(again.plan, plan, "the check can be repeated");
    Ok(Checked { plan, warnings })
}

#[track_caller]
fn accept(body: &Value) -> Checked<ExtractPlan> {
    read(body).unwrap_or_else(|rejection| panic!("{rejection}"))
}

#[track_caller]
fn check_violation(body: &Value, path: &str, code: ViolationCode) {
    check_rejected(body, read(body), path, code);
}

#[test]
fn request_with_only_a_prompt_searches_with_the_documented_defaults() {
    let plan = accept(&json!({ "prompt": "x" })).plan;
    assert!(plan.targets.is_empty() && plan.searches && plan.include_subdomains);
    assert!(!plan.ignore_sitemap && !plan.allow_external_links && !plan.show_sources && !plan.url_trace);
    assert_eq!((plan.limit, plan.max_pages(), plan.timeout), (10, 10, None));
    assert_eq!(plan.invalid_urls, Some(Vec::new()));
}

#[test]
fn pages_and_sites_are_distinguished_and_bounded() {
    let body = json!({
        "urls": ["a.test/*", "https://a.test/docs/*", "https://a.test/", "https://a.test/", "https://a.test/*/x"],
        "limit": 7,
    });
    let plan = accept(&body).plan;
    let targets: Vec<(bool, &str)> = plan
        .targets
        .iter()
        .map(|target| (matches!(target, ExtractTarget::Site(_)), target.target().url.as_str()))
        .collect();
    assert_eq!(
        targets,
        [
            (true, "http://a.test/"),
            (true, "https://a.test/docs"),
            (false, "https://a.test/"),
            (false, "https://a.test/*/x"),
        ]
    );
    assert_eq!((plan.searches, plan.max_pages()), (false, 16));
    let all = accept(&json!({ "urls": ["a.test/*", "b.test/*"], "prompt": "x", "enableWebSearch": true,
        "limit": 1_000, "timeout": 1_000 }));
    assert_eq!((all.plan.limit, all.plan.max_pages()), (100, 100));
    assert!(all.plan.searches && all.plan.allow_external_links, "external links follow the search");
    assert_eq!(all.plan.timeout, Some(Duration::from_secs(1)));
    assert_eq!(all.warnings, ["limit is 1000, which counts as 100, the maximum"]);
}

#[test]
fn options_without_effect_have_a_warning() {
    let check = |fields: Value, expected: &str| {
        let mut body = json!({ "urls": ["https://a.test/"] });
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        let warnings = accept(&body).warnings;
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{body}: {warnings:?}");
    };
    check(json!({ "enableWebSearch": true }), "a search needs a prompt");
    check(json!({ "agent": { "model": "FIRE-1" } }), "agent is not available");
    check(json!({ "scrapeOptions": { "formats": ["markdown", "html"] } }), "formats was ignored");
    let silent = json!({ "urls": ["https://a.test/"], "scrapeOptions": { "formats": ["markdown"] },
        "__experimental_stream": true, "origin": "x", "integration": "y" });
    assert_eq!(accept(&silent).warnings, Vec::<String>::new());
}

#[test]
fn ignored_formats_are_checked() {
    let body =
        |formats: Value| json!({ "urls": ["https://a.test/"], "scrapeOptions": { "formats": formats } });
    let question = json!([{ "type": "query", "prompt": "" }]);
    check_violation(&body(question), "/scrapeOptions/formats/0/question", ViolationCode::TooShort);
    let twice = json!([{ "type": "json", "prompt": "a" }, { "type": "json", "prompt": "b" }]);
    check_violation(&body(twice), "/scrapeOptions/formats/1", ViolationCode::Conflict);
}

#[test]
fn broken_rules_are_violations_of_their_field() {
    let page = |number: u32| format!("https://a.test/{number}");
    let eleven: Vec<String> = (0..11).map(page).collect();
    let long = "x".repeat(10_001);
    check_violation(&json!({}), "/urls", Missing);
    check_violation(&json!({ "urls": [], "prompt": " " }), "/urls", Missing);
    check_violation(&json!({ "urls": eleven }), "/urls", TooLong);
    check_violation(&json!({ "urls": ["ftp://a.test/"] }), "/urls", InvalidFormat);
    check_violation(
        &json!({ "urls": ["ftp://a.test/"], "ignoreInvalidURLs": false }),
        "/urls/0",
        InvalidFormat,
    );
    check_violation(&json!({ "prompt": long }), "/prompt", TooLong);
    check_violation(&json!({ "prompt": "x", "systemPrompt": long }), "/systemPrompt", TooLong);
    check_violation(&json!({ "prompt": "x", "limit": 0 }), "/limit", TooSmall);
    check_violation(&json!({ "prompt": "x", "timeout": 999 }), "/timeout", TooSmall);
    check_violation(&json!({ "prompt": "x", "timeout": 86_400_001 }), "/timeout", TooBig);
    check_violation(&json!({ "prompt": "x", "agent": { "model": "v3-beta" } }), "/agent/model", NotSupported);
    check_violation(&json!({ "prompt": "x", "schema": { "type": "objekt" } }), "/schema", InvalidFormat);
    let lockdown = json!({ "prompt": "x", "scrapeOptions": { "lockdown": true } });
    check_violation(&lockdown, "/scrapeOptions/lockdown", NotSupported);
    for event in ["action", "cancelled", "extract.cancelled", "agent.completed", "crawl.completed"] {
        let webhook = json!({ "url": "https://hook.test", "events": ["started", event] });
        check_violation(&json!({ "prompt": "x", "webhook": webhook }), "/webhook/events/1", UnknownValue);
    }
}

#[test]
fn webhook_events_have_short_and_full_names() {
    let events = |webhook: Value| {
        accept(&json!({ "prompt": "x", "webhook": webhook })).plan.webhook.map(|webhook| webhook.events)
    };
    let url = "https://hook.test";
    let all = [RunEventKind::Started, RunEventKind::Completed, RunEventKind::Failed];
    assert_eq!(events(json!(url)).unwrap(), all);
    assert_eq!(events(json!({ "url": url })).unwrap(), all);
    let names = ["extract.failed", "completed", "extract.completed"];
    assert_eq!(events(json!({ "url": url, "events": names })).unwrap(), all[1..]);
}

#[test]
fn rejected_webhook_event_is_answered_with_the_events_of_an_extraction() {
    let webhook = json!({ "url": "https://hook.test", "events": ["action"] });
    let error = read(&json!({ "prompt": "x", "webhook": webhook })).unwrap_err();
    let Rejection::Invalid(violations) = error else { panic!("{error:?}") };
    let names = "started, completed, failed, extract.started, extract.completed, extract.failed";
    assert!(violations[0].message.contains(&format!("one of {names}, not")), "{violations:?}");
}

#[test]
fn teams_whose_requests_are_not_stored_have_no_extractions() {
    for policy in [
        Policy { zdr: FeaturePolicy::Forced, ..Policy::default() },
        Policy { anon: FeaturePolicy::Forced, ..Policy::default() },
    ] {
        let Err(Rejection::Invalid(violations)) =
            read_with_request::<ExtractRequest>(br#"{"prompt":"x"}"#, &policy)
        else {
            panic!("{policy:?}")
        };
        assert!(violations[0].message.contains("not available with zero data retention"));
    }
}
