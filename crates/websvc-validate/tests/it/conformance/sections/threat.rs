//! Section 2.3: threat protection.

use serde_json::json;
use websvc_types::ViolationCode::*;
use websvc_types::{ThreatFailurePolicy, ThreatMode, ThreatProtection};
use websvc_validate::{Policy, SearchPlan, ThreatOverride, ThreatPolicy};

use crate::conformance::json::Raw;
use crate::conformance::row::{Place, Row, everything, row, search, threat};

pub(super) fn rows() -> Vec<Row> {
    vec![
        mode(),
        risk_score_threshold(),
        domains("2.3 blacklist", "blacklist", |plan| read(plan).blacklist),
        domains("2.3 whitelist", "whitelist", |plan| read(plan).whitelist),
        blocked_tlds(),
        failure_policy(),
        permission(),
    ]
}

fn read(plan: &SearchPlan) -> ThreatProtection {
    plan.threat.clone().unwrap_or_default()
}

fn rule(name: &'static str, rule: &'static str, place: Place) -> Row {
    row(name, rule).by(everything()).at(place)
}

fn enforced() -> Policy {
    Policy { threat: ThreatPolicy::Enforced, ..everything() }
}

fn mode() -> Row {
    rule("2.3 mode", "off or normal; not off if protection is enforced for the team", threat("mode"))
        .reads("off", |plan| read(plan).mode, Some(ThreatMode::Off))
        .reads("normal", |plan| read(plan).mode, Some(ThreatMode::Normal))
        .reads(json!(null), |plan| read(plan).mode, None)
        .bad("manual-only", UnknownValue)
        .bad(false, InvalidType)
        .by(enforced())
        .ok("normal")
        .forbidden("off")
        .tested("websvc-validate", "threat_rules_apply_unless_turned_off")
        .tested("websvc-cli", "threat_protection_request_without_permission_is_forbidden")
}

fn risk_score_threshold() -> Row {
    let place = threat("riskScoreThreshold");
    rule("2.3 riskScoreThreshold", "integer from 0 to 100", place)
        .ok(0)
        .ok(100)
        .ok(json!(null))
        .reads(50.0, |plan| read(plan).risk_score_threshold, Some(50))
        .reads(Raw("-0.0"), |plan| read(plan).risk_score_threshold, Some(0))
        .bad(-1, TooSmall)
        .bad(101, TooBig)
        .bad(0.5, InvalidType)
        .bad("50", InvalidType)
        .tested("websvc-scrape", "score_at_or_above_the_threshold_blocks")
}

fn domains(name: &'static str, field: &str, read: fn(&SearchPlan) -> Option<Vec<String>>) -> Row {
    let single = |domain: &str| Some(vec![domain.to_owned()]);
    rule(
        name,
        "at most 1000 domains or wildcards `*.<domain>`, without protocol, path and port",
        threat(field),
    )
    .reads(json!(null), read, None)
    .reads(json!([]), read, Some(vec![]))
    .reads(json!(["Example.COM"]), read, single("example.com"))
    .reads(json!(["*.Example.com"]), read, single("*.example.com"))
    .reads(json!(["*.b\u{fc}cher.example"]), read, single("*.xn--bcher-kva.example"))
    .ok(vec!["a.example".to_owned(); 1000])
    .bad(vec!["a.example".to_owned(); 1001], TooLong)
    .bad_in(json!(["a.example", "https://a.example"]), &[("/1", InvalidFormat)])
    .bad_in(json!(["a.example/x"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["a.example:80"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*."]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*a.example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["a.*.example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*.*.example"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["", 1]), &[("/0", InvalidFormat), ("/1", InvalidType)])
    .bad("a.example", InvalidType)
    .tested("websvc-scrape", "plain_domain_covers_its_subdomains_and_wildcard_only_those")
    .tested("websvc-scrape", "every_spelling_of_a_host_is_matched")
    .tested("websvc-scrape", "whitelist_takes_precedence_over_other_lists")
    .tested("websvc-scrape", "whitelist_blacklist_tld_and_score_apply_in_this_order")
}

fn blocked_tlds() -> Row {
    let tlds = |plan: &SearchPlan| read(plan).blocked_tlds;
    rule(
        "2.3 blockedTlds",
        "at most 1000 top-level domains in lower case, without the dot",
        threat("blockedTlds"),
    )
    .reads(json!(["zip", "xn--p1ai"]), tlds, Some(vec!["zip".to_owned(), "xn--p1ai".to_owned()]))
    .reads(json!(["\u{440}\u{444}"]), tlds, Some(vec!["xn--p1ai".to_owned()]))
    .ok(vec!["zip".to_owned(); 1000])
    .bad(vec!["zip".to_owned(); 1001], TooLong)
    .bad_in(json!([".zip"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["zip."]), &[("/0", InvalidFormat)])
    .bad_in(json!(["Zip"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["\u{420}\u{424}"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["co.uk"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["co\u{3002}uk"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["*.zip"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["z_p"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["123"]), &[("/0", InvalidFormat)])
    .bad_in(json!(["", null]), &[("/0", InvalidFormat), ("/1", InvalidType)])
    .bad("zip", InvalidType)
    .tested("websvc-scrape", "top_level_domain_is_the_last_label_of_a_name")
}

fn failure_policy() -> Row {
    let policy = |plan: &SearchPlan| read(plan).failure_policy;
    rule("2.3 failurePolicy", "open or closed", threat("failurePolicy"))
        .reads("open", policy, Some(ThreatFailurePolicy::Open))
        .reads("closed", policy, Some(ThreatFailurePolicy::Closed))
        .reads(json!(null), policy, None)
        .bad("ajar", UnknownValue)
        .bad(true, InvalidType)
        .tested("websvc-scrape", "failure_policy_decides_without_a_verdict")
        .tested("websvc-cli", "failure_policy_applies_while_the_scanner_fails")
}

fn permission() -> Row {
    row(
        "2.3 permission",
        "403 unless enabled for the team, and for every request with the object if overrides \
         are disabled",
    )
    .at(search("threatProtection"))
    .forbidden(json!({}))
    .forbidden(json!({ "mode": "normal" }))
    .by(Policy { threat_override: ThreatOverride::Denied, ..everything() })
    .forbidden(json!({}))
    .by(Policy { threat_override: ThreatOverride::Denied, ..enforced() })
    .forbidden(json!({ "mode": "normal" }))
    .by(enforced())
    .ok(json!({}))
    .tested("websvc-validate", "threat_protection_requires_the_permission")
    .tested("websvc-validate", "missing_permission_takes_precedence_over_violations")
}
