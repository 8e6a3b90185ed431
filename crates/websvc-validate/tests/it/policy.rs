//! Tests of team permissions.

use serde_json::{Value, json};
use websvc_types::SearchRequest;
use websvc_types::job::{BatchScrapeRequest, CrawlRequest};
use websvc_validate::{
    FeaturePolicy, Policy, Rejection, RetentionMode, RobotsAgentPolicy, ThreatOverride, ThreatPolicy,
    check_request, read_request,
};

/// Returns the retention of a search, or the message if it is forbidden.
fn retention(enterprise: &Value, zdr: FeaturePolicy, anon: FeaturePolicy) -> Result<RetentionMode, String> {
    let body = json!({ "query": "q", "enterprise": enterprise });
    let policy = Policy { zdr, anon, ..Policy::default() };
    match read_request::<SearchRequest>(body.to_string().as_bytes(), &policy) {
        Ok(checked) => Ok(checked.plan.retention),
        Err(Rejection::Forbidden { message }) => Err(message),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn retention_is_the_strictest_of_request_and_policy() {
    use FeaturePolicy::*;
    let table = [
        (json!([]), Off, Off, RetentionMode::Normal),
        (json!(["default"]), Off, Off, RetentionMode::Normal),
        (json!([]), Allowed, Allowed, RetentionMode::Normal),
        (json!(["zdr"]), Allowed, Off, RetentionMode::Zero),
        (json!(["anon"]), Off, Allowed, RetentionMode::Anonymous),
        (json!(["zdr", "anon"]), Allowed, Allowed, RetentionMode::Zero),
        (json!(["anon", "zdr"]), Allowed, Allowed, RetentionMode::Zero),
        (json!([]), Forced, Off, RetentionMode::Zero),
        (json!([]), Off, Forced, RetentionMode::Anonymous),
        (json!(["anon"]), Forced, Allowed, RetentionMode::Zero),
        (json!(["zdr"]), Forced, Off, RetentionMode::Zero),
    ];
    for (enterprise, zdr, anon, expected) in table {
        assert_eq!(retention(&enterprise, zdr, anon), Ok(expected), "{enterprise} {zdr:?} {anon:?}");
    }
}

#[test]
fn retention_without_permission_is_forbidden() {
    use FeaturePolicy::*;
    let message = |enterprise| retention(&enterprise, Off, Off).unwrap_err();
    assert_eq!(message(json!(["zdr"])), "enterprise zdr is not enabled for this team");
    assert_eq!(message(json!(["default", "anon"])), "enterprise anon is not enabled for this team");
    assert!(retention(&json!(["zdr", "anon"]), Allowed, Off).is_err());
}

#[test]
fn job_without_retention_is_forbidden_with_its_reason_whatever_the_team_may() {
    use FeaturePolicy::*;
    let table = [(true, Off, Off), (true, Allowed, Off), (false, Forced, Off), (false, Off, Forced)];
    for (zero, zdr, anon) in table {
        let policy = Policy { zdr, anon, ..Policy::default() };
        let batch = json!({ "urls": ["http://tea.test/"], "zeroDataRetention": zero }).to_string();
        let crawl = json!({ "url": "http://tea.test/", "zeroDataRetention": zero }).to_string();
        let rejections = [
            read_request::<BatchScrapeRequest>(batch.as_bytes(), &policy).err(),
            read_request::<CrawlRequest>(crawl.as_bytes(), &policy).err(),
        ];
        for rejection in rejections {
            let Some(Rejection::Forbidden { message }) = rejection else { panic!("{rejection:?}") };
            assert!(message.contains("their URLs and documents are stored"), "{message}");
        }
    }
}

#[test]
fn user_agent_in_robots_txt_requires_the_permission() {
    let read = |agent: &str, robots_agent: RobotsAgentPolicy| {
        let body = json!({ "url": "http://tea.test/", "robotsUserAgent": agent }).to_string();
        read_request::<CrawlRequest>(body.as_bytes(), &Policy { robots_agent, ..Policy::default() })
    };
    assert!(matches!(read("tea-bot", RobotsAgentPolicy::Denied), Err(Rejection::Forbidden { .. })));
    let plan = read("tea-bot", RobotsAgentPolicy::Allowed).unwrap().plan;
    assert_eq!(plan.robots_agent.as_deref(), Some("tea-bot"));
    for invalid in ["", " ", &"a".repeat(257)] {
        let Err(Rejection::Invalid(violations)) = read(invalid, RobotsAgentPolicy::Allowed) else {
            panic!("{invalid:?} is accepted")
        };
        assert_eq!(violations[0].path, "/robotsUserAgent");
    }
}

#[test]
fn threat_protection_requires_the_permission() {
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
            let read = read_request::<SearchRequest>(body.to_string().as_bytes(), &policy);
            let forbidden = matches!(read, Err(Rejection::Forbidden { .. }));
            assert_eq!((read.is_ok(), forbidden), (permitted, !permitted), "{body} {policy:?}");
            let request: SearchRequest = serde_json::from_value(body).unwrap();
            assert_eq!(check_request(&request, &policy).is_ok(), permitted);
        }
    }
}

#[test]
fn missing_permission_takes_precedence_over_violations() {
    let body = br#"{"query": "", "limit": 0, "threatProtection": {"mode": "other"}}"#;
    let read = read_request::<SearchRequest>(body, &Policy::default());
    assert!(matches!(read, Err(Rejection::Forbidden { .. })), "{read:?}");
}
