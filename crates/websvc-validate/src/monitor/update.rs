//! Changes of a monitor.

use websvc_types::ViolationCode;
use websvc_types::monitor::{MonitorRequestSchedule, UpdateMonitorRequest};

use super::definition::{MonitorDefinition, MonitorUpdate};
use super::schedule::CheckedSchedule;
use super::{MonitorContext, check_goal, check_judge, check_name};
use super::{notification, python_spelling, schedule, target, webhook};
use crate::error::Rejection;
use crate::path::Path;
use crate::report::Report;
use crate::request::{Request, deserialize};
use crate::shape::BodyValue;

impl Request for UpdateMonitorRequest {
    type Plan = MonitorUpdate;
    type Context<'a> = (MonitorDefinition, MonitorContext<'a>);

    fn check_availability((_current, context): &Self::Context<'_>) -> Result<(), Rejection> {
        super::check_monitor_retention(context.policy)
    }

    fn from_body(mut body: BodyValue<'_>, report: &mut Report) -> Result<Self, Rejection> {
        python_spelling::convert(&mut body);
        // Elsewhere null counts as absent; here it clears a field.
        let clears = |field: &str| body.field(field).is_some_and(BodyValue::is_null);
        let (clears_goal, clears_webhook) = (clears("goal"), clears("webhook"));
        let mut request: Self = deserialize(body, report)?;
        request.goal = request.goal.or(clears_goal.then_some(None));
        request.webhook = request.webhook.or(clears_webhook.then_some(None));
        Ok(request)
    }

    fn plan(self, report: &mut Report, (current, context): Self::Context<'_>) -> Option<MonitorUpdate> {
        Some(check(report, self, &current, context))
    }
}

/// Checks a change of a monitor.
fn check(
    report: &mut Report,
    request: UpdateMonitorRequest,
    current: &MonitorDefinition,
    context: MonitorContext<'_>,
) -> MonitorUpdate {
    check_not_empty(report, &request);
    let UpdateMonitorRequest {
        name,
        status,
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
    let mut definition = current.clone();
    if let Some(name) = name {
        definition.name = check_name(report, name);
    }
    if let Some(schedule) = schedule {
        (definition.cron, definition.timezone) = check_schedule(report, schedule, current, &context);
    }
    if let Some(targets) = targets {
        definition.targets = target::check_all(report, targets, context);
    }
    if let Some(webhook) = webhook {
        definition.webhook = webhook.map(|webhook| webhook::check(report, webhook));
    }
    if let Some(changes) = notification {
        let changes = notification::check(report, changes);
        definition.notification = notification::merge(definition.notification, changes);
    }
    definition.retention_days = retention_days.unwrap_or(definition.retention_days);
    if let Some(goal) = goal {
        definition.goal = check_goal(report, goal);
    }
    definition.judge_enabled = judge_enabled.or(definition.judge_enabled);
    check_judge(report, &definition);
    let has_new_schedule = (&definition.cron, &definition.timezone) != (&current.cron, &current.timezone);
    MonitorUpdate { definition, status, has_new_schedule }
}

fn check_schedule(
    report: &mut Report,
    schedule: MonitorRequestSchedule,
    current: &MonitorDefinition,
    context: &MonitorContext<'_>,
) -> (String, String) {
    let current = CheckedSchedule { cron: current.cron.clone(), timezone: current.timezone.clone() };
    let CheckedSchedule { cron, timezone } = schedule::check_change(report, schedule, &current, context);
    (cron, timezone)
}

fn check_not_empty(report: &mut Report, request: &UpdateMonitorRequest) {
    let nothing = UpdateMonitorRequest {
        origin: request.origin.clone(),
        integration: request.integration.clone(),
        ..UpdateMonitorRequest::default()
    };
    if *request == nothing && !report.has_within(&Path::Root) {
        report.violation(&Path::Root, ViolationCode::TooShort, |name| {
            format!(
                "{name} must have a field to change: name, status, schedule, targets, webhook, notification, \
                 retentionDays, goal or judgeEnabled"
            )
        });
    }
}
