//! Configuration of a client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;

use super::resolve::{Resolve, SystemResolver};
use crate::guard::AddressGuard;

/// Settings that apply to every fetch of a client.
#[derive(Clone)]
pub struct ClientConfig {
    /// Guard that decides which addresses the client may connect to.
    pub guard: AddressGuard,
    /// Resolver of host names.
    pub resolver: Arc<dyn Resolve>,
    /// A PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The `User-Agent` of requests that have none.
    pub user_agent: Option<HeaderValue>,
    /// Maximum number of requests in flight to one scheme, host and port. More requests wait.
    pub connections_per_host: usize,
    /// Maximum number of idle connections in the pool for one scheme, host and port.
    pub idle_per_host: usize,
    /// Time after which an idle connection is closed.
    pub idle_timeout: Duration,
}

impl ClientConfig {
    /// Returns the default configuration with `guard`: the system's resolver and trust anchors, and 32 connections per
    /// host, of which 8 stay in the pool for up to 30 seconds.
    #[must_use]
    pub fn new(guard: AddressGuard) -> Self {
        Self {
            guard,
            resolver: Arc::new(SystemResolver::default()),
            ca_file: None,
            user_agent: None,
            connections_per_host: 32,
            idle_per_host: 8,
            idle_timeout: Duration::from_secs(30),
        }
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConfig")
            .field("guard", &self.guard)
            .field("ca_file", &self.ca_file)
            .finish_non_exhaustive()
    }
}
