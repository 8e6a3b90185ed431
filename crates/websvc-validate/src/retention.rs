//! Retention of a search.

use crate::policy::{FeaturePolicy, Policy};

/// Retention of a search, from `enterprise` and the team's policy; it determines the price.
///
/// `lockdown` counts as zero retention too where storage is concerned ([`ScrapePlan::store_in_cache`] is false then),
/// but has prices of its own, so it does not show here. Ordered from the loosest to the strictest.
///
/// [`ScrapePlan::store_in_cache`]: crate::ScrapePlan::store_in_cache
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RetentionMode {
    /// Standard retention.
    #[default]
    Normal,
    /// No content and nothing that tells who asked: that there was a request, and what it cost.
    Anonymous,
    /// No content: who asked, and what it cost.
    Zero,
}

impl RetentionMode {
    /// Returns what the policy demands of every request.
    #[must_use]
    pub fn requested_retention(policy: &Policy) -> Self {
        match (policy.zdr, policy.anon) {
            (FeaturePolicy::Forced, _) => Self::Zero,
            (FeaturePolicy::Off | FeaturePolicy::Allowed, FeaturePolicy::Forced) => Self::Anonymous,
            (FeaturePolicy::Off | FeaturePolicy::Allowed, FeaturePolicy::Off | FeaturePolicy::Allowed) => {
                Self::Normal
            }
        }
    }
}
