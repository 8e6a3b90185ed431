//! State of the service. Our own, not of the specification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Liveness of the process: `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthResponse {
    /// The process answers, so this is always `ok`.
    pub status: ComponentStatus,
    /// The version of the service.
    pub version: String,
}

/// Readiness of the service: `GET /ready`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadinessResponse {
    /// The sum of the checks.
    pub status: ReadinessStatus,
    /// The parts that a request needs.
    pub checks: ReadinessChecks,
    /// The sources of search results, in order of preference. One that is paused takes no part in `status`: the others
    /// answer, and a search says which did not.
    #[serde(default)]
    pub sources: Vec<SourceReadiness>,
    /// The browser that draws pages. Without one it is the pages that need it which fail, so it takes no part in `status`.
    #[serde(default)]
    pub browser: BrowserReadiness,
    /// State of the scanner of threat protection. While its circuit breaker is open, `failurePolicy` decides
    /// instead, so it does not affect `status`.
    #[serde(default)]
    pub threat: ThreatReadiness,
    /// Degraded components by name: the checks above, `source:NAME`, `browser`, `threat`. Empty when all is well;
    /// the service may be ready although some are degraded.
    #[serde(default)]
    pub degraded: Vec<String>,
    /// Sinks of audit events. A failing sink receives its events later, so it does not affect `status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<AuditReadiness>,
}

/// State of the scanner of threat protection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreatReadiness {
    /// State of its circuit breaker.
    pub state: ThreatState,
    /// Milliseconds until a paused scanner is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The failure that led to the pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// State of the circuit breaker of the threat scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThreatState {
    /// It is asked.
    Ok,
    /// It failed too often and is not asked for a while.
    Paused,
    /// The pause is over, and one question is on the way to see whether it answers again.
    Probing,
    /// There is none: the lists alone decide.
    #[default]
    Off,
}

/// State of a sink of audit events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditReadiness {
    /// `file`, `syslog` or `webhook`.
    pub name: String,
    /// State of the deliveries.
    pub state: AuditState,
    /// Events that wait for it.
    pub backlog: u64,
    /// Events that it has lost since the process began.
    pub lost: u64,
    /// Why it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// State of the deliveries to a sink of audit events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditState {
    /// It took the last ones.
    Ok,
    /// It does not take events now; it is tried again and again.
    Failing,
}

/// Availability of a browser for JavaScript rendering. The check does not start a browser.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserReadiness {
    /// State of the browser.
    pub state: BrowserState,
    /// Why a configured one cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Warnings for the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Availability of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BrowserState {
    /// It runs, or nothing speaks against its start.
    Ok,
    /// It is configured and is not installed, did not start, or cannot be connected to.
    Degraded,
    /// The configuration turns it off.
    #[default]
    Off,
}

/// State of a search source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceReadiness {
    /// Its name in the configuration.
    pub name: String,
    /// State of its circuit breaker.
    pub state: SourceState,
    /// Milliseconds until a paused source is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The failure that led to the pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it cannot find anything although it is asked: the index is empty and is the only source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// State of the circuit breaker of a search source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// It is asked.
    Ok,
    /// It failed too often and is not asked for a while.
    Paused,
    /// The pause is over, and one question is on the way to see whether it answers again.
    Probing,
}

/// Readiness of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadinessStatus {
    /// Requests are served.
    Ready,
    /// A part does not answer.
    #[serde(rename = "not ready")]
    NotReady,
    /// The service is stopping and finishes what it has begun; send no new requests.
    Stopping,
}

/// The parts that a request needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadinessChecks {
    /// Keys, teams and page cache.
    pub store: ComponentStatus,
    /// The embedded index; a service that searches elsewhere has none and is ready all the same.
    pub index: ComponentStatus,
    /// Storage of fetched pages. When the disk is full, pages are still served, and nothing is stored for a
    /// minute.
    #[serde(default)]
    pub cache: ComponentStatus,
    /// Storage of files such as screenshots, in the directory or the bucket, as of the last one. A file that
    /// cannot be stored is reported in the response, which succeeds.
    #[serde(default)]
    pub artifacts: ComponentStatus,
}

/// The condition of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ComponentStatus {
    /// It answers.
    #[default]
    Ok,
    /// It does not answer, or there is none.
    Unavailable,
}

/// A word for those who try the address in a browser: `GET /`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootResponse {
    /// Name of the service and how to use it.
    pub message: String,
    /// The version of the service.
    pub version: String,
    /// Path of the reference of the interface, for people.
    pub docs: String,
    /// Path of the OpenAPI document.
    pub openapi: String,
}

/// Old name of [`RootResponse`].
#[deprecated(note = "renamed to `RootResponse`")]
pub type Welcome = RootResponse;

/// Old name of [`HealthResponse`].
#[deprecated(note = "renamed to `HealthResponse`")]
pub type Health = HealthResponse;

/// Old name of [`ReadinessResponse`].
#[deprecated(note = "renamed to `ReadinessResponse`")]
pub type Readiness = ReadinessResponse;

/// Old name of [`ComponentStatus`].
#[deprecated(note = "renamed to `ComponentStatus`")]
pub type Condition = ComponentStatus;
