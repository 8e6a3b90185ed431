//! Stored definition of a monitor.

use serde::{Deserialize, Serialize};
use websvc_schedule::Schedule;
use websvc_types::monitor::{
    MonitorNotification, MonitorSchedule, MonitorStateRequest, MonitorTarget, MonitorTargetKind,
    MonitorWebhookOptions,
};

use super::schedule;
use crate::error::Rejection;

/// Definition of a monitor: what was sent, in normal form. It can be stored with serde.
///
/// The schedule is a cron expression and a time zone, every target has an ID, a webhook has the form of an object,
/// hostnames are in lower case. Options of scrapes and crawls are as sent; [`plan`](Self::plan) checks them again and
/// adds the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MonitorDefinition {
    /// The name of the monitor.
    pub name: String,
    pub(super) cron: String,
    pub(super) timezone: String,
    /// The targets, each with its ID.
    pub targets: Vec<MonitorTarget>,
    /// The webhook, with the events that it receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<MonitorWebhookOptions>,
    /// The notifications of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<MonitorNotification>,
    /// The days for which checks are stored.
    pub retention_days: u32,
    /// The goal, which is not blank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// As sent, because the default depends on the goal, which may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) judge_enabled: Option<bool>,
}

impl MonitorDefinition {
    /// Returns the schedule in the form of responses.
    #[must_use]
    pub fn wire_schedule(&self) -> MonitorSchedule {
        MonitorSchedule { cron: self.cron.clone(), timezone: self.timezone.clone() }
    }

    /// Returns the schedule.
    ///
    /// # Errors
    /// The definition was stored by a version that knew other time zones.
    pub fn schedule(&self) -> Result<Schedule, Rejection> {
        schedule::parse_stored(&self.cron, &self.timezone)
    }

    /// Returns whether changes are to be judged: as sent, by default if there is a goal. The judge runs only if there
    /// is also a goal, see [`judges`](Self::judges).
    #[must_use]
    pub fn judge_enabled(&self) -> bool {
        self.judge_enabled.unwrap_or(self.goal.is_some())
    }

    /// Returns the goal if changes are judged by it.
    #[must_use]
    pub fn judges(&self) -> Option<&str> {
        self.goal.as_deref().filter(|_| self.judge_enabled())
    }

    /// Returns whether all targets are searches. A check of them has less time.
    #[must_use]
    pub fn has_only_search_targets(&self) -> bool {
        self.targets.iter().all(|target| target.kind() == MonitorTargetKind::Search)
    }

    pub(super) fn has_search_target(&self) -> bool {
        self.targets.iter().any(|target| target.kind() == MonitorTargetKind::Search)
    }
}

/// Checked change of a monitor.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorUpdate {
    /// The changed definition.
    pub definition: MonitorDefinition,
    /// The new state, if the request sets one.
    pub status: Option<MonitorStateRequest>,
    /// True if the cron expression or the time zone has changed, so that the next run must be computed again.
    pub has_new_schedule: bool,
}
