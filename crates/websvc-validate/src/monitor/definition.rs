//! Stored definition of a monitor.

use serde::{Deserialize, Serialize};
use websvc_schedule::Schedule;
use websvc_types::monitor::{
    MonitorNotification, MonitorSchedule, MonitorStateRequest, MonitorTarget, MonitorTargetKind,
    MonitorWebhookOptions,
};

use super::plan::{self, MonitorPlan};
use super::schedule;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::policy::Policy;

/// Definition of a monitor: what was sent, in normal form. It can be stored with serde.
///
/// The schedule is a cron expression and a time zone, every target has an ID, a webhook has the form of an object,
/// hostnames are in lower case. Options of scrapes and crawls are as sent; [`plan`](Self::plan) checks them again and
/// adds the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MonitorDefinition {
    pub(super) name: String,
    pub(super) cron: String,
    pub(super) timezone: String,
    pub(super) targets: Vec<MonitorTarget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) webhook: Option<MonitorWebhookOptions>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) notification: Option<MonitorNotification>,
    pub(super) retention_days: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) goal: Option<String>,
    /// As sent, because the default depends on the goal, which may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) judge_enabled: Option<bool>,
}

impl MonitorDefinition {
    /// Returns the name of the monitor.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

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

    /// Returns the targets, each with its ID.
    #[must_use]
    pub fn targets(&self) -> &[MonitorTarget] {
        &self.targets
    }

    /// Returns the webhook, with the events that it receives.
    #[must_use]
    pub fn webhook(&self) -> Option<&MonitorWebhookOptions> {
        self.webhook.as_ref()
    }

    /// Returns the notifications of people.
    #[must_use]
    pub fn notification(&self) -> Option<&MonitorNotification> {
        self.notification.as_ref()
    }

    /// Returns the days for which checks are stored.
    #[must_use]
    pub fn retention_days(&self) -> u32 {
        self.retention_days
    }

    /// Returns the goal, which is not blank.
    #[must_use]
    pub fn goal(&self) -> Option<&str> {
        self.goal.as_deref()
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
        self.goal().filter(|_| self.judge_enabled())
    }

    /// Returns whether all targets are searches. A check of them has less time.
    #[must_use]
    pub fn has_only_search_targets(&self) -> bool {
        self.targets.iter().all(|target| target.kind() == MonitorTargetKind::Search)
    }

    pub(super) fn has_search_target(&self) -> bool {
        self.targets.iter().any(|target| target.kind() == MonitorTargetKind::Search)
    }

    /// Returns the plan of a check.
    ///
    /// # Errors
    /// [`Rejection`] if the permissions of the team no longer allow the monitor, or the rules have changed.
    pub fn plan(&self, policy: &Policy) -> Result<Checked<MonitorPlan>, Rejection> {
        plan::check(self, policy)
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
