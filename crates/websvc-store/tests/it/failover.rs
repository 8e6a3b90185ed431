//! Test of a failover: the standby of a server is promoted while a store is open.
//!
//! `cargo xtask cluster failover` runs it with a pair of servers, and with a program that stops one and promotes the
//! other.

use std::process::Command;

use websvc_store::ReplicaRole;

use crate::credits::{give, hold_credits, remaining, usage};
use crate::server::{eventually, on_server};

const VARIABLE: &str = "WEBSVC_TEST_FAILOVER";

#[test]
fn store_continues_on_the_promoted_standby() {
    // Without the program this is an ordinary test run.
    let Some(program) = std::env::var_os(VARIABLE) else { return };
    let Some((_dir, store)) = on_server() else { return };
    let key = store.create_key("tea", "").unwrap();
    let team = give(&store, "tea", Some(1_000));
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let replica = store.claim_jobs(None).unwrap().replica;
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some());
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    let in_flight = hold_credits(&store, &team, 20);

    assert!(Command::new(program).status().unwrap().success());
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some(), "the key is cached");
    // Not flushed before the failover.
    assert_eq!(in_flight.settle(usage(20)), 20);
    eventually(|| store.create_key("tea", "after").ok());
    eventually(|| (remaining_if_reachable(&store)? == 970).then_some(()));
    assert_eq!(remaining(&store, "tea"), 970, "no charge is lost or written twice");
    assert_eq!(store.list_keys().unwrap().len(), 2);
    assert_eq!(eventually(|| store.claim_jobs(None).ok()).replica, replica, "the replica was not lost");
}

fn remaining_if_reachable(store: &websvc_store::Store) -> Option<u64> {
    store.flush_credits().ok()?;
    Some(store.budget("tea").ok()??.remaining)
}
