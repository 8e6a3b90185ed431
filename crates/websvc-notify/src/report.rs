//! Reports about the checks of a monitor, as the caller builds them.

use jiff::Timestamp;
use serde_json::Value;
use url::Url;
use uuid::Uuid;
use websvc_types::monitor::{MeaningfulChange, MonitorPageStatus};

/// The result of one check of a monitor. Texts are as the page or the model wrote them.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// ID of the monitor.
    pub monitor_id: Uuid,
    /// Name of the monitor.
    pub monitor_name: String,
    /// ID of the check.
    pub check_id: Uuid,
    /// State in which the check ended.
    pub status: CheckStatus,
    /// Time at which the check ended.
    pub finished_at: Timestamp,
    /// Number of pages by their status.
    pub counts: PageCounts,
    /// The pages, in any order. They may be fewer than `counts` says; those without a change are not listed.
    pub pages: Vec<PageReport>,
    /// Reason why the check as a whole failed.
    pub error: Option<String>,
    /// Page of the dashboard that shows the check.
    pub dashboard_url: Option<Url>,
}

impl CheckReport {
    /// Returns the report with pages of these statuses only.
    #[must_use]
    pub fn only(mut self, statuses: &[MonitorPageStatus]) -> Self {
        self.pages.retain(|page| statuses.contains(&page.status));
        let count = |status, count| if statuses.contains(&status) { count } else { 0 };
        let PageCounts { new, changed, removed, error, same } = self.counts;
        self.counts = PageCounts {
            new: count(MonitorPageStatus::New, new),
            changed: count(MonitorPageStatus::Changed, changed),
            removed: count(MonitorPageStatus::Removed, removed),
            error: count(MonitorPageStatus::Error, error),
            same,
        };
        self
    }
}

/// State in which a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStatus {
    /// All targets are done, without a page in error.
    Completed,
    /// All targets are done, with pages in error.
    Partial,
    /// The check could not continue.
    Failed,
    /// Another check was running when this one was due.
    SkippedOverlap,
    /// The credits of the team did not suffice.
    SkippedNoCredits,
}

/// Number of pages of a check by their status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Pages without a previous version.
    pub new: u64,
    /// Pages that differ from their previous version.
    pub changed: u64,
    /// Pages that no longer exist.
    pub removed: u64,
    /// Pages that could not be checked.
    pub error: u64,
    /// Pages without a change.
    pub same: u64,
}

/// Result of a check for one page.
#[derive(Debug, Clone)]
pub struct PageReport {
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: Option<String>,
    /// Status of the page.
    pub status: MonitorPageStatus,
    /// Judgment of the model.
    pub judgment: Option<Judgment>,
    /// Unified diff of the text.
    pub diff: Option<String>,
    /// Fields whose values changed.
    pub fields: Vec<FieldChange>,
    /// Reason why the page could not be checked.
    pub error: Option<String>,
}

/// Judgment of a model about a changed page.
#[derive(Debug, Clone)]
pub struct Judgment {
    /// `true` if the change matters for the goal of the monitor.
    pub is_meaningful: bool,
    /// Reason in words.
    pub reason: String,
    /// The changes that matter.
    pub changes: Vec<MeaningfulChange>,
}

/// A field of a page whose value changed. A value that does not exist is null.
#[derive(Debug, Clone)]
pub struct FieldChange {
    /// Path of the field, such as `plans[0].price`.
    pub path: String,
    /// The value before.
    pub previous: Value,
    /// The value after.
    pub current: Value,
}
