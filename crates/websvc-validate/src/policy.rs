//! Permissions and defaults of a team.

use std::sync::Arc;

use websvc_types::ThreatProtection;

use crate::json_schema::SchemaCompiler;
use crate::path_patterns::PathPatterns;

/// Permissions of a team, and features that always apply to its requests. The default allows no enterprise feature.
///
/// ```
/// use websvc_types::SearchRequest;
/// use websvc_validate::{FeaturePolicy, Policy, Rejection, read_request};
///
/// let body = br#"{"query": "tea", "enterprise": ["zdr"]}"#;
/// let rejected = read_request::<SearchRequest>(body, &Policy::default());
/// assert!(matches!(rejected, Err(Rejection::Forbidden { .. })));
///
/// let policy = Policy { zdr: FeaturePolicy::Allowed, ..Policy::default() };
/// assert!(read_request::<SearchRequest>(body, &policy).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Zero data retention end to end (`enterprise: ["zdr"]`).
    pub zdr: FeaturePolicy,
    /// Anonymized zero data retention (`enterprise: ["anon"]`).
    pub anon: FeaturePolicy,
    /// Threat protection (specification, section 2.3).
    pub threat: ThreatPolicy,
    /// Permission of requests to change threat protection.
    pub threat_override: ThreatOverride,
    /// Threat protection values of the team, in the form that [`ScrapePlan::threat`](crate::ScrapePlan::threat)
    /// returns. `mode` is ignored.
    pub threat_values: Arc<ThreatProtection>,
    /// Permission of crawls to name the user agent whose rules in robots.txt apply.
    pub robots_agent: RobotsAgentPolicy,
    /// Table of compiled path patterns, as a handle of the team.
    pub path_patterns: PathPatterns,
    /// Compiler of the JSON Schemas of requests. By default schemas are not compiled.
    pub schema_compiler: SchemaCompiler,
}

/// Policy for a feature: rejected, allowed on request, or forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeaturePolicy {
    /// A request for the feature is rejected.
    #[default]
    Off,
    /// A request may use the feature.
    Allowed,
    /// Every request uses the feature.
    Forced,
}

/// Threat protection of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatPolicy {
    /// Not enabled: a request with `threatProtection` is rejected.
    #[default]
    Off,
    /// Enabled; a request may turn it off.
    On,
    /// Enabled; a request may not turn it off.
    Enforced,
}

/// Permission of requests to change threat protection that is enabled for the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThreatOverride {
    /// A request may change threat protection.
    #[default]
    Allowed,
    /// A request with `threatProtection` is rejected.
    Denied,
}

/// Permission of crawls to name the user agent whose rules in robots.txt apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RobotsAgentPolicy {
    /// A crawl with `robotsUserAgent` is rejected.
    #[default]
    Denied,
    /// A crawl may name a user agent.
    Allowed,
}
