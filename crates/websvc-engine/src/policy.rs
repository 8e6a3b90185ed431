//! The policy of a team, as stored.

use std::sync::Arc;

use websvc_store::{self as store, Store, StoreError, Team};
use websvc_types::ThreatProtection;
use websvc_validate::{
    FeaturePolicy, Policy, RetentionMode, RobotsAgentPolicy, ThreatOverride, ThreatPolicy,
};

/// The policy of a team could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The database could not be read.
    #[error("the team's threat protection could not be read")]
    Store(#[from] StoreError),
    /// The stored threat protection is not valid.
    #[error("the team's threat protection is not valid")]
    Values(#[from] serde_json::Error),
}

/// Returns the policy of a team. Without authentication there is no team, and none of the enterprise features is
/// allowed.
///
/// # Errors
/// [`PolicyError`]. The request must fail then: without the policy, URLs that the team has blocked would be returned.
pub fn team_policy(store: &Store, team: Option<&Team>) -> Result<Policy, PolicyError> {
    let Some(team) = team else { return Ok(Policy::default()) };
    Ok(Policy {
        zdr: feature_policy(team.zdr),
        anon: feature_policy(team.anon),
        threat: match team.threat_protection {
            store::ThreatPolicy::Off => ThreatPolicy::Off,
            store::ThreatPolicy::On => ThreatPolicy::On,
            store::ThreatPolicy::Enforced => ThreatPolicy::Enforced,
        },
        threat_override: match team.threat_override {
            store::ThreatOverride::Allowed => ThreatOverride::Allowed,
            store::ThreatOverride::Denied => ThreatOverride::Denied,
        },
        threat_values: threat_values(store, team)?,
        robots_agent: match team.robots_agent {
            store::RobotsAgentPolicy::Denied => RobotsAgentPolicy::Denied,
            store::RobotsAgentPolicy::Allowed => RobotsAgentPolicy::Allowed,
        },
        ..Policy::default()
    })
}

/// Returns the retention mode that applies to all requests of a team, whatever they request.
#[must_use]
pub fn team_retention(team: &Team) -> RetentionMode {
    RetentionMode::requested_retention(&Policy {
        zdr: feature_policy(team.zdr),
        anon: feature_policy(team.anon),
        ..Policy::default()
    })
}

fn threat_values(store: &Store, team: &Team) -> Result<Arc<ThreatProtection>, PolicyError> {
    if team.threat_protection == store::ThreatPolicy::Off {
        return Ok(Arc::default());
    }
    match store.recent_threat_values(&team.name)? {
        Some(json) => Ok(Arc::new(serde_json::from_str(&json)?)),
        None => Ok(Arc::default()),
    }
}

fn feature_policy(retention: store::Retention) -> FeaturePolicy {
    match retention {
        store::Retention::Off => FeaturePolicy::Off,
        store::Retention::Allowed => FeaturePolicy::Allowed,
        store::Retention::Forced => FeaturePolicy::Forced,
    }
}
