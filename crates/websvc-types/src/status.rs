//! Health and readiness of the service.
//!
//! These operations are additions of websvc; the specification does not have them.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// Response of `GET /health`: liveness of the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct HealthResponse {
    /// Always `ok`, because the process responds.
    pub status: ComponentStatus,
    /// Version of the service.
    pub version: String,
}

/// Response of `GET /ready`: readiness of the service and state of its components. The status is 200 if requests are
/// served, else 503.
///
/// # Examples
///
/// ```
/// use websvc_types::status::{ReadinessResponse, ReadinessStatus};
///
/// let ready: ReadinessResponse = serde_json::from_str(r#"{
///     "status": "not ready",
///     "checks": { "store": "unavailable", "index": "ok" },
///     "degraded": ["store"]
/// }"#)?;
/// assert_eq!(ready.status, ReadinessStatus::NotReady);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ReadinessResponse {
    /// Readiness of the whole service, from `checks`.
    pub status: ReadinessStatus,
    /// Reason why the service is not ready, if the database is damaged or cannot be written. Absent otherwise.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub reason: Option<String>,
    /// Components that every request needs.
    pub checks: ReadinessChecks,
    /// Search sources, in order of preference. A paused source does not affect `status`: searches use the others and
    /// name the paused source in `warning`.
    #[serde(default)]
    pub sources: Vec<SourceReadiness>,
    /// Pages that wait to be written to indexes on servers, for each server that pages are written to. They do not affect
    /// `status`: they are written later, and no page is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outboxes: Vec<OutboxReadiness>,
    /// Browser that renders pages. Without it, only pages that need JavaScript fail, so it does not affect `status`.
    #[serde(default)]
    pub browser: BrowserReadiness,
    /// State of the scanner of threat protection. While its circuit breaker is open, `failurePolicy` decides
    /// instead, so it does not affect `status`.
    #[serde(default)]
    pub threat: ThreatReadiness,
    /// Names of the degraded components: those of `checks`, `source:NAME`, `outbox:NAME`, `browser`, `threat`, `clock`. Empty
    /// if there are none. The service may be ready although some components are degraded.
    #[serde(default)]
    pub degraded: Vec<String>,
    /// Sinks of audit events. A failing sink gets its events later, so it does not affect `status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audit: Vec<AuditReadiness>,
    /// State of the requests that other replicas pass on to this one, because only it can answer them. Absent if the
    /// database is not on a server: then there are no other replicas.
    pub forwarding: Option<ForwardingReadiness>,
    /// Clock of the machine. The service does not depend on it for a time, so it does not affect `status`.
    #[serde(default)]
    pub clock: ClockReadiness,
}

/// Comparison of the clock of the machine with the time of the service.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClockReadiness {
    /// State of the clock.
    pub state: ClockState,
    /// Milliseconds by which the clock is ahead; negative if it is behind. Absent unless it is wrong.
    pub ahead_ms: Option<i64>,
    /// Description of the difference, and what to do. Absent unless the clock is wrong.
    pub reason: Option<String>,
}

/// State of the clock of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ClockState {
    /// The clock differs from the time of the service by at most 5 seconds.
    #[default]
    Ok,
    /// The clock differs from that of the database, or was set a moment ago.
    Wrong,
}

/// State of the requests that other replicas pass on to this one, such as those for its browser sessions.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForwardingReadiness {
    /// State of the address that this replica announces.
    pub state: ForwardingState,
    /// Reason why it announces none, and the key to set. Absent if it announces one.
    pub reason: Option<String>,
}

/// State of the address that a replica announces to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ForwardingState {
    /// The other replicas know an address of this one.
    Ok,
    /// This replica announces no address, so requests for its browser sessions must be sent to it directly.
    Off,
}

/// State of the scanner of threat protection.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThreatReadiness {
    /// State of its circuit breaker.
    pub state: ThreatState,
    /// Milliseconds until a paused scanner is tried again. Absent unless it is paused.
    pub retry_after_ms: Option<u64>,
    /// Failure that opened the circuit breaker. Absent while it is closed.
    pub reason: Option<String>,
}

/// State of the circuit breaker of the threat scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThreatState {
    /// The circuit breaker is closed: requests are sent.
    Ok,
    /// The circuit breaker is open after repeated failures: no requests are sent for a time.
    Paused,
    /// The circuit breaker is half-open: one trial request is in flight.
    Probing,
    /// No scanner is configured; only the lists decide.
    #[default]
    Off,
}

