//! Tests of teams and their policies.

use websvc_store::{
    IndexPolicy, Retention, RobotsAgentPolicy, StoreError, TeamChange, ThreatOverride, ThreatPolicy,
};

use crate::fresh;

#[test]
fn new_key_creates_its_team_with_default_policies() {
    let (_dir, store) = fresh();
    assert_eq!(store.team("blue").unwrap(), None);
    store.create_key("blue", "").unwrap();
    let team = store.team("blue").unwrap().unwrap();
    assert_eq!((team.zdr, team.anon), (Retention::Off, Retention::Off));
    assert_eq!((team.threat_protection, team.threat_override), (ThreatPolicy::Off, ThreatOverride::Allowed));
    assert_eq!((team.credits, team.requests_per_minute, team.concurrency), (None, None, None));
    assert!(!team.audit);
    assert_eq!((team.index, team.page_owner), (IndexPolicy::Shared, None));
    assert_eq!(team.robots_agent, RobotsAgentPolicy::Denied);
}

#[test]
fn team_change_changes_only_its_fields() {
    let (_dir, store) = fresh();
    let all = TeamChange {
        zdr: Some(Retention::Forced),
        anon: Some(Retention::Allowed),
        threat_protection: Some(ThreatPolicy::Enforced),
        threat_override: Some(ThreatOverride::Denied),
        credits: Some(Some(5000)),
        requests_per_minute: Some(Some(60)),
        concurrency: Some(Some(0)),
        audit: Some(true),
        index: Some(IndexPolicy::Team),
        robots_agent: Some(RobotsAgentPolicy::Allowed),
    };
    let created = store.set_team("red", &all).unwrap();
    let unlimited = TeamChange { credits: Some(None), ..TeamChange::default() };
    let mut expected = created.clone();
    expected.credits = None;
    assert_eq!(created.credits, Some(5000));
    assert_eq!((created.zdr, created.threat_override), (Retention::Forced, ThreatOverride::Denied));
    assert_eq!(created.robots_agent, RobotsAgentPolicy::Allowed);
    assert_eq!(store.set_team("red", &unlimited).unwrap(), expected);
    assert_eq!(store.team("red").unwrap(), Some(expected.clone()));
    store.set_team("amber", &TeamChange::default()).unwrap();
    let names: Vec<_> = store.list_teams().unwrap().into_iter().map(|team| team.name).collect();
    assert_eq!(names, ["amber", "red"]);
}

#[test]
fn team_change_is_seen_at_once_in_the_same_process() {
    let (_dir, store) = fresh();
    let key = store.create_key("red", "").unwrap();
    let credits = || store.authenticate(key.secret.expose()).unwrap().unwrap().team.credits;
    assert_eq!(credits(), None);
    store.set_team("red", &TeamChange { credits: Some(Some(7)), ..TeamChange::default() }).unwrap();
    assert_eq!(credits(), Some(7));
}

#[test]
fn credits_are_limited_to_the_largest_sqlite_integer() {
    let (_dir, store) = fresh();
    let change = TeamChange { credits: Some(Some(u64::MAX)), ..TeamChange::default() };
    store.set_team("rich", &change).unwrap();
    assert_eq!(store.team("rich").unwrap().unwrap().credits, Some(i64::MAX as u64));
}

#[test]
fn policies_round_trip_through_their_names() {
    for text in ["off", "allowed", "forced"] {
        assert_eq!(text.parse::<Retention>().unwrap().to_string(), text);
    }
    for text in ["off", "on", "enforced"] {
        assert_eq!(text.parse::<ThreatPolicy>().unwrap().to_string(), text);
    }
    for text in ["shared", "team", "off"] {
        assert_eq!(text.parse::<IndexPolicy>().unwrap().to_string(), text);
    }
    for text in ["allowed", "denied"] {
        assert_eq!(text.parse::<ThreatOverride>().unwrap().to_string(), text);
    }
    let error = "always".parse::<Retention>().unwrap_err();
    assert_eq!(error.to_string(), "\"always\" is not one of off, allowed, forced");
}

#[test]
fn empty_team_name_is_rejected() {
    let (_dir, store) = fresh();
    let error = store.set_team("", &TeamChange::default()).unwrap_err();
    assert!(matches!(error, StoreError::InvalidName { what: "team", .. }), "{error}");
    assert_eq!(store.list_teams().unwrap(), []);
}
