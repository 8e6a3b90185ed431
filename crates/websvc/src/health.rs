//! Health and readiness of a service.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The answer of a service that runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Health {
    /// `ok`.
    pub status: String,
    /// The service's version.
    #[serde(default)]
    pub version: String,
}

/// Readiness of a service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Readiness {
    /// `ready`, `not ready` or `stopping`.
    pub status: String,
    /// Components that requests need, each `ok` or `unavailable`.
    #[serde(default)]
    pub checks: BTreeMap<String, String>,
}

impl Readiness {
    /// Tells whether the service takes work.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.status == "ready"
    }
}
