//! The records of artifacts: their states, the bound on all of them, and what is left to remove.

use websvc_store::{ArtifactRecord, ArtifactTotals, ReserveOutcome, Store};

use crate::fresh;

fn record(id: &str, bytes: u64, created_at_ms: u64) -> ArtifactRecord {
    ArtifactRecord {
        id: id.to_owned(),
        team: "default".to_owned(),
        kind: "png".to_owned(),
        bytes,
        created_at_ms,
        expires_at_ms: created_at_ms + 1000,
    }
}

/// Stores a record that can be read, and returns the names of those that had to leave for it.
fn put(store: &Store, record: &ArtifactRecord, max_bytes: u64) -> Vec<String> {
    let ReserveOutcome::Reserved { displaced } = store.reserve_artifact(record, max_bytes).unwrap() else {
        panic!("no room for {record:?}");
    };
    assert!(store.publish_artifact(&record.id).unwrap());
    displaced.into_iter().map(|record| record.id).collect()
}

fn leaving(store: &Store, now_ms: u64, abandoned_ms: u64) -> Vec<String> {
    store.take_expired_artifacts(now_ms, abandoned_ms).unwrap().into_iter().map(|record| record.id).collect()
}

#[test]
fn the_secret_is_made_once_and_kept() {
    let (dir, store) = fresh();
    let secret = store.artifact_secret().unwrap();
    assert_ne!(secret, [0; 32]);
    assert_eq!(store.artifact_secret().unwrap(), secret);
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().artifact_secret().unwrap(), secret);
    let (_other_dir, other) = fresh();
    assert_ne!(other.artifact_secret().unwrap(), secret);
}

#[test]
fn an_artifact_is_readable_from_when_it_is_ready_until_it_leaves() {
    let (_dir, store) = fresh();
    let a = record("a", 10, 5000);
    assert_eq!(store.reserve_artifact(&a, 100).unwrap(), ReserveOutcome::Reserved { displaced: Vec::new() });
    assert_eq!(store.artifact("a").unwrap(), None);
    assert!(store.publish_artifact("a").unwrap());
    assert_eq!(store.artifact("a").unwrap(), Some(a.clone()));
    assert_eq!(leaving(&store, 5999, 0), Vec::<String>::new());
    assert_eq!(leaving(&store, 6000, 0), ["a"]);
    assert_eq!(store.artifact("a").unwrap(), None);
    // Until its content is gone it is handed out again: the removal may have been broken off.
    assert_eq!(leaving(&store, 6000, 0), ["a"]);
    store.remove_artifact("a").unwrap();
    assert_eq!(leaving(&store, 6000, 0), Vec::<String>::new());
    assert_eq!(store.artifact_totals().unwrap(), ArtifactTotals { artifacts: 0, bytes: 0 });
}

#[test]
fn the_oldest_make_room() {
    let (_dir, store) = fresh();
    assert_eq!(put(&store, &record("b", 40, 2), 100), Vec::<String>::new());
    assert_eq!(put(&store, &record("a", 40, 1), 100), Vec::<String>::new());
    assert_eq!(put(&store, &record("c", 20, 3), 100), Vec::<String>::new());
    assert_eq!(put(&store, &record("d", 1, 4), 100), ["a"]);
    assert_eq!(put(&store, &record("e", 100, 5), 100), ["b", "c", "d"]);
    assert_eq!(store.artifact("d").unwrap(), None);
    assert_eq!(store.artifact("e").unwrap().unwrap().bytes, 100);
}

#[test]
fn what_does_not_fit_displaces_nothing() {
    let (_dir, store) = fresh();
    put(&store, &record("a", 40, 1), 100);
    assert_eq!(
        store.reserve_artifact(&record("b", 101, 2), 100).unwrap(),
        ReserveOutcome::NoRoom { arriving_bytes: 0 }
    );
    // One that is being written stays, whatever comes.
    store.reserve_artifact(&record("c", 60, 3), 100).unwrap();
    assert_eq!(
        store.reserve_artifact(&record("d", 41, 4), 100).unwrap(),
        ReserveOutcome::NoRoom { arriving_bytes: 60 }
    );
    assert!(store.artifact("a").unwrap().is_some());
}

#[test]
fn what_was_never_finished_is_removed() {
    let (_dir, store) = fresh();
    store.reserve_artifact(&record("a", 1, 1000), 100).unwrap();
    assert_eq!(leaving(&store, 0, 1000), Vec::<String>::new());
    assert_eq!(leaving(&store, 0, 1001), ["a"]);
    assert!(!store.publish_artifact("a").unwrap(), "it has no room any more");
}

#[test]
fn removal_is_handed_out_in_bounded_batches() {
    let (_dir, store) = fresh();
    for n in 0..70 {
        put(&store, &record(&format!("{n:02}"), 1, n), 100);
    }
    let first = leaving(&store, u64::MAX >> 1, 0);
    assert_eq!((first.len(), first[0].as_str()), (64, "00"));
    for id in &first {
        store.remove_artifact(id).unwrap();
    }
    assert_eq!(leaving(&store, 0, 0).len(), 6);
}
