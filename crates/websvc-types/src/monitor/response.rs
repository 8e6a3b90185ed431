//! Monitors in responses, and the bodies of all responses about them.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::check::{MonitorCheck, MonitorCheckSummary};
use super::notification::{EmailSubscription, MonitorNotification};
use super::page::MonitorCheckDetail;
use super::target::MonitorTarget;
use super::webhook::MonitorWebhookOptions;

/// Monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Monitor {
    /// ID of the monitor, a UUID.
    pub id: String,
    /// Name of the monitor.
    pub name: String,
    /// State of the monitor.
    pub status: MonitorStatus,
    /// Times of the checks.
    pub schedule: MonitorSchedule,
    /// Time of the next check, ISO 8601. Null if the monitor is paused.
    pub next_run_at: Option<String>,
    /// Time of the last check, ISO 8601. Null before the first.
    pub last_run_at: Option<String>,
    /// ID of the check that is queued or running. Null if there is none.
    pub current_check_id: Option<String>,
    /// Pages, sites and searches that are checked, each with its ID.
    pub targets: Vec<MonitorTarget>,
    /// Webhook that receives the events. Null if there is none.
    pub webhook: Option<MonitorWebhookOptions>,
    /// Notifications of people. Null if there are none.
    pub notification: Option<MonitorNotification>,
    /// Days for which checks with their diffs are stored.
    pub retention_days: u32,
    /// Estimate of the credits that all checks of 30 days cost.
    pub estimated_credits_per_month: Option<u64>,
    /// Pages of the last check by status. Null before the end of the first.
    pub last_check_summary: Option<MonitorCheckSummary>,
    /// Description of the changes that matter. Null if there is none.
    pub goal: Option<String>,
    /// True if changes are judged by the goal.
    pub judge_enabled: bool,
    /// Time when the monitor was created, ISO 8601.
    pub created_at: String,
    /// Time of the last change of the monitor, ISO 8601.
    pub updated_at: String,
    /// URL of the Atom feed of the checks that found something. It contains a token, with which the feed can be
    /// read without a key. Absent in lists of monitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub feed_url: Option<String>,
    /// Subscriptions of the email addresses. Absent in lists of monitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<EmailSubscription>"))]
    pub email_recipient_subscriptions: Option<Vec<EmailSubscription>>,
}

/// States of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorStatus {
    /// Checks run by the schedule.
    Active,
    /// No checks run.
    Paused,
    /// The monitor was deleted.
    Deleted,
}

/// Times of the checks of a monitor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorSchedule {
    /// Cron expression with five fields.
    pub cron: String,
    /// Name of the IANA time zone.
    pub timezone: String,
}

/// Response of the operations that create, return and change a monitor.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorResponse {
    /// Always true.
    pub success: bool,
    /// The monitor.
    pub data: Monitor,
    /// Problems that did not fail the request. Absent if there are none.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Response of `GET /v2/monitor`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorListResponse {
    /// Always true.
    pub success: bool,
    /// Monitors of the team, the newest first.
    pub data: Vec<Monitor>,
}

/// Response of `DELETE /v2/monitor/{id}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct DeleteMonitorResponse {
    /// Always true.
    pub success: bool,
}

/// Response of `POST /v2/monitor/{id}/run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RunMonitorResponse {
    /// Always true.
    pub success: bool,
    /// ID of the check.
    pub id: String,
    /// The check, which is queued.
    pub data: MonitorCheck,
}

/// Response of `GET /v2/monitor/{id}/checks`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorCheckListResponse {
    /// Always true.
    pub success: bool,
    /// Checks of the monitor, the newest first.
    pub data: Vec<MonitorCheck>,
}

/// Response of `GET /v2/monitor/{id}/checks/{checkId}`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorCheckResponse {
    /// Always true.
    pub success: bool,
    /// URL of the next pages of the check. Absent unless further pages are done.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub next: Option<String>,
    /// The check and its pages.
    pub data: MonitorCheckDetail,
}
