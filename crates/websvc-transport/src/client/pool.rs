//! Connections kept for later requests, and the bound on requests per host.
//!
//! Keyed by what a connection was made for, so one is only used again for the host, port, scheme and TLS policy it was
//! opened and checked for. All were checked by the one guard of their client. HTTP/2 connections are not shared among
//! hosts, whatever their certificates say.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

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
    places: Arc<Semaphore>,
    /// The one used last at the end: it is the most likely to be alive.
    idle: Vec<(Connection, Instant)>,
    shared: Option<(Connection, Instant)>,
}

/// The right to have one request in flight to an endpoint.
pub(super) type HostPermit = OwnedSemaphorePermit;

impl Pool {
    pub(super) fn new(connections_per_host: usize, idle_per_host: usize, idle_timeout: Duration) -> Self {
        let connections_per_host = connections_per_host.max(1);
        Self { hosts: Mutex::default(), connections_per_host, idle_per_host, idle_timeout }
    }

    /// Waits until fewer requests than allowed are in flight to the endpoint.
    pub(super) async fn acquire_host_permit(&self, endpoint: &Endpoint) -> HostPermit {
        let places = {
            let mut hosts = self.lock();
            match hosts.by_endpoint.get(endpoint) {
                Some(host) => Arc::clone(&host.places),
                None => {
                    let places = Arc::new(Semaphore::new(self.connections_per_host));
                    let host = Host { places: Arc::clone(&places), idle: Vec::new(), shared: None };
                    hosts.by_endpoint.insert(endpoint.clone(), host);
                    places
                }
            }
        };
        places.acquire_owned().await.expect("the semaphore is never closed")
    }

    /// Returns a connection that was opened before and still seems alive.
    pub(super) async fn checkout(&self, endpoint: &Endpoint) -> Option<Connection> {
        loop {
            let mut connection = self.pick(endpoint)?;
            if connection.is_usable().await {
                return Some(connection);
            }
        }
    }

    fn pick(&self, endpoint: &Endpoint) -> Option<Connection> {
        let mut hosts = self.lock();
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
        // The others are older still.
        host.idle.clear();
        None
    }

    /// Keeps a new connection for others too, if they can share it.
    pub(super) fn share(self: &Arc<Self>, endpoint: &Endpoint, connection: &Connection) {
        let Some(shared) = connection.share() else { return };
        let mut hosts = self.lock();
        if let Some(host) = hosts.by_endpoint.get_mut(endpoint) {
            host.shared = Some((shared, Instant::now()));
            self.ensure_reaper(&mut hosts);
        }
    }

    /// Takes back a connection whose answer was read to its end.
    pub(super) fn checkin(self: &Arc<Self>, endpoint: &Endpoint, connection: Connection) {
        if connection.is_closed() || connection.share().is_some() {
            return;
        }
        let mut hosts = self.lock();
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

    /// Starts the task that closes unused connections; it ends when there are none, or with the pool.
    fn ensure_reaper(self: &Arc<Self>, hosts: &mut Hosts) {
        if !hosts.has_reaper {
            hosts.has_reaper = true;
            tokio::spawn(reap(Arc::downgrade(self), self.idle_timeout));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn reap(pool: Weak<Pool>, idle_timeout: Duration) {
    loop {
        tokio::time::sleep(idle_timeout.max(Duration::from_millis(100))).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut hosts = pool.lock();
        hosts.by_endpoint.retain(|_, host| host.keep_fresh(idle_timeout, pool.connections_per_host));
        if hosts.by_endpoint.is_empty() {
            hosts.has_reaper = false;
            return;
        }
    }
}

impl Host {
    /// Drops what is too old or closed; returns whether anything is left worth an entry.
    fn keep_fresh(&mut self, idle_timeout: Duration, all_places: usize) -> bool {
        self.idle.retain(|(connection, since)| !connection.is_closed() && since.elapsed() < idle_timeout);
        let is_in_use = self.places.available_permits() < all_places || Arc::strong_count(&self.places) > 1;
        self.shared.take_if(|(connection, used)| {
            connection.is_closed() || !is_in_use && used.elapsed() >= idle_timeout
        });
        is_in_use || !self.idle.is_empty() || self.shared.is_some()
    }
}
