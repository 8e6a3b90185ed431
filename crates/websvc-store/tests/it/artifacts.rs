//! Tests of artifact records: states, the limit of their total size, expiry.

use websvc_store::{ArtifactRecord, ReserveOutcome, Store};

use crate::engine::Rows;
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

/// Stores a readable record, and returns the identifiers of the artifacts that were evicted for it.
fn put(store: &Store, record: &ArtifactRecord, max_bytes: u64) -> Vec<String> {
    let ReserveOutcome::Reserved { evicted } = store.reserve_artifact(record, max_bytes).unwrap() else {
        panic!("no space for {record:?}");
    };
    assert!(store.publish_artifact(&record.id).unwrap());
    evicted.into_iter().map(|record| record.id).collect()
}

/// Returns the identifiers of the artifacts to be removed.
fn take_expired(store: &Store, now_ms: u64, abandoned_ms: u64) -> Vec<String> {
    store.take_expired_artifacts(now_ms, abandoned_ms).unwrap().into_iter().map(|record| record.id).collect()
}

#[test]
fn signing_secret_is_created_once_and_stored() {
    let (dir, store) = fresh();
    let secret = store.artifact_secret().unwrap();
    assert_ne!(secret, [0; 32]);
    assert_eq!(store.artifact_secret().unwrap(), secret);
    drop(store);
    assert_eq!(crate::open(dir.path()).artifact_secret().unwrap(), secret);
    let (_other_dir, other) = fresh();
    assert_ne!(other.artifact_secret().unwrap(), secret);
}

#[test]
fn artifact_is_readable_after_publish_until_it_expires() {
    let (dir, store) = fresh();
    let a = record("a", 10, 5000);
    assert_eq!(store.reserve_artifact(&a, 100).unwrap(), ReserveOutcome::Reserved { evicted: Vec::new() });
    assert_eq!(store.artifact("a").unwrap(), None);
    assert!(store.publish_artifact("a").unwrap());
    assert_eq!(store.artifact("a").unwrap(), Some(a.clone()));
    assert_eq!(take_expired(&store, 5999, 0), Vec::<String>::new());
    assert_eq!(take_expired(&store, 6000, 0), ["a"]);
    assert_eq!(store.artifact("a").unwrap(), None);
    // It is returned again until it is removed, because the removal may have been interrupted.
    assert_eq!(take_expired(&store, 6000, 0), ["a"]);
    store.remove_artifact("a").unwrap();
    assert_eq!(take_expired(&store, 6000, 0), Vec::<String>::new());
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM artifacts"), 0);
}

#[test]
fn oldest_artifacts_are_evicted_first() {
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
fn artifact_that_does_not_fit_evicts_nothing() {
    let (_dir, store) = fresh();
    put(&store, &record("a", 40, 1), 100);
    assert_eq!(
        store.reserve_artifact(&record("b", 101, 2), 100).unwrap(),
        ReserveOutcome::NoSpace { reserved_bytes: 0 }
    );
    // An artifact that is being written cannot be evicted.
    store.reserve_artifact(&record("c", 60, 3), 100).unwrap();
    assert_eq!(
        store.reserve_artifact(&record("d", 41, 4), 100).unwrap(),
        ReserveOutcome::NoSpace { reserved_bytes: 60 }
    );
    assert!(store.artifact("a").unwrap().is_some());
}

#[test]
fn abandoned_artifact_is_removed() {
    let (_dir, store) = fresh();
    store.reserve_artifact(&record("a", 1, 1000), 100).unwrap();
    assert_eq!(take_expired(&store, 0, 1000), Vec::<String>::new());
    assert_eq!(take_expired(&store, 0, 1001), ["a"]);
    assert!(!store.publish_artifact("a").unwrap(), "its reservation is gone");
}

#[test]
fn expired_artifacts_are_returned_in_bounded_batches() {
    let (_dir, store) = fresh();
    for n in 0..70 {
        put(&store, &record(&format!("{n:02}"), 1, n), 100);
    }
    let first = take_expired(&store, u64::MAX >> 1, 0);
    assert_eq!((first.len(), first[0].as_str()), (64, "00"));
    for id in &first {
        store.remove_artifact(id).unwrap();
    }
    assert_eq!(take_expired(&store, 0, 0).len(), 6);
}
