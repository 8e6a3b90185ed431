//! Threat protection of a request.

use serde_json::{Value, json};
use websvc_types::ViolationCode::*;
use websvc_types::{ThreatMode, Violation};
use websvc_validate::{Policy, Rejection, SearchPlan, ThreatPolicy, read_search};

use crate::support::Expected;

fn read(body: &Value) -> Result<SearchPlan, Vec<Violation>> {
    let policy = Policy { threat: ThreatPolicy::On, ..Policy::default() };
    match read_search(body.to_string().as_bytes(), &policy) {
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
        let found: Vec<_> =
            found.iter().map(|v| (v.path.strip_prefix(parent).expect("it is inside"), v.code)).collect();
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn values_keep_to_their_bounds() {
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
fn lists_hold_domains_and_wildcards() {
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
fn top_level_domains_are_single_lower_case_labels() {
    for good in ["zip", "com", "xn--p1ai", "рф"] {
        check(&json!({ "blockedTlds": [good] }), &[]);
    }
    for bad in ["", ".zip", "Zip", "co.uk", "*.zip"] {
        check(&json!({ "blockedTlds": [bad] }), &[("/blockedTlds/0", InvalidFormat)]);
    }
}

#[test]
fn the_scrapes_own_protection_wins_over_the_searchs() {
    let body = json!({
        "query": "q",
        "threatProtection": { "mode": "normal", "blacklist": ["B.example"] },
        "scrapeOptions": { "formats": ["markdown"] },
    });
    let plan = read(&body).unwrap();
    assert_eq!(plan.threat().unwrap().blacklist.as_deref(), Some(&["b.example".to_owned()][..]));
    assert_eq!(plan.scrape().unwrap().threat(), plan.threat());
    let mut own = body;
    own["scrapeOptions"]["threatProtection"] = json!({ "mode": "off" });
    let plan = read(&own).unwrap();
    assert_eq!(plan.threat().unwrap().mode, Some(ThreatMode::Normal));
    assert_eq!(plan.scrape().unwrap().threat().unwrap().mode, Some(ThreatMode::Off));
}
