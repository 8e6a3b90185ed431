//! Requests that create, change and run a monitor (operations.md, section 3.2).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with_macros::skip_serializing_none;

use super::notification::MonitorNotification;
use super::target::MonitorTarget;
use super::webhook::MonitorWebhook;
use crate::limits::{
    MONITOR_GOAL_MAX_CHARS, MONITOR_NAME_MAX_CHARS, MONITOR_NAME_MIN_CHARS, MONITOR_RETENTION_DEFAULT_DAYS,
    MONITOR_RETENTION_MAX_DAYS, MONITOR_RETENTION_MIN_DAYS, MONITOR_TARGETS_MAX, MONITOR_TARGETS_MIN,
    SCHEDULE_MAX_CHARS,
};
use crate::pattern::NOT_BLANK;

/// Request of `POST /v2/monitor`: creates a monitor.
///
/// # Examples
///
/// ```
/// use websvc_types::monitor::{CreateMonitorRequest, MonitorRequestSchedule, MonitorTarget, ScrapeTarget};
///
/// let request = CreateMonitorRequest {
///     name: "Prices".to_owned(),
///     schedule: MonitorRequestSchedule { text: Some("every day at 9:00".to_owned()), ..Default::default() },
///     targets: vec![MonitorTarget::Scrape(ScrapeTarget {
///         urls: vec!["https://tea.test/prices".to_owned()],
///         ..ScrapeTarget::default()
///     })],
///     ..CreateMonitorRequest::default()
/// };
/// let json = r#"{
///     "name": "Prices",
///     "schedule": { "text": "every day at 9:00" },
///     "targets": [{ "type": "scrape", "urls": ["https://tea.test/prices"] }]
/// }"#;
/// assert_eq!(serde_json::from_str::<CreateMonitorRequest>(json)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct CreateMonitorRequest {
    /// Name of the monitor, 1 to 256 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = MONITOR_NAME_MIN_CHARS, max = MONITOR_NAME_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub name: String,
    /// Times of the checks.
    pub schedule: MonitorRequestSchedule,
    /// Pages, sites and searches to check, 1 to 50.
    #[cfg_attr(feature = "schemars", schemars(length(min = MONITOR_TARGETS_MIN, max = MONITOR_TARGETS_MAX)))]
    pub targets: Vec<MonitorTarget>,
    /// Webhook that receives the events of the monitor. Default: none.
    pub webhook: Option<MonitorWebhook>,
    /// Notifications of people. Default: none.
    pub notification: Option<MonitorNotification>,
    /// Days for which checks with their diffs are stored, 1 to 365. Default: 30.
    #[cfg_attr(feature = "schemars", schemars(
        range(min = MONITOR_RETENTION_MIN_DAYS, max = MONITOR_RETENTION_MAX_DAYS),
        extend("default" = MONITOR_RETENTION_DEFAULT_DAYS)
    ))]
    pub retention_days: Option<u32>,
    /// Description of the changes that matter, at most 2000 characters; blank counts as absent. A language model then
    /// judges each change. Default: none.
    #[cfg_attr(feature = "schemars", schemars(length(max = MONITOR_GOAL_MAX_CHARS)))]
    pub goal: Option<String>,
    /// True judges changes by the goal. Default: true if there is a goal.
    pub judge_enabled: Option<bool>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Times of the checks of a monitor: a cron expression or a text, in a time zone.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct MonitorRequestSchedule {
    /// Cron expression with five fields, such as `0 9 * * 1-5`, at most 128 characters. Either this or `text` is
    /// required for a new monitor.
    #[cfg_attr(feature = "schemars", schemars(length(max = SCHEDULE_MAX_CHARS)))]
    pub cron: Option<String>,
    /// Schedule in words, such as `every day at 9:00`, at most 128 characters.
    #[cfg_attr(feature = "schemars", schemars(length(max = SCHEDULE_MAX_CHARS)))]
    pub text: Option<String>,
    /// Name of an IANA time zone, such as `Europe/Berlin`, at most 128 characters. Default: UTC.
    #[cfg_attr(feature = "schemars", schemars(length(max = SCHEDULE_MAX_CHARS), extend("default" = "UTC")))]
    pub timezone: Option<String>,
}

/// Request of `PATCH /v2/monitor/{id}`: changes a monitor. Absent fields stay as they are; at least one is required.
///
/// # Examples
///
/// ```
/// use websvc_types::monitor::UpdateMonitorRequest;
///
/// // A goal that is null is removed, an absent one stays.
/// let request: UpdateMonitorRequest = serde_json::from_str(r#"{"name": "Tea", "goal": null}"#)?;
/// assert_eq!(request.goal, Some(None));
/// assert_eq!(request.webhook, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct UpdateMonitorRequest {
    /// Name of the monitor, 1 to 256 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = MONITOR_NAME_MIN_CHARS, max = MONITOR_NAME_MAX_CHARS), regex(pattern = NOT_BLANK)))]
    pub name: Option<String>,
    /// State of the monitor: a paused one has no scheduled checks and cannot be run.
    pub status: Option<MonitorStateRequest>,
    /// Times of the checks. A time zone alone keeps the cron expression, and a cron expression or a text alone keeps the
    /// time zone.
    pub schedule: Option<MonitorRequestSchedule>,
    /// Pages, sites and searches to check, 1 to 50, instead of the present ones. A target keeps its history if its
    /// `id` is sent back.
    #[cfg_attr(feature = "schemars", schemars(length(min = MONITOR_TARGETS_MIN, max = MONITOR_TARGETS_MAX)))]
    pub targets: Option<Vec<MonitorTarget>>,
    /// Webhook that receives the events of the monitor; null removes it.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<MonitorWebhook>"))]
    pub webhook: Option<Option<MonitorWebhook>>,
    /// Notifications of people. `email` and `slack` each replace the present settings; an absent one stays.
    pub notification: Option<MonitorNotification>,
    /// Days for which checks with their diffs are stored, 1 to 365.
    #[cfg_attr(feature = "schemars", schemars(range(min = MONITOR_RETENTION_MIN_DAYS, max = MONITOR_RETENTION_MAX_DAYS)))]
    pub retention_days: Option<u32>,
    /// Description of the changes that matter, at most 2000 characters; null or blank removes it.
    #[serde(default, deserialize_with = "present")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<String>", length(max = MONITOR_GOAL_MAX_CHARS)))]
    pub goal: Option<Option<String>>,
    /// True judges changes by the goal.
    pub judge_enabled: Option<bool>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// States that a request can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorStateRequest {
    /// Checks run by the schedule.
    Active,
    /// No checks run.
    Paused,
}

/// Request of `POST /v2/monitor/{id}/run`: starts a check. The body may be empty.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(deny_unknown_fields))]
pub struct RunMonitorRequest {
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Reads a field that is present: null is `Some(None)`.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
