//! Tests of the threat protection values of teams.

use std::time::{Duration, Instant};

#[test]
fn threat_values_are_stored_by_team_and_seen_by_all_processes() {
    let directory = tempfile::tempdir().unwrap();
    let store = crate::open(directory.path());
    let other = crate::open(directory.path());
    assert_eq!(store.threat_values("red").unwrap(), None);
    store.set_threat_values("red", Some(r#"{"blacklist":["a.test"]}"#)).unwrap();
    other.set_threat_values("red", Some(r#"{"riskScoreThreshold":5}"#)).unwrap();
    assert_eq!(store.threat_values("red").unwrap().as_deref(), Some(r#"{"riskScoreThreshold":5}"#));
    assert_eq!(store.threat_values("blue").unwrap(), None, "each team has its own");
    assert!(store.team("red").unwrap().is_some(), "the team was created");
    store.set_threat_values("red", None).unwrap();
    assert_eq!(other.threat_values("red").unwrap(), None);
}

#[test]
fn recent_threat_values_follow_changes_of_all_processes() {
    let directory = tempfile::tempdir().unwrap();
    let store = crate::open(directory.path());
    let other = crate::open(directory.path());
    let recent = || store.recent_threat_values("red").unwrap();
    let until = |expected: Option<&str>| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while recent().as_deref() != expected {
            assert!(Instant::now() < deadline, "{:?} instead of {expected:?}", recent());
            std::thread::yield_now();
        }
    };
    assert_eq!(recent(), None);
    store.set_threat_values("red", Some("[1]")).unwrap();
    assert_eq!(recent().as_deref(), Some("[1]"), "a change by the same process is seen at once");
    other.set_threat_values("red", Some("[2]")).unwrap();
    until(Some("[2]"));
    other.set_threat_values("red", None).unwrap();
    until(None);
    other.set_threat_values("red", Some("[3]")).unwrap();
    until(Some("[3]"));
    assert!(other.delete_team("red").unwrap());
    until(None);
}

#[test]
fn threat_values_are_deleted_with_their_team() {
    let directory = tempfile::tempdir().unwrap();
    let store = crate::open(directory.path());
    store.set_threat_values("red", Some(r#"{"blacklist":["a.test"]}"#)).unwrap();
    assert!(store.delete_team("red").unwrap());
    assert_eq!(store.threat_values("red").unwrap(), None);
}

#[test]
fn invalid_json_and_empty_team_name_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let store = crate::open(directory.path());
    assert!(store.set_threat_values("red", Some("{")).is_err());
    assert!(store.set_threat_values("", Some("{}")).is_err());
    assert!(store.team("red").unwrap().is_none(), "the failed transaction created no team");
}
