//! `[change_tracking]`: the history of pages for the format `changeTracking`.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::Deserialize;
use websvc_store::SnapshotLimits;

/// `[change_tracking]`: the limits of the stored versions of pages.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChangeTracking {
    /// Maximum number of versions of one team.
    pub(crate) max_pages_per_team: NonZeroU64,
    /// Maximum size of the versions of one team in bytes, compressed.
    pub(crate) max_bytes_per_team: NonZeroU64,
    /// Time after its last use at which a version is deleted.
    pub(crate) max_unused_days: NonZeroU64,
}

impl ChangeTracking {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["max_pages_per_team", "max_bytes_per_team", "max_unused_days"];

    /// Returns the limits for the store.
    pub(crate) fn limits(&self) -> SnapshotLimits {
        let Self { max_pages_per_team, max_bytes_per_team, max_unused_days } = self;
        SnapshotLimits {
            max_pages_per_team: max_pages_per_team.get(),
            max_bytes_per_team: max_bytes_per_team.get(),
            max_unused: Duration::from_secs(max_unused_days.get().saturating_mul(86_400)),
        }
    }
}

impl Default for ChangeTracking {
    fn default() -> Self {
        let SnapshotLimits { max_pages_per_team, max_bytes_per_team, max_unused } = SnapshotLimits::default();
        let positive = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            max_pages_per_team: positive(max_pages_per_team),
            max_bytes_per_team: positive(max_bytes_per_team),
            max_unused_days: positive(max_unused.as_secs() / 86_400),
        }
    }
}
