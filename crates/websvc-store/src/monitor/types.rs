//! Types of monitors, checks, pages and baselines.

use super::message_types::NewRecipient;
use crate::key::KeyId;
use crate::ledger::{CreditHold, Usage};
use crate::sql::names;
use crate::webhook::NewWebhook;

/// Limits of the monitors of a team, and of the storage of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitorLimits {
    /// Maximum of monitors of one team.
    pub max_monitors: u64,
    /// Maximum of bytes of the baselines of all teams, compressed. When it is reached, a check that has another
    /// baseline cannot record it.
    pub max_baseline_bytes: u64,
    /// Maximum of bytes of the checks of all teams: their definitions, and the compressed documents of their pages. When
    /// it is exceeded, the sweep deletes the oldest finished checks.
    pub max_check_bytes: u64,
}

impl Default for MonitorLimits {
    fn default() -> Self {
        Self {
            max_monitors: 1_000,
            max_baseline_bytes: 20 * 1024 * 1024 * 1024,
            max_check_bytes: 20 * 1024 * 1024 * 1024,
        }
    }
}

/// The status of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MonitorStatus {
    /// Its checks start on schedule.
    Active,
    /// No check starts.
    Paused,
}

names!(MonitorStatus: Active = "active", Paused = "paused");

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckStatus {
    /// It has not started to work.
    Queued,
    /// It works on its pages.
    Running,
    /// All targets are done, and no page has an error.
    Completed,
    /// All targets are done, and at least one page has an error.
    Partial,
    /// It could not continue.
    Failed,
    /// It was due while another check of the monitor ran.
    SkippedOverlap,
    /// The team had no credits for it.
    SkippedNoCredits,
}

names!(CheckStatus:
    Queued = "queued",
    Running = "running",
    Completed = "completed",
    Partial = "partial",
    Failed = "failed",
    SkippedOverlap = "skipped_overlap",
    SkippedNoCredits = "skipped_no_credits",
);

impl CheckStatus {
    /// Returns whether a check with this status never ran.
    #[must_use]
    pub fn is_skipped(self) -> bool {
        match self {
            Self::SkippedOverlap | Self::SkippedNoCredits => true,
            Self::Queued | Self::Running | Self::Completed | Self::Partial | Self::Failed => false,
        }
    }

    /// Returns whether a check with this status has ended.
    #[must_use]
    pub fn is_finished(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Completed
            | Self::Partial
            | Self::Failed
            | Self::SkippedOverlap
            | Self::SkippedNoCredits => true,
        }
    }
}

/// The reason why a check starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckTrigger {
    /// It is due.
    Scheduled,
    /// The team requested it.
    Manual,
}

names!(CheckTrigger: Scheduled = "scheduled", Manual = "manual");

/// The state of the credits of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BillingStatus {
    /// Nothing is charged.
    NotApplicable,
    /// The estimated credits are reserved.
    Reserved,
    /// The actual credits were charged.
    Confirmed,
    /// The reserved credits were released.
    Released,
    /// The credits could not be reserved or charged.
    Failed,
}

names!(BillingStatus:
    NotApplicable = "not_applicable",
    Reserved = "reserved",
    Confirmed = "confirmed",
    Released = "released",
    Failed = "failed",
);

/// The result of a page of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckPageStatus {
    /// It equals the baseline.
    Same,
    /// There was no baseline, or the page was removed.
    New,
    /// It differs from the baseline.
    Changed,
    /// It no longer exists.
    Removed,
    /// It could not be compared.
    Error,
}

names!(CheckPageStatus:
    Same = "same",
    New = "new",
    Changed = "changed",
    Removed = "removed",
    Error = "error",
);

/// Numbers of the pages of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckSummary {
    /// All pages.
    pub total: u64,
    /// Pages that equal their baselines.
    pub same: u64,
    /// Pages that differ from their baselines.
    pub changed: u64,
    /// Pages without a baseline.
    pub new: u64,
    /// Pages that no longer exist.
    pub removed: u64,
    /// Pages that could not be compared.
    pub error: u64,
}

impl CheckSummary {
    /// Counts another page.
    pub(super) fn add(&mut self, status: CheckPageStatus) {
        self.total += 1;
        *match status {
            CheckPageStatus::Same => &mut self.same,
            CheckPageStatus::New => &mut self.new,
            CheckPageStatus::Changed => &mut self.changed,
            CheckPageStatus::Removed => &mut self.removed,
            CheckPageStatus::Error => &mut self.error,
        } += 1;
    }
}

