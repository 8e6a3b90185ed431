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
    /// Which addresses may be connected to.
    pub guard: AddressGuard,
    /// How names become addresses.
    pub resolver: Arc<dyn Resolve>,
    /// PEM certificates to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Sent unless a request brings its own.
    pub user_agent: Option<HeaderValue>,
    /// Requests in flight to one scheme, host and port; more wait.
    pub connections_per_host: usize,
    /// Connections kept for one scheme, host and port.
    pub idle_per_host: usize,
    /// How long an unused connection is kept.
    pub idle_timeout: Duration,
}

impl ClientConfig {
    /// Returns the defaults with a guard: the system's resolver and trust, 32 connections per host of which 8 are
    /// kept for up to 30 seconds.
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
