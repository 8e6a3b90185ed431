//! Tests of the owners of checks: one replica at a time works on a check of a monitor.

use websvc_store::{CheckPageStatus, CheckStatus, MonitorLimits, RecordPagesOutcome, ReplicaRole, Store};

use crate::monitors::{finish, finished, manual, monitor, page, record, scheduled, start};
use crate::server::{eventually, on_server, open_elsewhere};

fn join(store: &Store) {
    store.join_replicas(ReplicaRole::Worker).unwrap();
}

/// Returns the identifiers of the checks that the store owns after it took over those without an owner.
fn owned(store: &Store) -> Vec<String> {
    store.claim_checks(100).unwrap().into_iter().map(|check| check.id).collect()
}

#[test]
fn process_that_joins_a_file_owns_all_checks() {
    let (_dir, store) = crate::fresh_file();
    start(&store, &manual(&monitor(&store, "m", None), "before"), 1);
    join(&store);
    start(&store, &manual(&monitor(&store, "n", None), "after"), 1);
    assert_eq!(owned(&store), ["before", "after"]);
    join(&store);
    assert_eq!(owned(&store), ["before", "after"]);
}

#[test]
fn claim_takes_over_at_most_as_many_checks_as_requested() {
    let (_dir, store) = crate::fresh_file();
    for id in ["a", "b", "c"] {
        start(&store, &manual(&monitor(&store, id, None), id), 1);
    }
    join(&store);
    assert_eq!(store.claim_checks(2).unwrap().len(), 2);
    assert_eq!(store.claim_checks(0).unwrap().len(), 2);
    assert_eq!(store.claim_checks(2).unwrap().len(), 3);
}

#[test]
fn check_of_a_lost_replica_is_taken_over_and_its_late_pages_are_rejected() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let monitor = monitor(&store, "m", Some(10));
    let check = start(&other, &scheduled(&monitor, "a", 20), 11);
    let new = |url| page(url, CheckPageStatus::New, websvc_store::BaselineChange::Keep);
    record(&other, &check, vec![new("u")], 12);
    assert_eq!((owned(&store), owned(&other)), (vec![], vec!["a".to_owned()]));
    let limits = MonitorLimits::default();
    let foreign = store.record_check_pages(check.number, vec![new("v")], &limits, 12).unwrap();
    assert_eq!(foreign, RecordPagesOutcome::NotRunning);
    assert!(!store.set_check_progress(check.number, CheckStatus::Running, "{}", 12).unwrap());
    assert_eq!(store.finish_check(check.number, &finished(CheckStatus::Completed), 99, 12).unwrap(), None);
    // A replica that ends frees what it owns.
    drop((other, elsewhere));
    assert_eq!(owned(&store), ["a"]);
    assert_eq!(record(&store, &check, vec![new("u"), new("v")], 13), [false, true]);
    assert_eq!(finish(&store, &check, CheckStatus::Completed, 14).last_summary.unwrap().total, 2);
}

#[test]
fn leaving_replica_hands_its_checks_over_and_records_nothing_more() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let monitor = monitor(&store, "m", Some(10));
    let check = start(&store, &scheduled(&monitor, "a", 20), 11);
    store.leave_replicas().unwrap();
    assert_eq!((owned(&store), owned(&other)), (vec![], vec!["a".to_owned()]));
    let new = |url| page(url, CheckPageStatus::New, websvc_store::BaselineChange::Keep);
    let limits = MonitorLimits::default();
    let late = store.record_check_pages(check.number, vec![new("u")], &limits, 12).unwrap();
    assert_eq!(late, RecordPagesOutcome::NotRunning);
    assert_eq!(record(&other, &check, vec![new("u")], 13), [true]);
}

#[test]
fn replica_that_joins_again_does_not_own_its_old_checks() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    let check = start(&store, &manual(&monitor(&store, "m", None), "a"), 1);
    join(&store);
    assert_eq!(owned(&other), ["a"]);
    assert!(!store.set_check_progress(check.number, CheckStatus::Running, "{}", 2).unwrap());
    assert!(other.set_check_progress(check.number, CheckStatus::Running, "{}", 2).unwrap());
}

#[test]
fn unowned_checks_are_shared_evenly() {
    let Some((dir, store)) = on_server() else { return };
    for number in 0..40 {
        let id = format!("m{number}");
        start(&store, &manual(&monitor(&store, &id, None), &id), 1);
    }
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    eventually(|| (store.workers() == 2 && other.workers() == 2).then_some(()));
    assert_eq!((owned(&store).len(), owned(&other).len()), (20, 20));
    assert_eq!(store.monitor_metrics(0).unwrap().running, 40);
}