/// A monitor to be created.
#[derive(Debug, Clone)]
pub struct NewMonitor {
    /// Identifier on the wire, unique among all monitors.
    pub id: String,
    /// Team that owns the monitor.
    pub team: String,
    /// API key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Definition as JSON, opaque to the store.
    pub definition: String,
    /// Time of the first check, in milliseconds since the Unix epoch.
    pub next_run_ms: Option<u64>,
    /// Status of the monitor.
    pub status: MonitorStatus,
    /// Recipients of its emails; `None` if they are off.
    pub recipients: Option<Vec<NewRecipient>>,
}

/// Outcome of creating a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one value per call, which is consumed at once")]
pub enum CreateMonitorOutcome {
    /// It is stored.
    Created(MonitorRecord),
    /// The team has [`MonitorLimits::max_monitors`] monitors.
    TooMany,
}

/// A stored monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorRecord {
    /// Number in the store.
    pub number: i64,
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns the monitor.
    pub team: String,
    /// API key of the request that created it; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Status of the monitor.
    pub status: MonitorStatus,
    /// Definition as JSON.
    pub definition: String,
    /// Number of the last update, from 1.
    pub revision: u64,
    /// Time of the next check, in milliseconds since the Unix epoch.
    pub next_run_ms: Option<u64>,
    /// Time at which the last check ended that was not skipped, in milliseconds since the Unix epoch.
    pub last_run_ms: Option<u64>,
    /// Identifier on the wire of the check that is queued or running.
    pub current_check: Option<String>,
    /// Summary of the last check that was not skipped.
    pub last_summary: Option<CheckSummary>,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its last update, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
}

/// New values of a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorUpdate {
    /// Definition as JSON.
    pub definition: String,
    /// Status of the monitor.
    pub status: MonitorStatus,
    /// Time of the next check, in milliseconds since the Unix epoch.
    pub next_run_ms: Option<u64>,
    /// Recipients of its emails; `None` leaves the stored ones, because emails are off.
    pub recipients: Option<Vec<NewRecipient>>,
}

/// A check to be started.
#[derive(Debug, Clone)]
pub struct NewCheck {
    /// Identifier on the wire, unique among all checks.
    pub id: String,
    /// Number of the monitor.
    pub monitor: i64,
    /// The reason why it starts.
    pub trigger: CheckTrigger,
    /// The [`MonitorRecord::next_run_ms`] that was due; only for a scheduled check.
    pub scheduled_for_ms: Option<u64>,
    /// Time of the check after a scheduled one, in milliseconds since the Unix epoch. A manual check does not change the
    /// schedule.
    pub next_run_ms: Option<u64>,
    /// Credits that the check is expected to cost.
    pub estimated_credits: u64,
    /// State of its credits. If it is [`BillingStatus::Reserved`], the estimated credits are the reserved ones.
    pub billing: BillingStatus,
    /// Webhook for its events, if there is one.
    pub webhook: Option<NewWebhook>,
    /// Time until which the record of a skipped check is stored, in milliseconds since the Unix epoch.
    pub retention_until_ms: u64,
}

/// Outcome of starting a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one value per call, which is consumed at once")]
pub enum StartCheckOutcome {
    /// It is queued, and this replica owns it.
    Started(CheckRecord),
    /// Another check of the monitor is unfinished. For a scheduled check a record is stored, and the schedule advances.
    Overlap {
        /// Identifier on the wire of the unfinished check.
        current: String,
    },
    /// The monitor is paused.
    Paused,
    /// The monitor was deleted, or the check is no longer due: another replica has started it, or the schedule changed.
    NotFound,
}

/// A stored check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRecord {
    /// Number in the store.
    pub number: i64,
    /// Identifier on the wire.
    pub id: String,
    /// Number of the monitor.
    pub monitor: i64,
    /// Identifier of the monitor on the wire.
    pub monitor_id: String,
    /// Team that owns the monitor.
    pub team: String,
    /// API key of the request that created the monitor; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Status of the check.
    pub status: CheckStatus,
    /// The reason why it started.
    pub trigger: CheckTrigger,
    /// Definition of the monitor as JSON, at the start.
    pub definition: String,
    /// Time at which it was due, in milliseconds since the Unix epoch.
    pub scheduled_for_ms: Option<u64>,
    /// Time at which its work began, in milliseconds since the Unix epoch.
    pub started_at_ms: Option<u64>,
    /// Time of its end, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// Credits that it was expected to cost.
    pub estimated_credits: u64,
    /// Credits that were reserved.
    pub reserved_credits: u64,
    /// Credits that it cost. While it is unfinished: the sum of the charges of its recorded pages.
    pub actual_credits: u64,
    /// State of its credits.
    pub billing: BillingStatus,
    /// Numbers of its pages so far.
    pub summary: CheckSummary,
    /// Progress as JSON, opaque to the store.
    pub progress: String,
    /// Deliveries of notifications as JSON, opaque to the store.
    pub notifications: String,
    /// The reason why it failed or was skipped.
    pub error: Option<String>,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
    /// Time of its last change, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
}

