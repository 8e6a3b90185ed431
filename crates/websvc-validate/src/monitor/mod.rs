//! Rules of monitors (operations.md, section 3): converts requests to a definition, and a definition to a plan.
//!
//! A definition is stored. It has what was sent, in normal form; a check of the monitor converts it to a plan again,
//! because the permissions of the team may have changed.

mod channel;
mod definition;
mod email;
mod notification;
mod page_rules;
mod plan;
mod python_spelling;
mod schedule;
mod target;
mod update;
mod webhook;

use std::time::Duration;

pub(crate) use channel::check_test;
pub use definition::{MonitorDefinition, MonitorUpdate};
use jiff::Timestamp;
pub use page_rules::{ConditionSubject, NumberRange, PageCondition, PageRules};
pub use plan::{CrawlTargetPlan, MonitorPlan, MonitorTargetPlan, ScrapeTargetPlan, SearchTargetPlan};
pub use webhook::MonitorWebhookPlan;
use websvc_schedule::Schedule;
use websvc_types::ViolationCode;
use websvc_types::limits::{
    EMAIL_TOKEN_MAX_CHARS, EMAIL_TOKEN_MIN_CHARS, MONITOR_GOAL_MAX_CHARS, MONITOR_NAME_MAX_CHARS,
    MONITOR_NAME_MIN_CHARS, MONITOR_RETENTION_DEFAULT_DAYS,
};
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorEmailRequest, MonitorRequestSchedule, MonitorSchedule, RunMonitorRequest,
};

use crate::bounds;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::request::{Request, deserialize};
use crate::retention::RetentionMode;
use crate::shape::BodyValue;

/// Context of the check of a monitor.
pub struct MonitorContext<'a> {
    /// Permissions of the team.
    pub policy: &'a Policy,
    /// The current time: the schedule must have a run within a year.
    pub now: Timestamp,
    /// Minimum distance of two checks.
    pub min_interval: Duration,
    /// Returns a new UUID, for targets without an ID.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// Checks that monitors are available to the team, for requests without a body to check.
///
/// # Errors
/// Zero data retention or anonymized requests are forced for the team.
pub fn check_monitor_retention(policy: &Policy) -> Result<(), Rejection> {
    let message = "monitors are not available with zero data retention or anonymized requests, because they store \
                   pages to compare them";
    RetentionMode::check_stored(policy, message)
}

/// Checks the schedule of a new monitor without its other fields, for a preview.
///
/// # Errors
/// [`Rejection`] lists every rule that the schedule breaks, with paths in a request that creates a monitor.
pub fn check_monitor_schedule(
    schedule: MonitorRequestSchedule,
    context: &MonitorContext<'_>,
) -> Result<Schedule, Rejection> {
    let mut report = Report::default();
    let schedule = schedule::check_new(&mut report, schedule, context);
    let Checked { plan, warnings: _ } = report.finish(Some(schedule))?;
    schedule::parse_stored(&plan.cron, &plan.timezone)
}

/// Reads the schedule of a stored monitor again.
///
/// # Errors
/// [`Rejection`] if this version knows no such schedule or time zone.
pub fn parse_monitor_schedule(schedule: &MonitorSchedule) -> Result<Schedule, Rejection> {
    let MonitorSchedule { cron, timezone } = schedule;
    schedule::parse_stored(cron, timezone)
}

impl Request for CreateMonitorRequest {
    type Plan = MonitorDefinition;
    type Context<'a> = MonitorContext<'a>;

    fn check_availability(context: &MonitorContext<'_>) -> Result<(), Rejection> {
        check_monitor_retention(context.policy)
    }

    fn from_body(mut body: BodyValue<'_>, report: &mut Report) -> Result<Self, Rejection> {
        python_spelling::convert(&mut body);
        deserialize(body, report)
    }

    fn plan(self, report: &mut Report, context: MonitorContext<'_>) -> Option<MonitorDefinition> {
        Some(create(report, self, context))
    }
}

impl Request for RunMonitorRequest {
    type Plan = Self;
    type Context<'a> = &'a Policy;

    const MAY_BE_EMPTY: bool = true;

    fn check_availability(policy: &&Policy) -> Result<(), Rejection> {
        check_monitor_retention(policy)
    }

    fn plan(self, _report: &mut Report, _policy: &Policy) -> Option<Self> {
        Some(self)
    }
}

/// Checks a request that confirms or ends a subscription to emails, and returns it.
pub(crate) fn check_email_token(report: &mut Report, request: MonitorEmailRequest) -> MonitorEmailRequest {
    let path = Path::Root.key("token");
    if !report.has(&path) {
        bounds::chars(report, &path, &request.token, EMAIL_TOKEN_MIN_CHARS, EMAIL_TOKEN_MAX_CHARS);
    }
    request
}

/// Checks a new monitor.
fn create(
    report: &mut Report,
    request: CreateMonitorRequest,
    context: MonitorContext<'_>,
) -> MonitorDefinition {
    let CreateMonitorRequest {
        name,
        schedule,
        targets,
        webhook,
        notification,
        retention_days,
        goal,
        judge_enabled,
        // Accepted for compatibility and not used.
        origin: _,
        integration: _,
    } = request;
    let schedule = schedule::check_new(report, schedule, &context);
    let definition = MonitorDefinition {
        name: check_name(report, name),
        cron: schedule.cron,
        timezone: schedule.timezone,
        targets: target::check_all(report, targets, context),
        webhook: webhook.map(|webhook| webhook::check(report, webhook)),
        notification: notification.map(|notification| notification::check(report, notification)),
        retention_days: retention_days.unwrap_or(MONITOR_RETENTION_DEFAULT_DAYS),
        goal: check_goal(report, goal),
        judge_enabled,
    };
    check_judge(report, &definition);
    definition
}

fn check_name(report: &mut Report, name: String) -> String {
    let path = Path::Root.key("name");
    if bounds::not_blank(report, &path, &name) {
        bounds::chars(report, &path, &name, MONITOR_NAME_MIN_CHARS, MONITOR_NAME_MAX_CHARS);
    }
    name
}

/// Returns the goal; a blank one is none.
fn check_goal(report: &mut Report, goal: Option<String>) -> Option<String> {
    let goal = goal.filter(|goal| !goal.trim().is_empty())?;
    bounds::chars(report, &Path::Root.key("goal"), &goal, 0, MONITOR_GOAL_MAX_CHARS);
    Some(goal)
}

/// Checks that there is a goal for search targets, whose results are judged by it.
fn check_judge(report: &mut Report, definition: &MonitorDefinition) {
    let path = Path::Root.key("goal");
    let is_judged = definition.judge_enabled != Some(false);
    if definition.has_search_target() && definition.goal.is_none() && is_judged && !report.has(&path) {
        report.violation(&path, ViolationCode::Missing, |name| {
            format!("{name} is required for targets of type search, unless judgeEnabled is false")
        });
    }
}
