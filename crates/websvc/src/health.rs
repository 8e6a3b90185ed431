//! Health and readiness of a service, as far as every version has them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Health of a service, see [`Client::health`](crate::Client::health).
///
/// This type accepts the response of any version of the service. [`types::status::HealthResponse`] is the exact response
/// of this version.
///
/// [`types::status::HealthResponse`]: crate::types::status::HealthResponse
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Health {
    /// `ok` for a service that runs.
    pub status: String,
    /// Version of the service; empty if it does not report one.
    #[serde(default)]
    pub version: String,
}

/// Readiness of a service, see [`Client::readiness`](crate::Client::readiness).
///
/// This type accepts the response of any version of the service. [`types::status::ReadinessResponse`] is the exact response
/// of this version, with the state of every search source.
///
/// [`types::status::ReadinessResponse`]: crate::types::status::ReadinessResponse
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Readiness {
    /// `ready`, `not ready` or `stopping`.
    pub status: String,
    /// State of each component that requests need: `ok` or `unavailable`.
    #[serde(default)]
    pub checks: BTreeMap<String, String>,
}

impl Readiness {
    /// Returns whether the service accepts requests.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.status == "ready"
    }
}
