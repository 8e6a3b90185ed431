//! Tests of page snapshots: histories, quotas, expiry, deleted teams.

use std::time::Duration;

use websvc_store::{
    CompletionOutcome, JobLease, JobLimits, PageSnapshot, PutSnapshotOutcome, SnapshotKey, SnapshotLimits,
    Store, TeamChange, UrlCompletion, UrlOutcome,
};

use crate::jobs::{complete_url, create, document, job, lease_urls};
use crate::{fresh, noise};

fn key(team: &str, url: &str, tag: Option<&str>) -> SnapshotKey {
    SnapshotKey { team: team.to_owned(), url: url.to_owned(), tag: tag.map(str::to_owned) }
}

fn of_default(url: &str) -> SnapshotKey {
    key("default", url, None)
}

fn snapshot(markdown: &str, taken_at_ms: u64) -> PageSnapshot {
    PageSnapshot { markdown: markdown.to_owned(), options: [7; 32], taken_at_ms }
}

fn put(store: &Store, key: &SnapshotKey, snapshot: &PageSnapshot) -> PutSnapshotOutcome {
    store.put_page_snapshot(key, snapshot, &SnapshotLimits::default()).unwrap()
}

fn markdown(store: &Store, key: &SnapshotKey) -> Option<String> {
    store.page_snapshot(key).unwrap().map(|snapshot| snapshot.markdown)
}

#[test]
fn snapshot_replaces_the_last_one_and_survives_a_restart() {
    let (dir, store) = fresh();
    let key = of_default("http://a.test/");
    assert_eq!(store.page_snapshot(&key).unwrap(), None);
    for (time, text) in [(1, "# first"), (2, ""), (3, "zwölf\0 Äpfel"), (4, &"long ".repeat(100_000))] {
        let snapshot = snapshot(text, time);
        assert_eq!(put(&store, &key, &snapshot), PutSnapshotOutcome::Stored { evicted: 0 });
        assert_eq!(store.page_snapshot(&key).unwrap(), Some(snapshot.clone()));
        assert_eq!(crate::open(dir.path()).page_snapshot(&key).unwrap(), Some(snapshot));
    }
}

#[test]
fn histories_are_separate_by_team_url_and_tag() {
    let (_dir, store) = fresh();
    for team in ["a", "b"] {
        store.set_team(team, &TeamChange::default()).unwrap();
    }
    let long = format!("http://x.test/{}", "y".repeat(20_000));
    let keys = [
        key("a", "http://x.test/", None),
        key("a", "http://x.test/", Some("")),
        key("a", "http://x.test/", Some("t")),
        key("a", "http://x.test/", Some("t\0")),
        key("a", "http://x.test/t", None),
        key("a", &long, None),
        key("b", "http://x.test/", None),
        of_default("http://x.test/"),
    ];
    for (number, key) in keys.iter().enumerate() {
        put(&store, key, &snapshot(&number.to_string(), 1));
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(markdown(&store, key), Some(number.to_string()), "{number}");
    }
}

#[test]
fn oldest_used_snapshots_are_deleted_beyond_the_number_of_a_team() {
    let (_dir, store) = fresh();
    store.set_team("other", &TeamChange::default()).unwrap();
    let limits = SnapshotLimits { max_pages_per_team: 2, ..SnapshotLimits::default() };
    put(&store, &key("other", "http://a.test/", None), &snapshot("x", 0));
    let keys = ["http://a.test/", "http://b.test/", "http://c.test/"].map(of_default);
    for (time, key) in (1..).zip(&keys[..2]) {
        store.put_page_snapshot(key, &snapshot("x", time), &limits).unwrap();
    }
    store.touch_page_snapshot(&keys[0], 9).unwrap();
    let outcome = store.put_page_snapshot(&keys[2], &snapshot("x", 10), &limits).unwrap();
    assert_eq!(outcome, PutSnapshotOutcome::Stored { evicted: 1 });
    let stored = keys.each_ref().map(|key| markdown(&store, key).is_some());
    assert_eq!(stored, [true, false, true]);
    assert!(markdown(&store, &key("other", "http://a.test/", None)).is_some());
}

