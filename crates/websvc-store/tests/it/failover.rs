//! Test of a failover: the standby of a server is promoted while a store is open, and the old primary returns.
//!
//! `cargo xtask cluster failover` runs it with a pair of servers, and with a program that stops one and promotes the
//! other, and with the argument `return` starts the old one again.

use std::path::Path;
use std::process::Command;

use websvc_store::{DatabaseUrl, ReplicaRole, Store, StoreError};
use websvc_testkit::TcpForwarder;

use crate::credits::{give, hold_credits, remaining, usage};
use crate::engine::client;
use crate::server::{eventually, on_server, open_elsewhere};

const VARIABLE: &str = "WEBSVC_TEST_FAILOVER";

#[test]
fn store_continues_on_the_promoted_standby_and_refuses_the_old_primary() {
    // Without the program this is an ordinary test run.
    let Some(program) = std::env::var_os(VARIABLE) else { return };
    let Some((dir, store)) = on_server() else { return };
    let key = store.create_key("tea", "").unwrap();
    let team = give(&store, "tea", Some(1_000));
    store.join_replicas(ReplicaRole::Worker).unwrap();
    let replica = store.claim_jobs(None).unwrap().replica;
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some());
    assert_eq!(hold_credits(&store, &team, 10).settle(usage(10)), 10);
    store.flush_credits().unwrap();
    let in_flight = hold_credits(&store, &team, 20);

    assert!(Command::new(&program).status().unwrap().success());
    assert!(store.authenticate(key.secret.expose()).unwrap().is_some(), "the key is cached");
    // Not flushed before the failover.
    assert_eq!(in_flight.settle(usage(20)), 20);
    eventually(|| store.create_key("tea", "after").ok());
    eventually(|| (remaining_if_reachable(&store)? == 970).then_some(()));
    assert_eq!(remaining(&store, "tea"), 970, "no charge is lost or written twice");
    assert_eq!(store.list_keys().unwrap().len(), 2);
    assert_eq!(eventually(|| store.claim_jobs(None).ok()).replica, replica, "the replica was not lost");

    assert!(Command::new(program).arg("return").status().unwrap().success());
    old_primary_is_not_used(dir.path(), &store);
    let (_elsewhere, started) = open_elsewhere(&dir);
    assert!(has_key(&started, "after"), "of two primaries, a process that starts uses the newest");
    process_moves_to_the_newer_primary(dir.path(), &store);
}

/// The store, and another process on its data directory, do not use the old primary, which is the first host of the URL.
fn old_primary_is_not_used(dir: &Path, store: &Store) {
    store.create_key("tea", "after the return").unwrap();
    assert!(has_key(store, "after"));
    let [old, _] = addresses();
    let url = url_with(dir, &old);
    let error = Store::connect(&url, client(&url), dir).unwrap_err();
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    let reason = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(reason.contains(&old) && reason.contains("it is an old primary"), "{reason}");
}

/// A process that could only reach the old primary moves all its sessions as soon as it can reach the new one.
fn process_moves_to_the_newer_primary(dir: &Path, store: &Store) {
    let [old, new] = addresses();
    let [to_old, to_new] = [&old, &new].map(|address| TcpForwarder::to(address));
    to_new.set_cut(true);
    let elsewhere = tempfile::tempdir().unwrap();
    let forwarders = format!("127.0.0.1:{},127.0.0.1:{}", to_old.port(), to_new.port());
    let url = url_with(dir, &forwarders);
    let moving = Store::connect(&url, client(&url), elsewhere.path()).unwrap();
    assert!(!has_key(&moving, "after"), "it is connected to the old primary");
    to_new.set_cut(false);
    eventually(|| {
        moving.list_keys().is_ok_and(|keys| keys.iter().any(|key| key.label == "after")).then_some(())
    });
    moving.create_key("tea", "moved").unwrap();
    assert!(has_key(store, "moved"));
    let unknowing = tempfile::tempdir().unwrap();
    let url = url_with(dir, &old);
    assert!(!has_key(&Store::connect(&url, client(&url), unknowing.path()).unwrap(), "moved"));
}

fn has_key(store: &Store, label: &str) -> bool {
    store.list_keys().unwrap().iter().any(|key| key.label == label)
}

/// Returns the addresses of the old and the new primary.
fn addresses() -> [String; 2] {
    let url = DatabaseUrl::parse(&std::env::var("WEBSVC_TEST_POSTGRES").unwrap()).unwrap();
    [0, 1].map(|at| url.hosts().get(at).map(|(host, port)| format!("{host}:{port}")).unwrap())
}

/// Returns the URL of the database of `dir` on other hosts.
fn url_with(dir: &Path, hosts: &str) -> DatabaseUrl {
    let url = std::env::var("WEBSVC_TEST_POSTGRES").unwrap().replace(&addresses().join(","), hosts);
    let schema = std::fs::read_to_string(dir.join("test-schema")).unwrap();
    DatabaseUrl::parse(&format!("{url}?options=-csearch_path%3D{schema}")).unwrap()
}

fn remaining_if_reachable(store: &Store) -> Option<u64> {
    store.flush_credits().ok()?;
    Some(store.budget("tea").ok()??.remaining)
}
