//! Checks of a monitor (operations.md, section 3.4).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

use super::notification::MonitorNotificationStatus;
use super::target::MonitorTargetKind;

/// Check of a monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheck {
    /// ID of the check, a UUID.
    pub id: String,
    /// ID of the monitor.
    pub monitor_id: String,
    /// State of the check.
    pub status: MonitorCheckStatus,
    /// Cause of the check.
    pub trigger: MonitorTrigger,
    /// Time for which the check was scheduled, ISO 8601. Null if a request started it.
    pub scheduled_for: Option<String>,
    /// Time when the check started, ISO 8601. Null before.
    pub started_at: Option<String>,
    /// Time when the check ended, ISO 8601. Null before.
    pub finished_at: Option<String>,
    /// Estimate of the credits of the check.
    pub estimated_credits: Option<u64>,
    /// Credits that were reserved for the check.
    pub reserved_credits: Option<u64>,
    /// Credits that the check cost. Null before its end.
    pub actual_credits: Option<u64>,
    /// State of the credits.
    pub billing_status: MonitorBillingStatus,
    /// Pages of the check by status.
    pub summary: MonitorCheckSummary,
    /// Result of each target. Null before the start.
    pub target_results: Option<Vec<MonitorTargetResult>>,
    /// Outcome of the notifications. Null before the first.
    pub notification_status: Option<MonitorNotificationStatus>,
    /// Reason why the check failed or was skipped. Null if there is none.
    pub error: Option<String>,
    /// Time when the check was created, ISO 8601.
    pub created_at: String,
    /// Time of the last change of the check, ISO 8601.
    pub updated_at: String,
}

/// States of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MonitorCheckStatus {
    /// The check has not started.
    Queued,
    /// The check is in progress.
    Running,
    /// All targets are done, no page has an error.
    Completed,
    /// The check could not continue.
    Failed,
    /// All targets are done, at least one page has an error.
    Partial,
    /// The check was due while another one ran.
    SkippedOverlap,
    /// The team did not have enough credits.
    SkippedNoCredits,
}

/// Causes of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorTrigger {
    /// The schedule.
    Scheduled,
    /// A request.
    Manual,
}

/// States of the credits of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MonitorBillingStatus {
    /// The service does not count credits.
    NotApplicable,
    /// The credits are reserved.
    Reserved,
    /// The credits are charged.
    Confirmed,
    /// The reserved credits were given back.
    Released,
    /// The credits could not be charged.
    Failed,
}

/// Number of pages of a check by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheckSummary {
    /// Number of all pages.
    pub total_pages: u64,
    /// Number of pages without changes.
    pub same: u64,
    /// Number of pages with changes.
    pub changed: u64,
    /// Number of new pages.
    pub new: u64,
    /// Number of pages that no longer exist.
    pub removed: u64,
    /// Number of pages that could not be checked.
    pub error: u64,
}

/// Result of a target of a check. Fields of other types of targets are absent.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MonitorTargetResult {
    /// ID of the target.
    pub target_id: String,
    /// Type of the target.
    #[serde(rename = "type")]
    pub kind: MonitorTargetKind,
    /// IDs of the scrapes of a scrape target.
    pub expected_jobs: Option<Vec<String>>,
    /// ID of the crawl of a crawl target.
    pub crawl_id: Option<String>,
    /// True if the searches of a search target are done.
    pub search_completed: Option<bool>,
    /// Number of results of a search target.
    pub result_count: Option<u64>,
    /// Number of new results of a search target.
    pub matches: Option<u64>,
    /// Summary of the results of a search target in words.
    pub summary: Option<String>,
    /// True if results of a search target were not judged.
    pub judge_degraded: Option<bool>,
    /// Reason why results were not judged.
    pub degraded_reason: Option<String>,
    /// Credits of the searches.
    pub search_credits: Option<u64>,
    /// Credits of judging the results.
    pub judge_credits: Option<u64>,
    /// Number of judged results.
    pub results_judged: Option<u64>,
}

impl MonitorTargetResult {
    /// Returns the result of a target with all other fields absent.
    #[must_use]
    pub fn new(target_id: impl Into<String>, kind: MonitorTargetKind) -> Self {
        Self {
            target_id: target_id.into(),
            kind,
            expected_jobs: None,
            crawl_id: None,
            search_completed: None,
            result_count: None,
            matches: None,
            summary: None,
            judge_degraded: None,
            degraded_reason: None,
            search_credits: None,
            judge_credits: None,
            results_judged: None,
        }
    }
}
