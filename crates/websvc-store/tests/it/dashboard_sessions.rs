//! Tests of the sessions of the dashboard, which only a database on a server has.

use websvc_store::{DashboardSession, Store};

use crate::engine::{Rows, open};
use crate::server::on_server;

const COOKIE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn session(expires_at_ms: u64) -> DashboardSession {
    DashboardSession { key: "fc-the-key".to_owned(), csrf_token: "the-token".to_owned(), expires_at_ms }
}

fn start(store: &Store, cookie: &str, expires_at_ms: u64) {
    store.start_dashboard_session(cookie, &session(expires_at_ms), 3, 0).unwrap();
}

#[test]
fn session_is_valid_in_every_process_and_ends_for_all_of_them() {
    let Some((dir, store)) = on_server() else { return };
    let other = open(dir.path());
    start(&store, COOKIE, 1_000);
    assert_eq!(other.dashboard_session(COOKIE, 999).unwrap(), Some(session(1_000)));
    assert_eq!(other.dashboard_session(&COOKIE[1..], 999).unwrap(), None);
    assert_eq!(other.dashboard_session(COOKIE, 1_000).unwrap(), None, "it has expired");
    other.end_dashboard_session(COOKIE).unwrap();
    assert_eq!(store.dashboard_session(COOKIE, 0).unwrap(), None);
    other.end_dashboard_session(COOKIE).unwrap();
}

#[test]
fn database_reveals_neither_cookie_nor_content() {
    let Some((dir, store)) = on_server() else { return };
    start(&store, COOKIE, 1_000);
    let rows = Rows::open(dir.path());
    let row = rows.text(
        "SELECT encode(id, 'hex') || encode(id, 'escape') || encode(content, 'escape') FROM dashboard_sessions",
    );
    for secret in [COOKIE, "fc-the-key", "the-token"] {
        assert!(!row.contains(secret), "{row}");
    }
    let text = format!("{:?}", session(1_000));
    assert!(!text.contains("the-key") && !text.contains("the-token"), "{text}");
}

#[test]
fn changed_row_counts_as_no_session() {
    let Some((dir, store)) = on_server() else { return };
    let rows = Rows::open(dir.path());
    let other_cookie = COOKIE.replace('0', "f");
    start(&store, COOKIE, 1_000);
    start(&store, &other_cookie, 1_000);
    rows.execute("UPDATE dashboard_sessions SET expires_at = 2000");
    assert_eq!(store.dashboard_session(COOKIE, 0).unwrap(), None, "it was prolonged");
    rows.execute("UPDATE dashboard_sessions SET expires_at = 1000");
    assert!(store.dashboard_session(COOKIE, 0).unwrap().is_some());
    // The row of another session, under the id of this one.
    rows.execute(
        "UPDATE dashboard_sessions AS target SET content = source.content FROM dashboard_sessions AS source \
         WHERE source.id <> target.id",
    );
    assert_eq!(store.dashboard_session(COOKIE, 0).unwrap(), None);
    rows.execute("UPDATE dashboard_sessions SET content = ''");
    assert_eq!(store.dashboard_session(COOKIE, 0).unwrap(), None);
}

#[test]
fn expired_sessions_are_deleted_and_the_oldest_ends_first() {
    let Some((dir, store)) = on_server() else { return };
    let rows = Rows::open(dir.path());
    for number in 1..=5 {
        start(&store, &format!("{COOKIE}{number}"), number * 1_000);
    }
    assert_eq!(rows.number("SELECT count(*) FROM dashboard_sessions"), 3);
    let exists = |number: u64| store.dashboard_session(&format!("{COOKIE}{number}"), 0).unwrap().is_some();
    assert_eq!([1, 2, 3, 4, 5].map(exists), [false, false, true, true, true]);
    assert_eq!(store.delete_expired_dashboard_sessions(3_000).unwrap(), 1);
    assert_eq!(store.delete_expired_dashboard_sessions(3_000).unwrap(), 0);
    store.start_dashboard_session(COOKIE, &session(9_000), 3, 4_000).unwrap();
    assert_eq!(rows.number("SELECT min(expires_at) FROM dashboard_sessions"), 5_000);
}
