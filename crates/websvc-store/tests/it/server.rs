//! Tests of what only a database on a server has: sessions that end, locks between processes, rejected connections.
//!
//! They run if `WEBSVC_TEST_POSTGRES` names a PostgreSQL server, and do nothing otherwise; `cargo xtask test` says
//! which.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use websvc_store::{DatabaseUrl, HoldOutcome, KeyLookup, ReplicaRole, Store, StoreError, Usage};
use websvc_testkit::TcpForwarder;

use crate::credits::{give, hold_credits, remaining, usage};
use crate::engine::{Rows, client, is_server, open, url_of};
use crate::static_key;

/// Time in which every step of these tests must succeed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a new store; `None` if the tests do not run on a server.
pub(crate) fn on_server() -> Option<(TempDir, Store)> {
    is_server().then(crate::fresh)
}

/// Repeats `step` until it returns a value.
pub(crate) fn eventually<T>(mut step: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = step() {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Ends all sessions of the store in `dir`, as a restart of the server does.
fn end_sessions(dir: &TempDir) {
    let sql = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity, current_schema() AS schema \
               WHERE application_name = schema";
    Rows::open(dir.path()).query(sql);
}

/// Opens the store of `dir` with sessions that [`end_sessions`] finds.
fn open_named(dir: &TempDir) -> Store {
    let url = named_url(dir);
    Store::connect(&url, client(&url), dir.path()).unwrap()
}

/// Opens the database of `dir` with a data directory of its own, as another machine does.
pub(crate) fn open_elsewhere(dir: &TempDir) -> (TempDir, Store) {
    let elsewhere = elsewhere(dir);
    let store = open(elsewhere.path());
    (elsewhere, store)
}

/// Returns a new data directory for the database of `dir`.
pub(crate) fn elsewhere(dir: &TempDir) -> TempDir {
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::copy(dir.path().join("test-schema"), elsewhere.path().join("test-schema")).unwrap();
    elsewhere
}

fn named_url(dir: &TempDir) -> DatabaseUrl {
    let url = std::env::var("WEBSVC_TEST_POSTGRES").unwrap();
    let schema = std::fs::read_to_string(dir.path().join("test-schema")).unwrap();
    let parameters = format!("options=-csearch_path%3D{schema}&application_name={schema}");
    DatabaseUrl::parse(&format!("{url}?{parameters}")).unwrap()
}

#[test]
fn store_continues_after_its_sessions_ended() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let store = open_named(&dir);
    let key = store.create_key("default", "").unwrap();
    for round in 0..5 {
        end_sessions(&dir);
        // A write begins on a new session if the old one has ended.
        store.create_key("default", &round.to_string()).unwrap();
        // The client may learn of the end of a session only by its next statement.
        let keys = eventually(|| store.list_keys().ok());
        assert_eq!(keys.len(), round + 2);
        assert!(eventually(|| store.authenticate(key.secret.expose()).ok()).is_some());
    }
}

#[test]
fn unwritten_charges_survive_the_end_of_the_sessions() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let store = open_named(&dir);
    let team = give(&store, "tea", Some(100));
    for _ in 0..5 {
        let outcome = eventually(|| store.hold(&team, 10).ok());
        let HoldOutcome::Granted(hold) = outcome else { panic!("{outcome:?}") };
        end_sessions(&dir);
        assert_eq!(hold.settle(usage(10)), 10);
    }
    let budget = eventually(|| store.budget("tea").ok()).unwrap();
    assert_eq!((budget.spent, budget.remaining), (50, 50));
}

#[test]
fn leases_of_other_machines_are_not_ended() {
    let Some((dir, store)) = on_server() else { return };
    let team = give(&store, "tea", Some(100));
    let hold = hold_credits(&store, &team, 10);
    // Another machine has another data directory, without the journal of the first process.
    let (_elsewhere, other) = open_elsewhere(&dir);
    other.join_replicas(ReplicaRole::Worker).unwrap();
    assert_eq!(remaining(&other, "tea"), 100);
    assert_eq!(hold.settle(usage(10)), 10);
    store.flush_credits().unwrap();
    assert_eq!(remaining(&other, "tea"), 90, "the lease was not ended");
    assert_eq!(Rows::open(dir.path()).number("SELECT count(*) FROM leases"), 1);
}