#[test]
fn oldest_used_snapshots_are_deleted_beyond_the_size_of_a_team() {
    let (_dir, store) = fresh();
    let limits = SnapshotLimits { max_bytes_per_team: 50_000, ..SnapshotLimits::default() };
    // Hexadecimal noise is compressed to about half of its length.
    let text = |seed: u64, bytes: usize| -> String {
        noise(seed, bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    for (time, url) in [(1, "http://a.test/"), (2, "http://b.test/"), (3, "http://c.test/")] {
        store.put_page_snapshot(&of_default(url), &snapshot(&text(time, 20_000), time), &limits).unwrap();
    }
    assert_eq!(markdown(&store, &of_default("http://a.test/")), None);
    assert!(markdown(&store, &of_default("http://b.test/")).is_some());
    let large = snapshot(&text(4, 60_000), 4);
    let outcome = store.put_page_snapshot(&of_default("http://c.test/"), &large, &limits).unwrap();
    assert!(matches!(outcome, PutSnapshotOutcome::TooLarge { bytes, limit: 50_000 } if bytes > 60_000));
    assert_eq!(store.page_snapshot(&of_default("http://c.test/")).unwrap().unwrap().taken_at_ms, 3);
}

#[test]
fn sweep_deletes_unused_snapshots_and_applies_lower_limits() {
    let (_dir, store) = fresh();
    for number in 0..150 {
        put(&store, &of_default(&format!("http://old.test/{number}")), &snapshot("x", 1_000));
    }
    for (time, url) in [(2_000, "http://a.test/"), (2_001, "http://b.test/")] {
        put(&store, &of_default(url), &snapshot("x", time));
    }
    let limits = SnapshotLimits { max_unused: Duration::from_millis(500), ..SnapshotLimits::default() };
    assert_eq!(store.evict_page_snapshots(&limits, 1_500).unwrap(), 0);
    assert_eq!(store.evict_page_snapshots(&limits, 1_501).unwrap(), 150);
    let limits = SnapshotLimits { max_pages_per_team: 1, ..SnapshotLimits::default() };
    assert_eq!(store.evict_page_snapshots(&limits, 2_001).unwrap(), 1);
    assert!(markdown(&store, &of_default("http://b.test/")).is_some());
}

#[test]
fn later_team_with_the_name_of_a_deleted_one_sees_no_snapshots() {
    let (_dir, store) = fresh();
    let key = key("red", "http://a.test/", None);
    assert_eq!(put(&store, &key, &snapshot("early", 1)), PutSnapshotOutcome::TeamDeleted);
    store.set_team("red", &TeamChange::default()).unwrap();
    put(&store, &key, &snapshot("old", 1));
    assert!(store.delete_team("red").unwrap());
    store.set_team("red", &TeamChange::default()).unwrap();
    assert_eq!(markdown(&store, &key), None);
    assert_eq!(store.evict_page_snapshots(&SnapshotLimits::default(), 2).unwrap(), 1);
    put(&store, &key, &snapshot("new", 2));
    assert_eq!(markdown(&store, &key).as_deref(), Some("new"));
}

/// Completes a URL together with a snapshot of its page.
fn complete_with_snapshot(store: &Store, lease: &JobLease, outcome: UrlOutcome, key: &SnapshotKey) -> bool {
    let limits = SnapshotLimits::default();
    let (outcome_now, prepared) = store.prepare_page_snapshot(key, &snapshot("read", 5), &limits).unwrap();
    assert_eq!(outcome_now, PutSnapshotOutcome::Stored { evicted: 0 });
    let snapshot = prepared.map(Box::new);
    let completion = UrlCompletion { snapshot, ..UrlCompletion::new(lease.clone(), outcome) };
    complete_url(store, completion, &JobLimits::default(), 0) != CompletionOutcome::LeaseLost
}

#[test]
fn snapshot_of_a_job_is_stored_with_the_document_of_its_page() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("j", &["a", "out", "lost"]));
    let leases = lease_urls(&store, number, 3);
    let keys = ["a", "out", "lost"].map(|name| of_default(&format!("http://a.test/{name}")));
    assert!(store.release_job_url(&leases[2]).unwrap());
    store.prepare_page_snapshot(&keys[0], &snapshot("read", 5), &SnapshotLimits::default()).unwrap();
    assert_eq!(markdown(&store, &keys[0]), None, "a prepared snapshot is not stored");
    assert!(complete_with_snapshot(&store, &leases[0], document("1"), &keys[0]));
    assert!(complete_with_snapshot(&store, &leases[1], UrlOutcome::OutOfScope, &keys[1]));
    assert!(!complete_with_snapshot(&store, &leases[2], document("3"), &keys[2]));
    let stored = keys.each_ref().map(|key| markdown(&store, key));
    assert_eq!(stored, [Some("read".to_owned()), None, None]);
}

#[test]
fn prepared_snapshot_names_the_outcome_of_storing_it() {
    let (_dir, store) = fresh();
    let limits = SnapshotLimits { max_pages_per_team: 2, ..SnapshotLimits::default() };
    let keys = ["http://a.test/", "http://b.test/", "http://c.test/"].map(of_default);
    let outcome = |key: &SnapshotKey, limits: &SnapshotLimits| {
        store.prepare_page_snapshot(key, &snapshot("x", 9), limits).unwrap().0
    };
    for (time, key) in (1..).zip(&keys[..2]) {
        put(&store, key, &snapshot("x", time));
    }
    for (key, evicted) in [(&keys[0], 0), (&keys[2], 1)] {
        let expected = PutSnapshotOutcome::Stored { evicted };
        assert_eq!(outcome(key, &limits), expected);
        assert_eq!(store.put_page_snapshot(key, &snapshot("x", 9), &limits).unwrap(), expected);
    }
    let small = SnapshotLimits { max_bytes_per_team: 100, ..limits };
    assert!(matches!(outcome(&keys[0], &small), PutSnapshotOutcome::TooLarge { limit: 100, .. }));
}
