//! The values of threat protection of teams.

use websvc_store::Store;

#[test]
fn values_are_kept_by_team_and_seen_by_every_process() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    let other = Store::open(directory.path()).unwrap();
    assert_eq!(store.threat_values("red").unwrap(), None);
    store.set_threat_values("red", Some(r#"{"blacklist":["a.test"]}"#)).unwrap();
    other.set_threat_values("red", Some(r#"{"riskScoreThreshold":5}"#)).unwrap();
    assert_eq!(store.threat_values("red").unwrap().as_deref(), Some(r#"{"riskScoreThreshold":5}"#));
    assert_eq!(store.threat_values("blue").unwrap(), None, "each team has its own");
    assert!(store.team("red").unwrap().is_some(), "the team was made");
    store.set_threat_values("red", None).unwrap();
    assert_eq!(other.threat_values("red").unwrap(), None);
}

#[test]
fn values_go_with_their_team() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    store.set_threat_values("red", Some(r#"{"blacklist":["a.test"]}"#)).unwrap();
    assert!(store.delete_team("red").unwrap());
    assert_eq!(store.threat_values("red").unwrap(), None);
}

#[test]
fn what_is_no_json_or_no_team_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    assert!(store.set_threat_values("red", Some("{")).is_err());
    assert!(store.set_threat_values("", Some("{}")).is_err());
    assert!(store.team("red").unwrap().is_none(), "nothing is left of what failed");
}