#[test]
fn lookup_of_a_key_that_is_not_cached_does_not_wait_for_the_server() {
    let (_dir, store) = crate::fresh();
    let key = store.create_key("default", "").unwrap();
    let lookup = |secret: &str| store.try_authenticate(secret).unwrap();
    assert!(matches!(lookup(""), KeyLookup::Known(None)));
    if is_server() {
        assert!(matches!(lookup(key.secret.expose()), KeyLookup::Unknown));
        assert!(matches!(lookup("wsk-of-no-team"), KeyLookup::Unknown));
    }
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some());
    assert!(matches!(lookup(key.secret.expose()), KeyLookup::Known(Some(_))));
    store.use_static_keys(static_key("a-static-key")).unwrap();
    assert!(store.authenticate("a-static-key").unwrap().is_some());
    assert!(matches!(lookup("a-static-key"), KeyLookup::Known(Some(_))));
}

#[test]
fn server_that_does_not_listen_is_unreachable() {
    let dir = tempfile::tempdir().unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = DatabaseUrl::parse(&format!("postgres://me:secret@127.0.0.1:{port}/websvc")).unwrap();
    let error = Store::connect(&url, client(&url), dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let text = error.to_string();
    assert_eq!(text, format!("the database postgres://127.0.0.1:{port}/websvc cannot be reached"));
    assert!(!format!("{error:?}").contains("secret"));
}

#[test]
fn server_without_tls_is_rejected_if_tls_is_required() {
    let Some((dir, _store)) = on_server() else { return };
    let mut url = std::env::var("WEBSVC_TEST_POSTGRES").unwrap();
    url.push_str("?sslmode=require");
    let url = DatabaseUrl::parse(&url).unwrap();
    let error = Store::connect(&url, client(&url), dir.path()).unwrap_err();
    let source = std::error::Error::source(&error).map(|source| format!("{source:?}")).unwrap_or_default();
    assert!(source.contains("does not support TLS"), "{error:?}");
}

#[test]
fn newer_schema_of_a_server_is_rejected_and_not_changed() {
    let Some((dir, store)) = on_server() else { return };
    drop(store);
    let rows = Rows::open(dir.path());
    rows.execute("UPDATE schema_version SET version = 99");
    let url = url_of(dir.path()).unwrap();
    let error = Store::connect(&url, client(&url), dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
    assert_eq!(rows.number("SELECT version FROM schema_version"), 99);
}

#[test]
fn text_with_nul_is_stored_by_both_engines() {
    let (_dir, store) = crate::fresh();
    let team = give(&store, "tea", None);
    let query = "a\0b".to_owned();
    assert_eq!(hold_credits(&store, &team, 0).settle(Usage { query: Some(query.clone()), ..usage(1) }), 1);
    let stored = store.recent_requests(Some("tea"), None, 1).unwrap().remove(0).query.unwrap();
    assert_eq!(stored, if is_server() { "a\u{fffd}b".to_owned() } else { query });
}

#[test]
fn file_operations_on_a_server_say_what_to_use_instead() {
    let Some((dir, store)) = on_server() else { return };
    let error = store.back_up(&dir.path().join("copy.db")).unwrap_err();
    assert!(
        error.to_string().ends_with("use the tools of PostgreSQL, such as pg_dump, to copy it"),
        "{error}"
    );
    assert!(matches!(store.limit_file_size(1), Err(StoreError::NotAFile { .. })));
}

#[test]
fn long_urls_are_stored_and_found() {
    let (_dir, store) = crate::fresh();
    // Longer than an entry of a B-tree of PostgreSQL.
    let url =
        format!("http://a.test/?{}", String::from_utf8_lossy(&crate::noise(7, 9_000).to_ascii_lowercase()));
    let url: String = url.chars().filter(char::is_ascii_graphic).chain("x".repeat(9_000).chars()).collect();
    let page = crate::page(&url, 1, "text");
    store.put_page(&page, &websvc_store::CacheLimits::default()).unwrap();
    assert_eq!(store.page(&page.key).unwrap(), Some(page));
    assert_eq!(store.purge_url(&url).unwrap(), 1);
}

/// Opens the store of `dir` through a forwarder.
pub(crate) fn open_forwarded(dir: &TempDir) -> (TcpForwarder, Store) {
    open_delayed(dir, Duration::ZERO)
}

/// Opens the store of `dir` through a forwarder with a delay in each direction.
pub(crate) fn open_delayed(dir: &TempDir, delay: Duration) -> (TcpForwarder, Store) {
    let (host, port) = named_url(dir).hosts()[0].clone();
    let forwarder = TcpForwarder::delayed(&format!("{host}:{port}"), delay);
    let url = std::env::var("WEBSVC_TEST_POSTGRES").unwrap();
    let schema = std::fs::read_to_string(dir.path().join("test-schema")).unwrap();
    let url = url.replace(&format!(":{port}"), &format!(":{}", forwarder.port()));
    let url = DatabaseUrl::parse(&format!("{url}?options=-csearch_path%3D{schema}")).unwrap();
    let store = Store::connect(&url, client(&url), dir.path()).unwrap();
    (forwarder, store)
}

#[test]
fn cached_state_outlives_an_outage_and_everything_recovers() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let (forwarder, store) = open_forwarded(&dir);
    let key = store.create_key("tea", "").unwrap();
    let team = give(&store, "tea", Some(100));
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some());
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);

    // The watch of the store may read the changes above only now, and drop the cache once more.
    eventually(|| {
        forwarder.set_cut(true);
        let error = eventually(|| store.list_keys().err());
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
        let is_cached = matches!(store.authenticate(key.secret.expose()), Ok(Some(_)));
        if !is_cached {
            forwarder.set_cut(false);
            eventually(|| store.authenticate(key.secret.expose()).ok());
        }
        is_cached.then_some(())
    });
    let Some(HoldOutcome::Granted(hold)) = store.try_hold(&team, 10).unwrap() else {
        panic!("the credits are leased")
    };
    assert_eq!(hold.settle(usage(10)), 10);
    let error = eventually(|| store.authenticate("wsk-of-nobody").err());
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert!(matches!(store.create_key("tea", ""), Err(StoreError::Unreachable { .. })));

    forwarder.set_cut(false);
    assert!(eventually(|| store.authenticate("wsk-of-nobody").ok()).is_none());
    let budget = eventually(|| store.budget("tea").ok()).unwrap();
    assert_eq!((budget.spent, budget.remaining), (20, 80), "no charge is lost or written twice");
}

/// A flush writes the spender first, and then the grants: a request that borrows in the meantime must not have locked
/// a grant while it waits for the spender.
#[test]
fn borrowing_during_a_flush_is_no_deadlock() {
    let Some((dir, store)) = on_server() else { return };
    let team = give(&store, "tea", Some(100_000));
    let _ = hold_credits(&store, &team, 1).settle(usage(1));
    let (flush, watch) = (Rows::open(dir.path()), Rows::open(dir.path()));
    flush.execute("BEGIN; UPDATE spenders SET batch = batch");
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO spenders%' \
                   AND pg_backend_pid() = ANY (pg_blocking_pids(pid))";
    let waiting = waiting.replace("pg_backend_pid()", &flush.text("SELECT pg_backend_pid()"));
    thread::scope(|scope| {
        let borrowing = scope.spawn(|| drop(hold_credits(&store, &team, 50_000)));
        eventually(|| {
            assert!(!borrowing.is_finished(), "no credits had to be borrowed");
            (watch.number(&waiting) > 0).then_some(())
        });
        flush.execute("SET LOCAL lock_timeout = 1; UPDATE grants SET spent = spent; COMMIT");
    });
}
