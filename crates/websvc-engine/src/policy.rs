//! What a team may ask for, as the store has it.

use std::sync::Arc;

use websvc_store::{self as store, Store, StoreError, Team};
use websvc_types::ThreatProtection;
use websvc_validate::{FeaturePolicy, Policy, RetentionMode, ThreatOverride, ThreatPolicy};

/// Why it is not known what a team may ask for.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The store has it and cannot be read.
    #[error("the team's threat protection could not be read")]
    Store(#[from] StoreError),
    /// What the store has is no threat protection.
    #[error("the team's threat protection is not valid")]
    Values(#[from] serde_json::Error),
}

/// Returns what a team may ask for; where nobody is asked for a key, none of the enterprise features.
///
/// # Errors
/// [`PolicyError`]. Nothing may be answered then: without its values, what the team has blocked would be shown.
pub fn team_policy(store: &Store, team: Option<&Team>) -> Result<Policy, PolicyError> {
    let Some(team) = team else { return Ok(Policy::default()) };
    Ok(Policy {
        zdr: allowance(team.zdr),
        anon: allowance(team.anon),
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
        ..Policy::default()
    })
}

/// Returns how much of any request of a team may be kept, whatever the request says.
#[must_use]
pub fn team_retention(team: &Team) -> RetentionMode {
    RetentionMode::requested_retention(&Policy {
        zdr: allowance(team.zdr),
        anon: allowance(team.anon),
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

fn allowance(retention: store::Retention) -> FeaturePolicy {
    match retention {
        store::Retention::Off => FeaturePolicy::Off,
        store::Retention::Allowed => FeaturePolicy::Allowed,
        store::Retention::Forced => FeaturePolicy::Forced,
    }
}
