//! Tests of page snapshots: histories, quotas, expiry, deleted teams.

use std::time::Duration;

use websvc_store::{PageSnapshot, PutSnapshotOutcome, SnapshotKey, SnapshotLimits, Store, TeamChange};

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
