//! Tests of the results of scrapes, which only a database on a server has.

use std::thread;

use websvc_store::{ScrapeResult, ScrapeResultLimits, Store};

use crate::engine::{Rows, open};
use crate::server::on_server;

/// The size that a row counts in addition to its body.
const ROW_BYTES: u64 = 256;

const UNLIMITED: ScrapeResultLimits = ScrapeResultLimits { max_bytes: u32::MAX as u64, max_results: 1_000 };

fn result(id: &str, team: &str, expires_at_ms: u64) -> ScrapeResult {
    ScrapeResult {
        id: id.to_owned(),
        team: team.to_owned(),
        expires_at_ms,
        body: format!("result {id}").into(),
    }
}

/// Stores ten results `0` to `9`, each of which expires a millisecond after the one before.
fn put_ten(store: &Store) {
    let results: Vec<_> = (0..10).map(|number| result(&number.to_string(), "tea", 1_000 + number)).collect();
    store.put_scrape_results(&results).unwrap();
}

/// Returns the IDs of the stored results of [`put_ten`].
fn ids(store: &Store) -> String {
    let exists = |id: &String| store.scrape_result(id, "tea", 0).unwrap().is_some();
    (0..10).map(|number| number.to_string()).filter(exists).collect()
}

#[test]
fn result_is_found_by_its_team_in_every_process_until_it_expires() {
    let Some((dir, store)) = on_server() else { return };
    assert!(store.is_shared());
    let other = open(dir.path());
    store.put_scrape_results(&[result("a", "tea", 1_000)]).unwrap();
    let find = |id, team, now_ms| other.scrape_result(id, team, now_ms).unwrap();
    assert_eq!(find("a", "tea", 999).as_deref(), Some(&b"result a"[..]));
    assert_eq!(find("a", "coffee", 999), None);
    assert_eq!(find("b", "tea", 999), None);
    assert_eq!(find("a", "tea", 1_000), None);
}

#[test]
fn repeated_write_does_not_change_a_result() {
    let Some((_dir, store)) = on_server() else { return };
    store.put_scrape_results(&[result("a", "tea", 1_000)]).unwrap();
    let later = ScrapeResult { body: "other".into(), ..result("a", "coffee", 2_000) };
    store.put_scrape_results(&[later, result("b", "coffee", 2_000)]).unwrap();
    assert_eq!(store.scrape_result("a", "tea", 0).unwrap().as_deref(), Some(&b"result a"[..]));
    assert_eq!(store.scrape_result("a", "coffee", 0).unwrap(), None);
    assert!(store.scrape_result("b", "coffee", 0).unwrap().is_some());
}

#[test]
fn database_reveals_neither_id_nor_body() {
    let Some((dir, store)) = on_server() else { return };
    let rows = Rows::open(dir.path());
    store.put_scrape_results(&[result("the-id", "tea", 1_000)]).unwrap();
    let row = rows.text("SELECT encode(id, 'escape') || encode(body, 'escape') FROM scrape_results");
    assert!(!row.contains("the-id") && !row.contains("result"), "{row}");
    rows.execute("UPDATE scrape_results SET expires_at = 2000");
    assert_eq!(store.scrape_result("the-id", "tea", 0).unwrap(), None, "it was prolonged");
}

#[test]
fn eviction_deletes_expired_results_and_then_the_oldest_ones() {
    let Some((_dir, store)) = on_server() else { return };
    put_ten(&store);
    assert_eq!(store.evict_scrape_results(&UNLIMITED, 999).unwrap(), 0);
    assert_eq!(store.evict_scrape_results(&UNLIMITED, 1_001).unwrap(), 2);
    assert_eq!(ids(&store), "23456789");
    let limits = ScrapeResultLimits { max_results: 6, ..UNLIMITED };
    assert_eq!(store.evict_scrape_results(&limits, 1_001).unwrap(), 2);
    assert_eq!(ids(&store), "456789");
    let size = ROW_BYTES + "result 9".len() as u64;
    let limits = ScrapeResultLimits { max_bytes: 3 * size, ..UNLIMITED };
    assert_eq!(store.evict_scrape_results(&limits, 1_001).unwrap(), 3);
    assert_eq!(ids(&store), "789");
    let limits = ScrapeResultLimits { max_bytes: 3 * size - 1, ..UNLIMITED };
    assert_eq!(store.evict_scrape_results(&limits, 1_001).unwrap(), 1);
    assert_eq!(ids(&store), "89");
}

#[test]
fn concurrent_evictions_delete_no_more_than_one_would() {
    let Some((dir, store)) = on_server() else { return };
    let rows = Rows::open(dir.path());
    let stores: Vec<_> = (0..4).map(|_| open(dir.path())).collect();
    let limits = ScrapeResultLimits { max_results: 5, ..UNLIMITED };
    for _ in 0..20 {
        put_ten(&store);
        let deleted: u64 = thread::scope(|scope| {
            let evict = |store: &Store| store.evict_scrape_results(&limits, 0).unwrap();
            let threads: Vec<_> = stores.iter().map(|store| scope.spawn(move || evict(store))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((ids(&store).as_str(), deleted), ("56789", 5));
        rows.execute("DELETE FROM scrape_results");
    }
}

#[test]
fn deletion_of_a_team_deletes_its_results() {
    let Some((_dir, store)) = on_server() else { return };
    store.create_key("coffee", "").unwrap();
    let red = store.create_key("red", "").unwrap();
    store.revoke_key(red.id.as_str()).unwrap();
    store.put_scrape_results(&[result("a", "red", 1_000), result("b", "coffee", 1_000)]).unwrap();
    assert!(store.delete_team("red").unwrap());
    assert_eq!(store.scrape_result("a", "red", 0).unwrap(), None);
    assert!(store.scrape_result("b", "coffee", 0).unwrap().is_some());
}

#[test]
fn results_and_sessions_do_not_wait_for_other_writes() {
    let Some((dir, store)) = on_server() else { return };
    let rows = Rows::open(dir.path());
    // The locks of the state and of the page cache, as another process has them during a long transaction.
    for lock in [2_003_139_681_u32, 2_003_139_682] {
        rows.execute(&format!("SELECT pg_advisory_lock({lock}, hashtext(current_schema()))"));
    }
    assert!(store.create_key("tea", "").is_err(), "the state is locked");
    put_ten(&store);
    assert_eq!(store.evict_scrape_results(&UNLIMITED, 2_000).unwrap(), 10);
    store.end_dashboard_session("a cookie").unwrap();
}
