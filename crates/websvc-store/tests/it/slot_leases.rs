//! Tests of slots for concurrent requests that replicas lease.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use websvc_store::{ReplicaRole, SlotLease, Store};

use crate::engine::Rows;
use crate::hammer::Rng;
use crate::server::{eventually, on_server, open_elsewhere, open_forwarded};

fn join(store: &Store) {
    store.join_replicas(ReplicaRole::Worker).unwrap();
}

fn lease(store: &Store, account: &str, total: u32, wanted: u32) -> SlotLease {
    store.lease_slots(account, total, wanted).unwrap().unwrap()
}

/// Leases slots of team `red` with a limit of 10. Returns those of this replica and those of the others.
fn lease_red(store: &Store, wanted: u32) -> (u32, u32) {
    let SlotLease { slots, others, replica: _ } = lease(store, "team:red", 10, wanted);
    (slots, others)
}

#[test]
fn file_and_process_that_has_not_joined_have_no_slots() {
    let (_dir, file) = crate::fresh_file();
    join(&file);
    assert_eq!(file.lease_slots("team:red", 10, 1).unwrap(), None);
    file.return_slots().unwrap();
    if let Some((_dir, store)) = on_server() {
        assert_eq!(store.lease_slots("team:red", 10, 1).unwrap(), None);
        assert!(!store.has_leases_of(1));
    }
}

#[test]
fn replicas_lease_what_the_others_leave() {
    let Some((dir, store)) = on_server() else { return };
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    assert_eq!(lease_red(&store, 4), (4, 0));
    assert_eq!(lease_red(&other, 9), (6, 4));
    assert_eq!(lease_red(&store, 5), (4, 6), "nothing is left");
    assert_eq!(lease(&other, "team:blue", 2, 5).slots, 2, "another account");
    assert_eq!(lease_red(&other, 1), (1, 4));
    assert_eq!(lease_red(&store, 20), (9, 1));
    // A lower limit applies with the next change of each replica.
    assert_eq!(lease(&store, "team:red", 3, 9).slots, 2);
    assert_eq!(lease_red(&store, 0), (0, 1));
    let rows = Rows::open(dir.path());
    assert_eq!(rows.number("SELECT count(*) FROM slot_leases"), 2);
    other.return_slots().unwrap();
    assert_eq!(rows.number("SELECT count(*) FROM slot_leases"), 0);
}

#[test]
fn replica_that_ends_frees_its_slots_at_once() {
    let Some((dir, store)) = on_server() else { return };
    let (elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    assert_eq!(lease_red(&other, 10), (10, 0));
    assert_eq!(lease_red(&store, 1), (0, 10));
    drop((other, elsewhere));
    assert_eq!(lease_red(&store, 10), (10, 0));
}

#[test]
fn disconnected_replica_stops_using_its_slots_before_others_can_lease_them() {
    let Some((dir, first)) = on_server() else { return };
    drop(first);
    let (forwarder, store) = open_forwarded(&dir);
    let (_elsewhere, other) = open_elsewhere(&dir);
    join(&store);
    join(&other);
    // On a busy machine, the last contact may be too long ago, or the replica may have joined again since.
    let leases_seven = || {
        let leased = store.lease_slots("team:red", 10, 7).ok().flatten()?;
        store.has_leases_of(leased.replica).then_some(leased)
    };
    let leased = eventually(|| leases_seven().filter(|lease| lease.others == 0));
    assert_eq!(leased.slots, 7);
    forwarder.set_cut(true);
    let cut = Instant::now();
    loop {
        // On a busy machine, a lease may fail, or the other replica may have joined again and have less than before.
        let slots = other.lease_slots("team:red", 10, 10).ok().flatten().map_or(0, |lease| lease.slots);
        // Read after the slots of the other replica: they may be its own only if this one no longer uses them.
        let may_use = store.has_leases_of(leased.replica);
        assert!(slots <= 3 || !may_use, "both replicas may use {slots} and 7 of 10 slots");
        if slots == 10 {
            break;
        }
        assert!(cut.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(50));
    }
    forwarder.set_cut(false);
    // It joins again with another number, and so must lease again.
    let again = eventually(|| leases_seven().filter(|lease| lease.replica != leased.replica));
    assert!(!store.has_leases_of(leased.replica));
    // The other replica has all, unless it had no contact, too.
    assert!(again.slots + again.others <= 10, "{again:?}");
}

#[test]
fn slots_of_concurrent_replicas_never_exceed_the_limit() {
    const REPLICAS: u64 = 3;
    const ROUNDS: usize = 200;

    let Some((dir, _store)) = on_server() else { return };
    let stores: Vec<_> = (0..REPLICAS).map(|_| open_elsewhere(&dir)).collect();
    stores.iter().for_each(|(_, store)| join(store));
    let start = Barrier::new(stores.len());
    thread::scope(|scope| {
        for (seed, (_, store)) in stores.iter().enumerate() {
            let start = &start;
            scope.spawn(move || {
                let mut rng = Rng(seed as u64);
                start.wait();
                for _ in 0..ROUNDS {
                    let wanted = rng.below(9) as u32;
                    let (slots, others) = lease_red(store, wanted);
                    assert!(slots <= wanted && slots + others <= 10, "{slots} and {others} of 10");
                    assert!(slots == wanted || slots + others == 10, "{slots} of {wanted}, others {others}");
                }
            });
        }
    });
}
