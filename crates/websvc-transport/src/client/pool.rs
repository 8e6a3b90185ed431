//! The connection pool, and the limit of concurrent requests per host.
//!
//! A connection is only reused for the endpoint (scheme, host, port and TLS policy) that it was opened and checked for.
//! All connections were checked by the one guard of their client. Hosts never share an HTTP/2 connection, even if one
//! certificate covers them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::connect::Endpoint;
use super::connection::Connection;

#[derive(Debug)]
pub(super) struct Pool {
    hosts: Mutex<Hosts>,
    connections_per_host: usize,
    idle_per_host: usize,
    idle_timeout: Duration,
}

#[derive(Debug, Default)]
struct Hosts {
    by_endpoint: HashMap<Endpoint, Host>,
    has_reaper: bool,
}

#[derive(Debug)]
struct Host {
    permits: Arc<Semaphore>,
    /// Idle HTTP/1.1 connections. The last one was used most recently and is the most likely to be alive.
    idle: Vec<(Connection, Instant)>,
    shared: Option<(Connection, Instant)>,
}

/// A permit for one request in flight to an endpoint.
pub(super) type HostPermit = OwnedSemaphorePermit;

impl Pool {
    pub(super) fn new(connections_per_host: usize, idle_per_host: usize, idle_timeout: Duration) -> Self {
        let connections_per_host = connections_per_host.max(1);
        Self { hosts: Mutex::default(), connections_per_host, idle_per_host, idle_timeout }
    }

    pub(super) fn connections_per_host(&self) -> usize {
        self.connections_per_host
    }

    /// Waits until fewer requests than the limit are in flight to the endpoint.
    pub(super) async fn acquire_host_permit(&self, endpoint: &Endpoint) -> HostPermit {
        let permits = {
            let mut hosts = self.hosts.lock();
            match hosts.by_endpoint.get(endpoint) {
                Some(host) => Arc::clone(&host.permits),
                None => {
                    let permits = Arc::new(Semaphore::new(self.connections_per_host));
                    let host = Host { permits: Arc::clone(&permits), idle: Vec::new(), shared: None };
                    hosts.by_endpoint.insert(endpoint.clone(), host);
                    permits
                }
            }
        };
        permits.acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Takes a usable connection from the pool, if there is one.
    pub(super) async fn checkout(&self, endpoint: &Endpoint) -> Option<Connection> {
        loop {
            let mut connection = self.pick(endpoint)?;
            if connection.is_usable().await {
                return Some(connection);
            }
        }
    }

    fn pick(&self, endpoint: &Endpoint) -> Option<Connection> {
        let mut hosts = self.hosts.lock();
        let host = hosts.by_endpoint.get_mut(endpoint)?;
        if let Some((connection, used)) = &mut host.shared {
            if !connection.is_closed() {
                *used = Instant::now();
                return connection.share();
            }
            host.shared = None;
        }
        let (connection, since) = host.idle.pop()?;
        if since.elapsed() < self.idle_timeout {
            return Some(connection);
        }
        // The connections before it are older.
        host.idle.clear();
        None
    }

    /// Adds a new connection to the pool, if the protocol can multiplex requests.
    pub(super) fn share(self: &Arc<Self>, endpoint: &Endpoint, connection: &Connection) {
        let Some(shared) = connection.share() else { return };
        let mut hosts = self.hosts.lock();
        if let Some(host) = hosts.by_endpoint.get_mut(endpoint) {
            host.shared = Some((shared, Instant::now()));
            self.ensure_reaper(&mut hosts);
        }
    }

    /// Returns a connection to the pool after its response was read to the end.
    pub(super) fn checkin(self: &Arc<Self>, endpoint: &Endpoint, connection: Connection) {
        if connection.is_closed() || connection.share().is_some() {
            return;
        }
        let mut hosts = self.hosts.lock();
        let Some(host) = hosts.by_endpoint.get_mut(endpoint) else { return };
        if self.idle_per_host == 0 {
            return;
        }
        if host.idle.len() >= self.idle_per_host {
            host.idle.remove(0);
        }
        host.idle.push((connection, Instant::now()));
        self.ensure_reaper(&mut hosts);
    }

    /// Starts the task that closes idle connections. It ends when the pool is empty or dropped.
    fn ensure_reaper(self: &Arc<Self>, hosts: &mut Hosts) {
        if !hosts.has_reaper {
            hosts.has_reaper = true;
            tokio::spawn(reap(Arc::downgrade(self), self.idle_timeout));
        }
    }
}

async fn reap(pool: Weak<Pool>, idle_timeout: Duration) {
    loop {
        tokio::time::sleep(idle_timeout.max(Duration::from_millis(100))).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut hosts = pool.hosts.lock();
        hosts.by_endpoint.retain(|_, host| host.drop_expired(idle_timeout, pool.connections_per_host));
        if hosts.by_endpoint.is_empty() {
            hosts.has_reaper = false;
            return;
        }
    }
}

impl Host {
    /// Drops idle connections that are expired or closed. Returns whether the entry is still needed.
    fn drop_expired(&mut self, idle_timeout: Duration, max_permits: usize) -> bool {
        self.idle.retain(|(connection, since)| !connection.is_closed() && since.elapsed() < idle_timeout);
        let is_in_use =
            self.permits.available_permits() < max_permits || Arc::strong_count(&self.permits) > 1;
        self.shared.take_if(|(connection, used)| {
            connection.is_closed() || !is_in_use && used.elapsed() >= idle_timeout
        });
        is_in_use || !self.idle.is_empty() || self.shared.is_some()
    }
}
