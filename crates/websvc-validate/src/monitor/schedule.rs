//! Rules of the schedule of a monitor.

use websvc_schedule::{Cron, CronError, Schedule, ScheduleError, Zone, in_words};
use websvc_types::limits::SCHEDULE_MAX_CHARS;
use websvc_types::monitor::MonitorRequestSchedule;
use websvc_types::{Violation, ViolationCode};

use super::MonitorContext;
use crate::bounds;
use crate::error::Rejection;
use crate::path::Path;
use crate::report::{Report, quoted};

const DEFAULT_ZONE: &str = "UTC";

/// Forms of a schedule, for messages.
const FORMS: &str = "{\"cron\": \"0 9 * * 1-5\"} or {\"text\": \"every day at 9:00\"}";

/// Checked schedule in the form of a definition. The texts are empty if the report has a violation.
#[derive(Default)]
pub(super) struct CheckedSchedule {
    pub(super) cron: String,
    pub(super) timezone: String,
}

/// Checks the schedule of a new monitor.
pub(super) fn check_new(
    report: &mut Report,
    schedule: MonitorRequestSchedule,
    context: &MonitorContext<'_>,
) -> CheckedSchedule {
    check(report, schedule, None, context)
}

/// Checks a change of the schedule: an absent part stays as it is.
pub(super) fn check_change(
    report: &mut Report,
    schedule: MonitorRequestSchedule,
    current: &CheckedSchedule,
    context: &MonitorContext<'_>,
) -> CheckedSchedule {
    check(report, schedule, Some(current), context)
}

fn check(
    report: &mut Report,
    schedule: MonitorRequestSchedule,
    current: Option<&CheckedSchedule>,
    context: &MonitorContext<'_>,
) -> CheckedSchedule {
    let path = Path::Root.key("schedule");
    let MonitorRequestSchedule { cron, text, timezone } = schedule;
    let current_cron = current.filter(|_| timezone.is_some()).map(|current| current.cron.as_str());
    let cron = match (cron, text) {
        (Some(cron), None) => parse_cron(report, &path.key("cron"), &cron, context),
        (None, Some(text)) => parse_text(report, &path.key("text"), &text, context),
        (Some(_), Some(_)) => {
            report.violation(&path.key("text"), ViolationCode::Conflict, |name| {
                format!("{name} cannot be combined with cron: use either {FORMS}")
            });
            None
        }
        (None, None) => match current_cron {
            Some(cron) => cron.parse().ok(),
            None => {
                if !report.has_within(&path) {
                    report.violation(&path, ViolationCode::Missing, |name| {
                        format!("{name} must have cron or text, such as {FORMS}")
                    });
                }
                None
            }
        },
    };
    let default_zone = current.map_or(DEFAULT_ZONE, |current| &current.timezone);
    let zone = parse_zone(report, &path.key("timezone"), timezone.as_deref().unwrap_or(default_zone));
    let (Some(cron), Some(zone)) = (cron, zone) else { return CheckedSchedule::default() };
    let schedule = Schedule::new(cron, zone);
    check_runs(report, &path, &schedule, context);
    CheckedSchedule { cron: schedule.cron().as_str().to_owned(), timezone: schedule.zone().name().to_owned() }
}

/// Returns the rule that seconds, which have no form, would break.
fn min_distance(context: &MonitorContext<'_>) -> String {
    format!("two runs must be at least {} apart", in_words(context.min_interval))
}

fn parse_cron(
    report: &mut Report,
    path: &Path<'_>,
    text: &str,
    context: &MonitorContext<'_>,
) -> Option<Cron> {
    if !bounds::chars(report, path, text, 1, SCHEDULE_MAX_CHARS) {
        return None;
    }
    text.parse()
        .map_err(|error: CronError| {
            let example = "for example `*/30 * * * *` runs every 30 minutes, `0 9 * * 1-5` at 9:00 from Monday to Friday";
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name} {}: {error}; {example}; {}", quoted(text), min_distance(context))
            });
        })
        .ok()
}

fn parse_text(
    report: &mut Report,
    path: &Path<'_>,
    text: &str,
    context: &MonitorContext<'_>,
) -> Option<Cron> {
    if !bounds::chars(report, path, text, 1, SCHEDULE_MAX_CHARS) {
        return None;
    }
    Cron::from_text(text)
        .map_err(|error| {
            let min_distance = min_distance(context);
            report.violation(path, ViolationCode::InvalidFormat, |name| {
                format!("{name}: {error}; {min_distance}")
            });
        })
        .ok()
}

fn parse_zone(report: &mut Report, path: &Path<'_>, name: &str) -> Option<Zone> {
    if !bounds::chars(report, path, name, 1, SCHEDULE_MAX_CHARS) {
        return None;
    }
    // The message begins with the name of the field.
    Zone::from_name(name)
        .map_err(|error| report.violation(path, ViolationCode::InvalidFormat, |_| error.to_string()))
        .ok()
}

fn check_runs(report: &mut Report, path: &Path<'_>, schedule: &Schedule, context: &MonitorContext<'_>) {
    if let Err(error) = schedule.check(context.now, context.min_interval) {
        let code = match error {
            ScheduleError::TooFrequent { .. } => ViolationCode::TooSmall,
            _ => ViolationCode::InvalidFormat,
        };
        report.violation(path, code, |name| format!("{name}: {error}"));
    }
}

/// Reads a stored schedule again.
pub(super) fn parse_stored(cron: &str, timezone: &str) -> Result<Schedule, Rejection> {
    let violation = |message: String| {
        let (path, code) = ("/schedule".to_owned(), ViolationCode::InvalidFormat);
        Rejection::Invalid(vec![Violation { path, code, message }])
    };
    let cron = cron.parse().map_err(|error: CronError| violation(error.to_string()))?;
    let zone = Zone::from_name(timezone).map_err(|error| violation(error.to_string()))?;
    Ok(Schedule::new(cron, zone))
}
