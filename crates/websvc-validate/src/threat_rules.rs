//! Effective threat protection of a request: its own values, else those of its team.

use std::sync::Arc;

use websvc_types::limits::RISK_SCORE_DEFAULT;
use websvc_types::{ThreatFailurePolicy, ThreatMode, ThreatProtection};

use crate::policy::{Policy, ThreatPolicy};
use crate::retention::RetentionMode;

/// Rules for checking URLs (specification, section 2.3). Domains are in lower case and ASCII form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreatRules {
    request: ThreatProtection,
    team: Arc<ThreatProtection>,
    retention: RetentionMode,
}

impl ThreatRules {
    /// Returns the rules of a request; `None` if its URLs are not checked.
    pub(crate) fn new(
        policy: &Policy,
        request: Option<&ThreatProtection>,
        retention: RetentionMode,
    ) -> Option<Self> {
        let request = request.cloned().unwrap_or_default();
        // A request that turns off enforced protection was rejected before.
        let is_off = request.mode == Some(ThreatMode::Off) && policy.threat != ThreatPolicy::Enforced;
        if policy.threat == ThreatPolicy::Off || is_off {
            return None;
        }
        Some(Self { request, team: Arc::clone(&policy.threat_values), retention })
    }

    /// Returns the minimum risk score that blocks a URL, 0 to 100.
    #[must_use]
    pub fn risk_score_threshold(&self) -> u8 {
        self.request.risk_score_threshold.or(self.team.risk_score_threshold).unwrap_or(RISK_SCORE_DEFAULT)
    }

    /// Returns the domains that are always allowed: hostnames or wildcards such as `*.example.com`.
    #[must_use]
    pub fn whitelist(&self) -> &[String] {
        first_set(&self.request.whitelist, &self.team.whitelist)
    }

    /// Returns the domains that are blocked: hostnames or wildcards such as `*.example.com`.
    #[must_use]
    pub fn blacklist(&self) -> &[String] {
        first_set(&self.request.blacklist, &self.team.blacklist)
    }

    /// Returns the blocked top-level domains.
    #[must_use]
    pub fn blocked_tlds(&self) -> &[String] {
        first_set(&self.request.blocked_tlds, &self.team.blocked_tlds)
    }

    /// Returns the policy if the scanner is not available; `None` if neither the request nor the team sets it.
    #[must_use]
    pub fn failure_policy(&self) -> Option<ThreatFailurePolicy> {
        self.request.failure_policy.or(self.team.failure_policy)
    }

    /// Returns the data retention of the request, which also applies to verdicts.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }
}

fn first_set<'a>(request: &'a Option<Vec<String>>, team: &'a Option<Vec<String>>) -> &'a [String] {
    request.as_ref().or(team.as_ref()).map_or(&[], Vec::as_slice)
}