/// State of a sink of audit events.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditReadiness {
    /// Kind of the sink: `file`, `syslog` or `webhook`.
    pub name: String,
    /// State of the deliveries.
    pub state: AuditState,
    /// Number of events that are not delivered yet.
    pub backlog: u64,
    /// Number of events lost since the process started.
    pub lost: u64,
    /// Reason of the failure. Absent unless the sink is failing.
    pub reason: Option<String>,
}

/// State of the deliveries to a sink of audit events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AuditState {
    /// The last delivery succeeded.
    Ok,
    /// The last delivery failed; deliveries are retried.
    Failing,
}

/// Availability of a browser for JavaScript rendering. The check does not start a browser.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrowserReadiness {
    /// State of the browser.
    pub state: BrowserState,
    /// Reason why a configured browser is not available.
    pub reason: Option<String>,
    /// Warnings for the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Availability of the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BrowserState {
    /// The browser runs, or can be started as far as known.
    Ok,
    /// The configured browser is not installed, failed to start, or cannot be reached.
    Degraded,
    /// The configuration turns the browser off.
    #[default]
    Off,
}

/// State of a search source.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SourceReadiness {
    /// Name of the source in the configuration.
    pub name: String,
    /// State of its circuit breaker.
    pub state: SourceState,
    /// Milliseconds until a paused source is tried again. Absent unless it is paused.
    pub retry_after_ms: Option<u64>,
    /// Failure that opened the circuit breaker. Absent while it is closed.
    pub reason: Option<String>,
    /// Reason why an available source finds nothing: the index is empty and the only source.
    pub warning: Option<String>,
}

/// State of the pages that wait to be written to an index on a server.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutboxReadiness {
    /// Name of the source in the configuration.
    pub name: String,
    /// State of the outbox.
    pub state: OutboxState,
    /// Number of waiting pages, of all replicas.
    pub pages: u64,
    /// Size of the waiting pages before compression, in bytes.
    pub bytes: u64,
    /// Milliseconds for which the oldest page waits. 0 if none waits.
    pub lag_ms: u64,
    /// Failure of the last attempt to write pages. Absent if it succeeded.
    pub reason: Option<String>,
}

/// State of an outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OutboxState {
    /// Pages are written soon.
    Ok,
    /// The oldest page waits longer than `outbox_max_lag_ms` of the source. Searches do not find the waiting pages yet.
    Late,
    /// The outbox accepts no more pages until some are written. Responses to scrapes have a `warning`, and uploads to
    /// the index fail.
    Full,
}

/// State of the circuit breaker of a search source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// The circuit breaker is closed: requests are sent.
    Ok,
    /// The circuit breaker is open after repeated failures: no requests are sent for a time.
    Paused,
    /// The circuit breaker is half-open: one trial request is in flight.
    Probing,
}

/// Readiness of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReadinessStatus {
    /// Requests are served.
    Ready,
    /// A required component is not available.
    #[serde(rename = "not ready")]
    NotReady,
    /// The service is shutting down and finishes the requests in flight; send no new ones.
    Stopping,
}

/// Components that every request needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct ReadinessChecks {
    /// Database of keys, teams and the page cache. It is unavailable if it does not respond, if it is damaged, or while it
    /// cannot be written, because its disk is full for example.
    pub store: ComponentStatus,
    /// Embedded index. A service that searches only external sources has none and reports `ok`.
    pub index: ComponentStatus,
    /// Storage of fetched pages. When the disk is full, pages are still served, and nothing is stored for a minute.
    #[serde(default)]
    pub cache: ComponentStatus,
    /// Storage of files such as screenshots, by the outcome of the last write. A file that cannot be stored is reported
    /// in the `warning` of the response, which succeeds.
    #[serde(default)]
    pub artifacts: ComponentStatus,
}

/// State of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ComponentStatus {
    /// The component works.
    #[default]
    Ok,
    /// The component does not respond or is missing.
    Unavailable,
}

/// Response of `GET /`, for people who open the address in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RootResponse {
    /// Name of the service and a hint on its use.
    pub message: String,
    /// Version of the service.
    pub version: String,
    /// Path of the API reference for people.
    pub docs: String,
    /// Path of the OpenAPI document.
    pub openapi: String,
}
