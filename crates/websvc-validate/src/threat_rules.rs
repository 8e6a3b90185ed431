//! The threat protection in force for a request: what it brings itself, over the values of its team.

use std::sync::Arc;

use websvc_types::limits::RISK_SCORE_DEFAULT;
use websvc_types::{ThreatFailurePolicy, ThreatMode, ThreatProtection};

use crate::policy::{Policy, ThreatPolicy};
use crate::retention::RetentionMode;

/// The rules by which URLs are checked (specification, section 2.3). Domains are in lower case and ASCII form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreatRules {
    own: ThreatProtection,
    team: Arc<ThreatProtection>,
    retention: RetentionMode,
}

impl ThreatRules {
    /// Returns what is in force for a request; `None` when its URLs are not checked.
    pub(crate) fn of(
        policy: &Policy,
        own: Option<&ThreatProtection>,
        retention: RetentionMode,
    ) -> Option<Self> {
        let own = own.cloned().unwrap_or_default();
        // What a request may not turn off was refused before.
        let is_off = own.mode == Some(ThreatMode::Off) && policy.threat != ThreatPolicy::Enforced;
        if policy.threat == ThreatPolicy::Off || is_off {
            return None;
        }
        Some(Self { own, team: Arc::clone(&policy.threat_values), retention })
    }

    /// Returns the score from which on a verdict blocks a URL, 0 to 100.
    #[must_use]
    pub fn risk_score_threshold(&self) -> u8 {
        self.own.risk_score_threshold.or(self.team.risk_score_threshold).unwrap_or(RISK_SCORE_DEFAULT)
    }

    /// Returns the domains that are always allowed: plain, or beginning with `*.`.
    #[must_use]
    pub fn whitelist(&self) -> &[String] {
        either(&self.own.whitelist, &self.team.whitelist)
    }

    /// Returns the domains that are blocked: plain, or beginning with `*.`.
    #[must_use]
    pub fn blacklist(&self) -> &[String] {
        either(&self.own.blacklist, &self.team.blacklist)
    }

    /// Returns the top-level domains that are blocked.
    #[must_use]
    pub fn blocked_tlds(&self) -> &[String] {
        either(&self.own.blocked_tlds, &self.team.blocked_tlds)
    }

    /// Returns what happens when the classifier cannot be reached; `None` when neither the request nor the team says.
    #[must_use]
    pub fn failure_policy(&self) -> Option<ThreatFailurePolicy> {
        self.own.failure_policy.or(self.team.failure_policy)
    }

    /// Returns what may be kept of the request, verdicts included.
    #[must_use]
    pub fn retention(&self) -> RetentionMode {
        self.retention
    }
}

fn either<'a>(own: &'a Option<Vec<String>>, team: &'a Option<Vec<String>>) -> &'a [String] {
    own.as_ref().or(team.as_ref()).map_or(&[], Vec::as_slice)
}
