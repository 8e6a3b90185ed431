//! Threat protection: checks of URLs against lists and an external scanner (specification, section 2.3).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{RISK_SCORE_MAX, RISK_SCORE_MIN, THREAT_LIST_MAX};

/// Changes the threat protection of the team for one request; absent fields keep the values of the team. The response
/// is 403 unless threat protection and overrides are enabled for the team.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ThreatProtection {
    /// Checks of URLs by a scanner. `off` is an error if protection is enforced for the team.
    pub mode: Option<ThreatMode>,
    /// Minimum risk score that blocks a URL, 0 to 100; a lower value is stricter.
    #[cfg_attr(feature = "schemars", schemars(range(min = RISK_SCORE_MIN, max = RISK_SCORE_MAX)))]
    pub risk_score_threshold: Option<u8>,
    /// Domains that are always blocked: at most 1000 hostnames or wildcards such as `*.example.com`.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub blacklist: Option<Vec<String>>,
    /// Domains that are always allowed, above every other rule: at most 1000 hostnames or wildcards.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub whitelist: Option<Vec<String>>,
    /// Blocked top-level domains, in lower case and without the dot, at most 1000.
    #[cfg_attr(feature = "schemars", schemars(length(max = THREAT_LIST_MAX)))]
    pub blocked_tlds: Option<Vec<String>>,
    /// Policy if the scanner is not available.
    pub failure_policy: Option<ThreatFailurePolicy>,
}

/// Modes of threat protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThreatMode {
    /// URLs are not scanned.
    Off,
    /// URLs are scanned by an external service; costs 2 credits per URL.
    Normal,
}

/// Policies if the scanner is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ThreatFailurePolicy {
    /// The URL is allowed.
    Open,
    /// The URL is blocked.
    Closed,
}
