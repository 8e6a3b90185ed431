//! What teams may ask for.

use serde_json::{Value, json};
use websvc_validate::{
    Allowance, Policy, Rejection, Retention, ThreatOverride, ThreatPolicy, check_search, read_search,
};

/// Returns what may be kept, or why the request is forbidden.
fn retention(enterprise: &Value, zdr: Allowance, anon: Allowance) -> Result<Retention, String> {
    let body = json!({ "query": "q", "enterprise": enterprise });
    let policy = Policy { zdr, anon, ..Policy::default() };
    match read_search(body.to_string().as_bytes(), &policy) {
        Ok(checked) => Ok(checked.plan.retention()),
        Err(Rejection::Forbidden { message }) => Err(message),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn retention_is_the_strictest_that_is_asked_for_or_demanded() {
    use Allowance::*;
    let table = [
        (json!([]), Off, Off, Retention::Normal),
        (json!(["default"]), Off, Off, Retention::Normal),
        (json!([]), Allowed, Allowed, Retention::Normal),
        (json!(["zdr"]), Allowed, Off, Retention::Zero),
        (json!(["anon"]), Off, Allowed, Retention::Anonymous),
        (json!(["zdr", "anon"]), Allowed, Allowed, Retention::Zero),
        (json!(["anon", "zdr"]), Allowed, Allowed, Retention::Zero),
        (json!([]), Forced, Off, Retention::Zero),
        (json!([]), Off, Forced, Retention::Anonymous),
        (json!(["anon"]), Forced, Allowed, Retention::Zero),
        (json!(["zdr"]), Forced, Off, Retention::Zero),
    ];
    for (enterprise, zdr, anon, expected) in table {
        assert_eq!(retention(&enterprise, zdr, anon), Ok(expected), "{enterprise} {zdr:?} {anon:?}");
    }
}

#[test]
fn a_retention_that_is_not_enabled_is_forbidden() {
    use Allowance::*;
    let refused = |enterprise| retention(&enterprise, Off, Off).unwrap_err();
    assert_eq!(refused(json!(["zdr"])), "enterprise zdr is not enabled for this team");
    assert_eq!(refused(json!(["default", "anon"])), "enterprise anon is not enabled for this team");
    assert!(retention(&json!(["zdr", "anon"]), Allowed, Off).is_err());
}

#[test]
fn threat_protection_needs_its_permission() {
    use ThreatOverride::{Allowed, Denied};
    use ThreatPolicy::{Enforced, Off, On};
    let table = [
        (json!({}), Off, Allowed, false),
        (json!({ "mode": "off" }), Off, Allowed, false),
        (json!({}), On, Allowed, true),
        (json!({ "mode": "off" }), On, Allowed, true),
        (json!({ "mode": "normal" }), Enforced, Allowed, true),
        (json!({ "mode": "off" }), Enforced, Allowed, false),
        (json!({}), On, Denied, false),
        (json!({ "mode": "normal" }), Enforced, Denied, false),
    ];
    for (protection, threat, threat_override, permitted) in table {
        let policy = Policy { threat, threat_override, ..Policy::default() };
        for body in [
            json!({ "query": "q", "threatProtection": protection }),
            json!({ "query": "q", "scrapeOptions": { "threatProtection": protection } }),
        ] {
            let read = read_search(body.to_string().as_bytes(), &policy);
            let forbidden = matches!(read, Err(Rejection::Forbidden { .. }));
            assert_eq!((read.is_ok(), forbidden), (permitted, !permitted), "{body} {policy:?}");
            let request = serde_json::from_value(body).unwrap();
            assert_eq!(check_search(request, &policy).is_ok(), permitted);
        }
    }
}

#[test]
fn what_is_forbidden_is_told_before_what_is_wrong() {
    let body = br#"{"query": "", "limit": 0, "threatProtection": {"mode": "other"}}"#;
    let read = read_search(body, &Policy::default());
    assert!(matches!(read, Err(Rejection::Forbidden { .. })), "{read:?}");
}
