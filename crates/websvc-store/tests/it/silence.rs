//! Tests of a server that does not respond, and of a process that is suspended in a transaction.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use websvc_store::{CacheLimits, StoreError};

use crate::credits::{give, hold_credits, remaining, usage};
use crate::engine::Rows;
use crate::server::{eventually, on_server, open_elsewhere, open_forwarded};

/// Time within which everything that needs the server must fail.
const LIMIT: Duration = Duration::from_secs(6);

#[test]
fn everything_fails_soon_when_the_server_does_not_respond_and_recovers() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let (forwarder, store) = open_forwarded(&dir);
    let team = give(&store, "tea", Some(100));
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);
    eventually(|| store.is_readable().then_some(()));
    forwarder.set_frozen(true);
    let frozen = Instant::now();
    thread::scope(|scope| {
        // More than there are connections.
        for number in 0..24 {
            let store = &store;
            scope.spawn(move || {
                let result = match number % 3 {
                    0 => store.list_keys().map(drop),
                    1 => store.create_key("tea", "").map(drop),
                    _ => store.evict_pages(&CacheLimits::default(), u64::MAX / 2).map(drop),
                };
                assert!(matches!(result, Err(StoreError::Unreachable { .. })), "{number}: {result:?}");
                let elapsed = frozen.elapsed();
                assert!(elapsed < LIMIT, "{number}: {elapsed:?}");
            });
        }
    });
    let known = Instant::now();
    assert!(!store.is_readable());
    for _ in 0..20 {
        assert!(matches!(store.list_keys(), Err(StoreError::Unreachable { .. })));
    }
    assert!(known.elapsed() < LIMIT / 4, "{:?}", known.elapsed());
    forwarder.set_frozen(false);
    eventually(|| store.create_key("tea", "").ok());
    eventually(|| store.flush_credits().ok());
    assert!(store.is_readable());
    assert_eq!(remaining(&store, "tea"), 90, "no charge is lost or written twice");
}

/// Returns whether a session holds the lock of the writers and waits for its client.
fn is_suspended(rows: &Rows) -> bool {
    let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
               WHERE locktype = 'advisory' AND granted AND classid = 2003139681 \
               AND objid = hashtext(current_schema())::oid AND state = 'idle in transaction'";
    rows.number(sql) > 0
}

#[test]
fn process_that_is_suspended_in_a_transaction_delays_the_others_only_briefly() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let (forwarder, suspended) = open_forwarded(&dir);
    let (_elsewhere, other) = open_elsewhere(&dir);
    let (rows, is_stopped) = (Rows::open(dir.path()), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_stopped.load(Ordering::Relaxed) {
                drop(suspended.create_key("tea", ""));
            }
        });
        eventually(|| {
            forwarder.set_frozen(true);
            // The server may still execute a statement that has arrived.
            thread::sleep(Duration::from_millis(20));
            let is_suspended = is_suspended(&rows);
            if !is_suspended {
                forwarder.set_frozen(false);
                thread::sleep(Duration::from_millis(20));
            }
            is_suspended.then_some(())
        });
        let begun = Instant::now();
        // A busy machine can also be silent for so long that a call fails: another attempt may succeed.
        let is_created =
            || other.create_key("tea", "other").is_ok() || begun.elapsed() > Duration::from_secs(8);
        eventually(|| is_created().then_some(()));
        let elapsed = begun.elapsed();
        is_stopped.store(true, Ordering::Relaxed);
        forwarder.set_frozen(false);
        // The limit of the server was ten seconds.
        assert!(elapsed < Duration::from_secs(8), "{elapsed:?}");
    });
}
