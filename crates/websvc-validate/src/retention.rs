//! Data retention of a request.

use websvc_types::{Violation, ViolationCode};

use crate::error::Rejection;
use crate::policy::{FeaturePolicy, Policy};

/// Data retention of a request, from the request and the policy of the team. It affects the price.
///
/// The values are ordered from the loosest to the strictest. `lockdown` also stores nothing
/// ([`ScrapePlan::store_in_cache`] is then false), but has its own prices, so it is not part of this type.
///
/// [`ScrapePlan::store_in_cache`]: crate::ScrapePlan::store_in_cache
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RetentionMode {
    /// Ordinary retention.
    #[default]
    Normal,
    /// Stores neither content nor the caller: only that there was a request, and its cost.
    Anonymous,
    /// Stores no content: only the caller and the cost.
    Zero,
}

impl RetentionMode {
    /// Returns the retention that the policy applies to every request.
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

    /// Checks that requests of a team may be stored.
    ///
    /// # Errors
    /// [`Rejection`] with this message about the operation.
    pub(crate) fn check_stored(policy: &Policy, message: &str) -> Result<(), Rejection> {
        if Self::requested_retention(policy) == Self::Normal {
            return Ok(());
        }
        let (path, code) = (String::new(), ViolationCode::NotSupported);
        Err(Rejection::Invalid(vec![Violation { path, code, message: message.to_owned() }]))
    }
}
