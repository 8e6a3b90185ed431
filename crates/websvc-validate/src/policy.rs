//! Permissions of a team.

use std::sync::Arc;

use websvc_types::ThreatProtection;

use crate::path_patterns::PathPatterns;

/// Permissions of a team, and features that always apply. The default allows no enterprise feature.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Zero data retention end to end (`enterprise: ["zdr"]`).
    pub zdr: FeaturePolicy,
    /// Anonymized zero data retention (`enterprise: ["anon"]`).
    pub anon: FeaturePolicy,
    /// Threat protection (specification, section 2.3).
    pub threat: ThreatPolicy,
    /// Permission to override threat protection in a request.
    pub threat_override: ThreatOverride,
    /// The team's own values of threat protection, as [`check_scrape_options`](crate::check_scrape_options) returns those
    /// of a request; `mode` is of no meaning there.
    pub threat_values: Arc<ThreatProtection>,
    /// The compiled path patterns that the team has a part of.
    pub path_patterns: PathPatterns,
}

/// Permission to use a feature: never, on request, or always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeaturePolicy {
    /// A request that asks for it is refused.
    #[default]
    Off,
    /// A request may ask for it.
    Allowed,
    /// Every request is treated as if it asked for it.
    Forced,
}

/// Checks of URLs for risks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatPolicy {
    /// Not enabled: a request with `threatProtection` is refused.
    #[default]
    Off,
    /// Enabled; a request may turn it off.
    On,
    /// Enabled; a request may not turn it off.
    Enforced,
}

/// Permission to override threat protection in a request, once it is enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatOverride {
    /// It may.
    #[default]
    Allowed,
    /// A request with `threatProtection` is refused.
    Denied,
}
