//! Changes of a monitor.

use websvc_types::ViolationCode;
use websvc_types::monitor::{MonitorRequestSchedule, UpdateMonitorRequest};

use super::definition::{MonitorDefinition, MonitorUpdate};
use super::schedule::CheckedSchedule;
use super::{MonitorContext, check_goal, check_judge, check_name, check_retention_days};
use super::{notification, schedule, target, webhook};
use crate::checked::Checked;
use crate::error::Rejection;
use crate::path::Path;
use crate::report::Report;

/// Checks a change of a monitor after its shape.
pub(crate) fn check(
    mut report: Report,
    request: UpdateMonitorRequest,
    current: &MonitorDefinition,
    context: MonitorContext<'_>,
) -> Result<Checked<MonitorUpdate>, Rejection> {
    check_not_empty(&mut report, &request);
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
        definition.name = check_name(&mut report, name);
    }
    if let Some(schedule) = schedule {
        (definition.cron, definition.timezone) = check_schedule(&mut report, schedule, current, &context);
    }
    if let Some(targets) = targets {
        definition.targets = target::check_all(&mut report, targets, context);
    }
    if let Some(webhook) = webhook {
        definition.webhook = webhook.map(|webhook| webhook::check(&mut report, webhook));
    }
    if let Some(changes) = notification {
        let changes = notification::check(&mut report, changes);
        definition.notification = notification::merge(definition.notification, changes);
    }
    if let Some(days) = retention_days {
        definition.retention_days = check_retention_days(&mut report, days);
    }
    if let Some(goal) = goal {
        definition.goal = check_goal(&mut report, goal);
    }
    definition.judge_enabled = judge_enabled.or(definition.judge_enabled);
    check_judge(&mut report, &definition);
    let has_new_schedule = (&definition.cron, &definition.timezone) != (&current.cron, &current.timezone);
    report.finish(MonitorUpdate { definition, status, has_new_schedule })
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
