//! Tests of the rows of browser sessions.

use std::time::Duration;

use websvc_store::{
    BrowserSessionRecord, BrowserSessionStatus, CreateBrowserSessionOutcome, ForeignSession,
    NewBrowserSession, ReplicaAddress, ReplicaRole, Store,
};

use crate::server::{on_server, open_elsewhere};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

fn session(id: &str, team: &str, scrape: Option<&str>) -> NewBrowserSession {
    NewBrowserSession {
        id: id.to_owned(),
        team: team.to_owned(),
        key: None,
        scrape: scrape.map(str::to_owned),
        stream_web_view: true,
        ttl: Duration::from_secs(60),
    }
}

fn create(store: &Store, id: &str, team: &str, now_ms: u64) -> BrowserSessionRecord {
    match store.create_browser_session(&session(id, team, None), 10, now_ms).unwrap() {
        CreateBrowserSessionOutcome::Created(record) => record,
        other => panic!("{other:?}"),
    }
}

fn joined() -> (tempfile::TempDir, Store) {
    let (dir, store) = crate::fresh();
    store.join_replicas(ReplicaRole::Worker).unwrap();
    (dir, store)
}

fn ids(store: &Store, status: Option<BrowserSessionStatus>, now_ms: u64) -> Vec<String> {
    let sessions = store.browser_sessions("red", status, 100, now_ms).unwrap();
    sessions.into_iter().map(|session| session.id).collect()
}

#[test]
fn session_is_listed_by_status_and_for_a_day_after_its_end() {
    let (_dir, store) = joined();
    let created = create(&store, "a", "red", 1000);
    assert_eq!((created.status, created.is_own), (BrowserSessionStatus::Active, true));
    assert_eq!((created.active_at_ms, created.expires_at_ms), (1000, 61_000));
    assert_eq!(store.browser_session("a").unwrap(), Some(created));
    create(&store, "b", "red", 2000);
    create(&store, "c", "blue", 2000);
    store.touch_browser_session("a", 3000).unwrap();
    assert!(store.end_browser_session("a", 4000).unwrap());
    assert!(!store.end_browser_session("a", 5000).unwrap());
    store.touch_browser_session("a", 6000).unwrap();
    let ended = store.browser_session("a").unwrap().unwrap();
    assert_eq!(ended.status, BrowserSessionStatus::Destroyed);
    assert_eq!((ended.active_at_ms, ended.destroyed_at_ms), (3000, Some(4000)));
    assert_eq!(ids(&store, None, 4000), ["b", "a"]);
    assert_eq!(ids(&store, Some(BrowserSessionStatus::Active), 4000), ["b"]);
    assert_eq!(ids(&store, Some(BrowserSessionStatus::Destroyed), 4000), ["a"]);
    assert_eq!(ids(&store, None, 4000 + DAY_MS), ["b"]);
    // The next creation deletes it.
    create(&store, "d", "blue", 4000 + DAY_MS);
    assert_eq!(store.browser_session("a").unwrap(), None);
}

#[test]
fn team_has_limited_active_sessions_and_a_scrape_opens_one() {
    let (_dir, store) = joined();
    let create = |id: &str, scrape: Option<&str>, max: u64| {
        let created = store.create_browser_session(&session(id, "red", scrape), max, 1).unwrap();
        match created {
            CreateBrowserSessionOutcome::Created(_) => "created",
            CreateBrowserSessionOutcome::TooMany => "too many",
            CreateBrowserSessionOutcome::ScrapeUsed => "used",
            CreateBrowserSessionOutcome::NotJoined => "not joined",
        }
    };
    assert_eq!(create("a", Some("s"), 1), "created");
    assert_eq!(create("b", Some("s"), 9), "used");
    assert_eq!(create("b", None, 1), "too many");
    store.end_browser_session("a", 2).unwrap();
    assert_eq!(create("b", Some("s"), 1), "used");
    assert_eq!(store.browser_session_of_scrape("s").unwrap().unwrap().id, "a");
    assert_eq!(create("b", Some("t"), 1), "created");
    // A session that did not start does not use up its scrape.
    store.delete_browser_session("b").unwrap();
    assert_eq!(create("c", Some("t"), 1), "created");
    assert_eq!(store.browser_session_of_scrape("u").unwrap(), None);
}

