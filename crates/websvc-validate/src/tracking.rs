//! Decides whether a page is compared with its last scrape (operations.md, sections 6.1 and 6.3).

use websvc_types::Format;

use crate::retention::RetentionMode;

/// The comparison of a page with its last scrape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackingPlan {
    /// It is not requested.
    Off,
    /// The page is fetched again, compared and stored.
    On,
    /// It is requested, and left out because nothing of the page may be stored.
    ZeroRetention,
    /// It is requested, and left out because nothing may be stored for the caller.
    Anonymous,
    /// It is requested, and left out because the page may come from the cache only: lockdown, or `minAge`.
    CacheOnly,
}

impl TrackingPlan {
    pub(crate) fn new(
        formats: &[Format],
        retention: RetentionMode,
        lockdown: bool,
        has_min_age: bool,
    ) -> Self {
        let is_requested = formats.iter().any(|format| matches!(format, Format::ChangeTracking(_)));
        match (is_requested, retention) {
            (false, _) => Self::Off,
            (true, _) if lockdown || has_min_age => Self::CacheOnly,
            (true, RetentionMode::Zero) => Self::ZeroRetention,
            (true, RetentionMode::Anonymous) => Self::Anonymous,
            (true, RetentionMode::Normal) => Self::On,
        }
    }
}