/// The end of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedCheck {
    /// Status of the check, a [finished](CheckStatus::is_finished) one.
    pub status: CheckStatus,
    /// The reason why it failed or was skipped.
    pub error: Option<String>,
    /// Credits that it cost.
    pub actual_credits: u64,
    /// State of its credits.
    pub billing: BillingStatus,
    /// Deliveries of notifications as JSON.
    pub notifications: String,
    /// True if people are to be notified: enqueues a message of the kind [`MessageKind::Check`](crate::MessageKind).
    pub has_messages: bool,
}

/// A page of a check to be recorded.
#[derive(Debug)]
pub struct NewCheckPage {
    /// Identifier on the wire.
    pub id: String,
    /// Identifier of the target.
    pub target: String,
    /// URL of the page. A check has one page for each target and URL.
    pub url: String,
    /// Result of the page.
    pub status: CheckPageStatus,
    /// The rest of the page as JSON, opaque to the store.
    pub document: Vec<u8>,
    /// Data of the event [`MonitorPage`](crate::JobEvent::MonitorPage) as JSON; `None` reports no event.
    pub event: Option<Vec<u8>>,
    /// The value of `success` in the event.
    pub event_success: bool,
    /// Change of the baseline of the page.
    pub baseline: BaselineChange,
    /// URL of the baseline, if it differs from that of the page.
    pub baseline_url: Option<String>,
    /// Credit hold of the page, and its usage. Released if the page is not recorded.
    pub charge: Option<(CreditHold, Usage)>,
}

/// Change of the baseline of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineChange {
    /// It stays.
    Keep,
    /// It is replaced by this document, as JSON. The page is no longer removed.
    Replace(Vec<u8>),
    /// The page is removed. The document of its baseline stays.
    Removed,
}

/// Outcome of recording pages of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordPagesOutcome {
    /// The pages are stored. False for a page that the check already had, of which nothing was stored or charged.
    Recorded(Vec<bool>),
    /// The baselines would exceed [`MonitorLimits::max_baseline_bytes`]. Nothing was stored or charged.
    StorageFull,
    /// The check has ended or was deleted, or another replica owns it. Nothing was stored or charged.
    NotRunning,
}

/// A stored page of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckPageRecord {
    /// Identifier on the wire.
    pub id: String,
    /// Identifier of the target.
    pub target: String,
    /// URL of the page.
    pub url: String,
    /// Result of the page.
    pub status: CheckPageStatus,
    /// The rest of the page as JSON.
    pub document: Vec<u8>,
    /// Time at which it was recorded, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

/// A page of the pages of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckPages {
    /// The pages, in the order in which they were recorded.
    pub pages: Vec<CheckPageRecord>,
    /// True if there are more after these by now.
    pub has_more: bool,
}

/// The state of a page with which the next check compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The last good state of the page as JSON.
    pub document: Vec<u8>,
    /// True if the page was removed after that.
    pub is_removed: bool,
    /// Time of the last change, in milliseconds since the Unix epoch.
    pub updated_at_ms: u64,
}

/// Numbers of monitors and checks of all teams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonitorMetrics {
    /// Monitors whose checks start on schedule.
    pub active: u64,
    /// Paused monitors.
    pub paused: u64,
    /// Active monitors whose next check is due.
    pub due: u64,
    /// Checks that are queued or running.
    pub running: u64,
    /// Emails and Slack messages that are to be sent.
    pub messages: u64,
}

/// The events of a check that are not delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckDeliveries {
    /// Pending events.
    pub pending: u64,
    /// Dead letters.
    pub dead_letters: u64,
    /// HTTP status of the last failed attempt of one of them, if there was a response.
    pub status: Option<u16>,
    /// Error of the last failed attempt of one of them.
    pub error: Option<String>,
}