#[test]
fn session_is_destroyed_when_its_process_is_gone() {
    let (_dir, store) = crate::fresh_file();
    let new = session("a", "red", None);
    assert_eq!(store.create_browser_session(&new, 9, 1).unwrap(), CreateBrowserSessionOutcome::NotJoined);
    store.join_replicas(ReplicaRole::Worker).unwrap();
    create(&store, "a", "red", 1000);
    // A process that starts with the file replaces the one that ended.
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let lost = store.browser_session("a").unwrap().unwrap();
    assert_eq!(
        (lost.status, lost.is_own, lost.destroyed_at_ms),
        (BrowserSessionStatus::Destroyed, false, None)
    );
    assert_eq!(ids(&store, Some(BrowserSessionStatus::Destroyed), 1000), ["a"]);
    assert_eq!(ids(&store, None, 1000 + DAY_MS), Vec::<String>::new());
}

#[test]
fn sessions_of_a_deleted_team_are_deleted() {
    let (_dir, store) = joined();
    store.set_team("red", &websvc_store::TeamChange::default()).unwrap();
    create(&store, "a", "red", 1);
    create(&store, "b", "blue", 1);
    store.delete_team("red").unwrap();
    assert_eq!(store.browser_session("a").unwrap(), None);
    assert!(store.browser_session("b").unwrap().is_some());
}

#[test]
fn session_of_another_replica_is_not_own_and_ends_with_it() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    store.join_replicas(ReplicaRole::Worker).unwrap();
    other.join_replicas(ReplicaRole::Worker).unwrap();
    create(&other, "a", "red", 1);
    let seen = store.browser_session("a").unwrap().unwrap();
    assert_eq!((seen.status, seen.is_own), (BrowserSessionStatus::Active, false));
    // A replica that ends frees what it owns.
    drop((other, elsewhere));
    assert_eq!(store.browser_session("a").unwrap().unwrap().status, BrowserSessionStatus::Destroyed);
}

#[test]
fn active_session_of_another_replica_is_found_with_the_address_of_that_replica() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    let address =
        ReplicaAddress { url: "http://10.0.0.5:3002".to_owned(), secret: "known to replicas".to_owned() };
    assert!(!format!("{address:?}").contains("known"));
    other.announce_replica(address.clone());
    other.join_replicas(ReplicaRole::Worker).unwrap();
    // A process that has not joined finds it, too.
    create(&other, "a", "red", 1);
    let of_scrape = other.create_browser_session(&session("b", "red", Some("scrape")), 10, 1).unwrap();
    assert!(matches!(of_scrape, CreateBrowserSessionOutcome::Created(_)), "{of_scrape:?}");
    let expected = Some(ForeignSession { team: "red".to_owned(), replica: Some(address.clone()) });
    assert_eq!(store.foreign_browser_session("a").unwrap(), expected);
    store.join_replicas(ReplicaRole::Worker).unwrap();
    assert_eq!(store.foreign_browser_session("a").unwrap(), expected);
    assert_eq!(store.foreign_browser_session_of_scrape("scrape").unwrap(), expected);
    assert_eq!(store.replicas_with_sessions("red").unwrap(), std::slice::from_ref(&address));
    assert_eq!(store.replicas_with_sessions("blue").unwrap(), []);
    assert_eq!(store.other_replicas().unwrap(), [Some(address)]);
    // This one announces no address, and its own sessions are not foreign.
    assert_eq!(other.other_replicas().unwrap(), [None]);
    create(&store, "c", "blue", 1);
    assert_eq!(store.foreign_browser_session("c").unwrap(), None);
    let without_address = Some(ForeignSession { team: "blue".to_owned(), replica: None });
    assert_eq!(other.foreign_browser_session("c").unwrap(), without_address);
    assert_eq!(other.replicas_with_sessions("blue").unwrap(), []);
    assert!(other.end_browser_session("a", 2).unwrap());
    assert_eq!(store.foreign_browser_session("a").unwrap(), None);
    drop((other, elsewhere));
    assert_eq!(store.foreign_browser_session("b").unwrap(), None);
    assert_eq!(store.other_replicas().unwrap(), []);
}

#[test]
fn address_is_in_the_row_of_a_replica_that_joins_twice() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    let address = ReplicaAddress { url: "http://10.0.0.5:3002".to_owned(), secret: "s".to_owned() };
    other.announce_replica(address.clone());
    other.join_replicas(ReplicaRole::Worker).unwrap();
    other.join_replicas(ReplicaRole::Worker).unwrap();
    assert_eq!(store.other_replicas().unwrap(), [Some(address)]);
}
