//! Settings of a team: threat protection, and audit events for a SIEM.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use crate::limits::{RISK_SCORE_MAX, RISK_SCORE_MIN, SIEM_TEST_MESSAGE_MAX_CHARS, THREAT_LIST_MAX};
use crate::{ThreatFailurePolicy, ThreatMode};

/// Request of `PUT /v2/team/threat-protection`: replaces the threat protection of the team. Absent fields get their
/// defaults.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamThreatRequest {
    /// Checks of the URLs of the team.
    pub mode: ThreatMode,
    /// True does not let a request turn the checks off. Only with the mode `normal`. Default: false.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = false)))]
    pub enforced: Option<bool>,
    /// False rejects requests with `threatProtection`. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub allow_request_overrides: Option<bool>,
    /// Minimum risk score that blocks a URL, 0 to 100; a lower value is stricter. Default: 75.
    #[cfg_attr(feature = "schemars", schemars(range(min = RISK_SCORE_MIN, max = RISK_SCORE_MAX)))]
    pub risk_score_threshold: Option<u8>,
    /// Domains that are always blocked: at most 1000 hostnames or wildcards such as `*.example.com`. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub blacklist: Option<Vec<String>>,
    /// Domains that are always allowed, above every other rule: at most 1000 hostnames or wildcards. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub whitelist: Option<Vec<String>>,
    /// Blocked top-level domains, in lower case and without the dot, at most 1000. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub blocked_tlds: Option<Vec<String>>,
    /// Policy if the scanner is not available. Default: closed if there is a scanner; without one, the lists alone decide.
    pub failure_policy: Option<ThreatFailurePolicy>,
}

/// Response of `GET` and `PUT /v2/team/threat-protection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct TeamThreatResponse {
    /// Always true.
    pub success: bool,
    /// Threat protection of the team.
    pub data: TeamThreatProtection,
}

/// Threat protection of a team. As a request, it changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TeamThreatProtection {
    /// Checks of the URLs of the team.
    pub mode: ThreatMode,
    /// True if a request cannot turn the checks off.
    pub enforced: bool,
    /// False if requests with `threatProtection` are rejected.
    pub allow_request_overrides: bool,
    /// Minimum risk score that blocks a URL.
    pub risk_score_threshold: u8,
    /// Domains that are always blocked.
    pub blacklist: Vec<String>,
    /// Domains that are always allowed.
    pub whitelist: Vec<String>,
    /// Blocked top-level domains.
    pub blocked_tlds: Vec<String>,
    /// Policy if the scanner is not available; null if none was set.
    pub failure_policy: Option<ThreatFailurePolicy>,
}

/// Request of `PUT /v2/team/siem`: turns the audit events of the team on or off.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SiemRequest {
    /// True writes an audit event for each request of the team.
    pub enabled: bool,
    /// Must be absent: the operator configures the receivers of audit events, for all teams. Any value is rejected with 400.
    pub destination: Option<Value>,
}

/// Response of `GET` and `PUT /v2/team/siem`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct SiemResponse {
    /// Always true.
    pub success: bool,
    /// Audit events of the team.
    pub data: SiemSettings,
}

/// Audit events of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct SiemSettings {
    /// True if the operator has configured a receiver. Without one, no events are written.
    pub configured: bool,
    /// True if each request of the team writes an event.
    pub enabled: bool,
    /// Kinds of the receivers: `file`, `syslog` and `webhook`.
    pub receivers: Vec<String>,
}

/// Request of `POST /v2/team/siem/test`: sends a test event to the receivers of audit events.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SiemTestRequest {
    /// The `target` of the event, by which it can be found. Default: `team`, followed by the name of the team.
    #[cfg_attr(feature = "schemars", schemars(length(max = SIEM_TEST_MESSAGE_MAX_CHARS)))]
    pub message: Option<String>,
}

/// Response of `POST /v2/team/siem/test`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct SiemTestResponse {
    /// Always true.
    pub success: bool,
    /// The delivery of the test event.
    pub data: SiemTest,
}

/// The delivery of a test event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiemTest {
    /// ID of the event.
    pub event_id: String,
    /// The receivers. A receiver that is not available gets the event later.
    pub receivers: Vec<SiemTestReceiver>,
}

/// The delivery of a test event to one receiver.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct SiemTestReceiver {
    /// Kind of the receiver: `file`, `syslog` or `webhook`.
    pub name: String,
    /// True if it has received the event.
    pub received: bool,
    /// The reason why it has not.
    pub error: Option<String>,
}
