//! Protection against dangerous URLs (specification, section 2.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{RISK_SCORE_MAX, RISK_SCORE_MIN, THREAT_LIST_MAX};

/// Overrides the organization's threat protection for one request; what is left out keeps the organization's value.
///
/// Needs threat protection to be enabled for the team, else the request is refused with 403.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreatProtection {
    /// Checks of URLs. `off` is an error when protection is enforced for the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ThreatMode>,
    /// A verdict at or above this score, 0 to 100, blocks the URL: lower is stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = RISK_SCORE_MIN, max = RISK_SCORE_MAX))]
    pub risk_score_threshold: Option<u8>,
    /// Domains that are always blocked: plain, or wildcards such as `*.example.com`. At most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = THREAT_LIST_MAX))]
    pub blacklist: Option<Vec<String>>,
    /// Domains that are always allowed; wins over every other rule. At most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = THREAT_LIST_MAX))]
    pub whitelist: Option<Vec<String>>,
    /// Top-level domains that are blocked, in lower case and without the dot. At most 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = THREAT_LIST_MAX))]
    pub blocked_tlds: Option<Vec<String>>,
    /// Policy when the scanner cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<ThreatFailurePolicy>,
}

/// Checks of URLs for risks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThreatMode {
    /// They are not.
    Off,
    /// They are, by an external classifier; 2 credits per URL.
    Normal,
}

/// Policy when the scanner cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThreatFailurePolicy {
    /// The URL is allowed.
    Open,
    /// The URL is blocked.
    Closed,
}
