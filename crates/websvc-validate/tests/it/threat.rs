//! Tests of threat protection in a request.

use std::sync::Arc;

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_types::{SearchRequest, ThreatFailurePolicy, ThreatMode, ThreatProtection, Violation};
use websvc_validate::{
    FeaturePolicy, Policy, Rejection, RetentionMode, SearchPlan, ThreatPolicy, ThreatRules, read_request,
};

use crate::support::Expected;

fn read(body: &Value) -> Result<SearchPlan, Vec<Violation>> {
    let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
    match read_request::<SearchRequest>(body.to_string().as_bytes(), &policy) {
        Ok(checked) => Ok(checked.plan),
        Err(Rejection::Invalid(violations)) => Err(violations),
        Err(other) => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(protection: &Value, expected: Expected<'_>) {
    for (body, parent) in [
        (json!({ "query": "q", "threatProtection": protection }), "/threatProtection"),
        (
            json!({ "query": "q", "scrapeOptions": { "threatProtection": protection } }),
            "/scrapeOptions/threatProtection",
        ),
    ] {
        let found = read(&body).err().unwrap_or_default();
        let found: Vec<_> = found
            .iter()
            .map(|v| (v.path.strip_prefix(parent).expect("the path is within the object"), v.code))
            .collect();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn threat_values_out_of_range_are_rejected() {
    let list = |count: usize| (0..count).map(|i| format!("h{i}.example")).collect::<Vec<_>>();
    check(&json!({ "riskScoreThreshold": 0 }), &[]);
    check(&json!({ "riskScoreThreshold": 100 }), &[]);
    check(&json!({ "riskScoreThreshold": 101 }), &[("/riskScoreThreshold", TooBig)]);
    check(&json!({ "riskScoreThreshold": -1 }), &[("/riskScoreThreshold", TooSmall)]);
    check(&json!({ "riskScoreThreshold": 256 }), &[("/riskScoreThreshold", TooBig)]);
    check(&json!({ "mode": "manual-only" }), &[("/mode", UnknownValue)]);
    check(&json!({ "failurePolicy": "ajar" }), &[("/failurePolicy", UnknownValue)]);
    check(&json!({ "blacklist": list(1000), "whitelist": list(1000) }), &[]);
    check(&json!({ "blacklist": list(1001) }), &[("/blacklist", TooLong)]);
    check(&json!({ "whitelist": list(1001) }), &[("/whitelist", TooLong)]);
    check(&json!({ "blockedTlds": vec!["zip"; 1001] }), &[("/blockedTlds", TooLong)]);
}

#[test]
fn threat_lists_accept_domains_and_wildcards() {
    for good in ["example.com", "*.example.com", "*.com", "BÜCHER.example"] {
        check(&json!({ "blacklist": [good], "whitelist": [good] }), &[]);
    }
    for bad in
        ["", "*", "*.", "a.*.example", "*example.com", "http://example.com", "example.com/x", "example.com:1"]
    {
        check(
            &json!({ "blacklist": ["a.example", bad], "whitelist": [bad] }),
            &[("/blacklist/1", InvalidFormat), ("/whitelist/0", InvalidFormat)],
        );
    }
}

#[test]
fn blocked_tlds_must_be_single_lower_case_labels() {
    for good in ["zip", "com", "xn--p1ai", "рф"] {
        check(&json!({ "blockedTlds": [good] }), &[]);
    }
    for bad in ["", ".zip", "Zip", "co.uk", "*.zip"] {
        check(&json!({ "blockedTlds": [bad] }), &[("/blockedTlds/0", InvalidFormat)]);
    }
}

#[test]
fn threat_protection_of_scrape_options_replaces_that_of_the_search() {
    let body = json!({
        "query": "q",
        "threatProtection": { "mode": "normal", "blacklist": ["B.example"] },
        "scrapeOptions": { "formats": ["markdown"] },
    });
    let plan = read(&body).unwrap();
    assert_eq!(plan.threat.as_ref().unwrap().blacklist.as_deref(), Some(&["b.example".to_owned()][..]));
    assert_eq!(plan.scrape.as_ref().unwrap().threat.as_ref(), plan.threat.as_ref());
    let mut own = body;
    own["scrapeOptions"]["threatProtection"] = json!({ "mode": "off" });
    let plan = read(&own).unwrap();
    assert_eq!(plan.threat.as_ref().unwrap().mode, Some(ThreatMode::Normal));
    assert_eq!(plan.scrape.as_ref().unwrap().threat.as_ref().unwrap().mode, Some(ThreatMode::Off));
}

fn team() -> ThreatProtection {
    let list = |entries: &[&str]| Some(entries.iter().map(|&entry| entry.to_owned()).collect());
    ThreatProtection {
        mode: None,
        risk_score_threshold: Some(40),
        blacklist: list(&["bad.example"]),
        whitelist: list(&["good.example"]),
        blocked_tlds: list(&["zip"]),
        failure_policy: Some(ThreatFailurePolicy::Open),
    }
}

/// Returns the threat rules for the results and for the pages of a search.
fn threat_rules(threat: ThreatPolicy, search: &Value, pages: &Value) -> [Option<ThreatRules>; 2] {
    let policy = Policy { threat, threat_values: Arc::new(team()), ..Policy::default() };
    let body = json!({
        "query": "q",
        "threatProtection": search,
        "scrapeOptions": { "formats": ["markdown"], "threatProtection": pages },
    });
    let plan =
        read_request::<SearchRequest>(body.to_string().as_bytes(), &policy).expect("the body is valid").plan;
    [
        plan.protection.clone(),
        plan.scrape.as_ref().expect("the search has formats").protection.as_ref().cloned(),
    ]
}

#[test]
fn absent_threat_values_are_those_of_the_team() {
    let own = json!({ "riskScoreThreshold": 90, "blacklist": [], "failurePolicy": "closed" });
    let [results, pages] = threat_rules(ThreatPolicy::On, &own, &json!({ "blockedTlds": ["mov"] }));
    let (results, pages) = (results.unwrap(), pages.unwrap());
    assert_eq!(results.risk_score_threshold(), 90);
    assert_eq!(results.failure_policy(), Some(ThreatFailurePolicy::Closed));
    assert!(results.blacklist().is_empty(), "an empty list replaces that of the team");
    assert_eq!(
        (results.whitelist(), results.blocked_tlds()),
        (&["good.example".to_owned()][..], &["zip".to_owned()][..])
    );
    // The values of the pages replace those of the team, not those of the search.
    assert_eq!((pages.risk_score_threshold(), pages.blacklist()), (40, &["bad.example".to_owned()][..]));
    assert_eq!(pages.blocked_tlds(), ["mov"]);
}

#[test]
fn threat_rules_apply_unless_turned_off() {
    let (nothing, off) = (json!(null), json!({ "mode": "off" }));
    let apply = |threat, search: &Value, pages: &Value| {
        threat_rules(threat, search, pages).map(|rules| rules.is_some())
    };
    assert_eq!(apply(ThreatPolicy::Off, &nothing, &nothing), [false, false]);
    assert_eq!(apply(ThreatPolicy::On, &nothing, &nothing), [true, true]);
    assert_eq!(apply(ThreatPolicy::Enforced, &nothing, &nothing), [true, true]);
    assert_eq!(apply(ThreatPolicy::Enforced, &json!({ "mode": "normal" }), &json!({})), [true, true]);
    assert_eq!(apply(ThreatPolicy::On, &off, &nothing), [false, false]);
    assert_eq!(apply(ThreatPolicy::On, &off, &json!({})), [false, true]);
    assert_eq!(apply(ThreatPolicy::On, &nothing, &off), [true, false]);
}

#[test]
fn risk_score_threshold_defaults_to_75() {
    let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
    let plan = read_request::<SearchRequest>(br#"{"query":"q"}"#, &policy).unwrap().plan;
    let protection = plan.protection.as_ref().unwrap();
    assert_eq!((protection.risk_score_threshold(), protection.failure_policy()), (75, None));
    assert_eq!(protection.retention(), RetentionMode::Normal);
}

#[test]
fn threat_rules_have_the_retention_of_the_request() {
    let policy = Policy { threat: ThreatPolicy::On, zdr: FeaturePolicy::Allowed, ..Policy::default() };
    for (body, expected) in [
        (json!({ "query": "q", "enterprise": ["zdr"] }), RetentionMode::Zero),
        (
            json!({ "query": "q", "scrapeOptions": { "formats": ["markdown"], "lockdown": true } }),
            RetentionMode::Zero,
        ),
        (json!({ "query": "q", "scrapeOptions": { "formats": ["markdown"] } }), RetentionMode::Normal),
    ] {
        let plan = read_request::<SearchRequest>(body.to_string().as_bytes(), &policy).unwrap().plan;
        assert_eq!(plan.protection.as_ref().unwrap().retention(), expected, "{body}");
        let pages = plan.scrape.as_ref().map(|scrape| scrape.protection.as_ref().unwrap().retention());
        assert!(pages.is_none_or(|pages| pages == expected), "{body}");
    }
}
