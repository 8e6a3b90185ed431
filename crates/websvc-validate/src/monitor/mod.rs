//! Rules of monitors (operations.md, section 3): converts requests to a definition, and a definition to a plan.
//!
//! A definition is stored. It has what was sent, in normal form; a check of the monitor converts it to a plan again,
//! because the permissions of the team may have changed.

mod definition;
mod email;
mod notification;
mod plan;
mod python_spelling;
mod schedule;
mod target;
mod update;
mod webhook;

use std::time::Duration;

pub use definition::{MonitorDefinition, MonitorUpdate};
use jiff::Timestamp;
pub use plan::{CrawlTargetPlan, MonitorPlan, MonitorTargetPlan, ScrapeTargetPlan, SearchTargetPlan};
pub(crate) use python_spelling::convert as convert_python_spelling;
pub(crate) use update::check as update;
pub use webhook::MonitorWebhookPlan;
use websvc_schedule::Schedule;
use websvc_types::limits::{
    MONITOR_GOAL_MAX_CHARS, MONITOR_NAME_MAX_CHARS, MONITOR_NAME_MIN_CHARS, MONITOR_RETENTION_DEFAULT_DAYS,
    MONITOR_RETENTION_MAX_DAYS, MONITOR_RETENTION_MIN_DAYS,
};
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorRequestSchedule, MonitorSchedule, UpdateMonitorRequest,
};
use websvc_types::{Violation, ViolationCode};

use crate::bounds;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;
use crate::retention::RetentionMode;

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
    if RetentionMode::requested_retention(policy) == RetentionMode::Normal {
        return Ok(());
    }
    let message = "monitors are not available with zero data retention or anonymized requests, because they store \
                   pages to compare them";
    let (path, code) = (String::new(), ViolationCode::NotSupported);
    Err(Rejection::Invalid(vec![Violation { path, code, message: message.to_owned() }]))
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
    let Checked { plan, warnings: _ } = report.finish(schedule)?;
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

/// Checks a new monitor.
///
/// # Errors
/// [`Rejection`] lists every rule that the request breaks, or names the permission that the team lacks.
pub fn check_create_monitor(
    request: CreateMonitorRequest,
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorDefinition>, Rejection> {
    check_monitor_retention(context.policy)?;
    create(Report::default(), request, context)
}

/// Checks a change of a monitor.
///
/// # Errors
/// [`Rejection`] lists every rule that the changed monitor breaks, or names the permission that the team lacks.
pub fn check_update_monitor(
    request: UpdateMonitorRequest,
    current: &MonitorDefinition,
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorUpdate>, Rejection> {
    check_monitor_retention(context.policy)?;
    update(Report::default(), request, current, context)
}

/// Checks a new monitor after its shape.
pub(crate) fn create(
    mut report: Report,
    request: CreateMonitorRequest,
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorDefinition>, Rejection> {
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
    let schedule = schedule::check_new(&mut report, schedule, &context);
    let definition = MonitorDefinition {
        name: check_name(&mut report, name),
        cron: schedule.cron,
        timezone: schedule.timezone,
        targets: target::check_all(&mut report, targets, context),
        webhook: webhook.map(|webhook| webhook::check(&mut report, webhook)),
        notification: notification.map(|notification| notification::check(&mut report, notification)),
        retention_days: check_retention_days(
            &mut report,
            retention_days.unwrap_or(MONITOR_RETENTION_DEFAULT_DAYS),
        ),
        goal: check_goal(&mut report, goal),
        judge_enabled,
    };
    check_judge(&mut report, &definition);
    report.finish(definition)
}

fn check_name(report: &mut Report, name: String) -> String {
    let body = Path::Root;
    let path = body.key("name");
    if bounds::not_blank(report, &path, &name) {
        bounds::chars(report, &path, &name, MONITOR_NAME_MIN_CHARS, MONITOR_NAME_MAX_CHARS);
    }
    name
}

fn check_retention_days(report: &mut Report, days: u32) -> u32 {
    let body = Path::Root;
    let path = body.key("retentionDays");
    bounds::number(report, &path, days, MONITOR_RETENTION_MIN_DAYS, MONITOR_RETENTION_MAX_DAYS);
    days
}

/// Returns the goal; a blank one is none.
fn check_goal(report: &mut Report, goal: Option<String>) -> Option<String> {
    let goal = goal.filter(|goal| !goal.trim().is_empty())?;
    bounds::chars(report, &Path::Root.key("goal"), &goal, 0, MONITOR_GOAL_MAX_CHARS);
    Some(goal)
}

/// Checks that there is a goal for search targets, whose results are judged by it.
fn check_judge(report: &mut Report, definition: &MonitorDefinition) {
    let body = Path::Root;
    let path = body.key("goal");
    let is_judged = definition.judge_enabled != Some(false);
    if definition.has_search_target() && definition.goal.is_none() && is_judged && !report.has(&path) {
        report.violation(&path, ViolationCode::Missing, |name| {
            format!("{name} is required for targets of type search, unless judgeEnabled is false")
        });
    }
}
