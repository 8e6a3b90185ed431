//! Previews of monitors for the dashboard: schedules in words with their next runs, and the estimate of the credits.

use http::{Request, StatusCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use websvc_monitor::{CreditEstimate, Monitors};
use websvc_schedule::Schedule;
use websvc_transport::ServerBody;
use websvc_types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc_types::monitor::{CreateMonitorRequest, MonitorRequestSchedule, MonitorSchedule};
use websvc_types::{ErrorCode, Violation};
use websvc_validate::{
    Checked, MonitorContext, Rejection, check_monitor_schedule, check_values, parse_monitor_schedule,
    read_request,
};

use super::clock;
use crate::blocking::run_blocking;
use crate::handler::search::policy_with_patterns;
use crate::handler::{parse_body, read_body};
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// Number of runs that are shown.
const SHOWN_RUNS: usize = 3;

/// A schedule for people.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScheduleText {
    /// Schedule in words, with its time zone.
    words: String,
    /// Next runs, ISO 8601.
    next_runs: Vec<String>,
}

/// Response to a preview. Fields that cannot be computed yet are null.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreviewResponse {
    schedule: Option<ScheduleText>,
    estimated_credits_per_check: Option<u64>,
    estimated_credits_per_month: Option<u64>,
    /// Violations of the schedule. Those of other fields are reported when the monitor is created.
    errors: Vec<Violation>,
}

/// The schedule in a request that creates a monitor and is not complete yet.
#[derive(Deserialize)]
struct PartialRequest {
    #[serde(default)]
    schedule: MonitorRequestSchedule,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SchedulesRequest {
    schedules: Vec<MonitorSchedule>,
}

#[derive(Serialize)]
struct SchedulesResponse {
    /// An entry for each schedule of the request; null if this version does not know it.
    schedules: Vec<Option<ScheduleText>>,
}

/// `POST /dashboard/monitor/preview`: the schedule and the estimated credits of a request that would create a monitor.
///
/// # Errors
/// 400 if the body is not such a request at all; 500
pub(crate) async fn preview(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = read_body(request)?;
    let policy = policy_with_patterns(context)?;
    let (now, min_interval) = clock(context);
    let monitors = context.state.monitors.clone();
    let reading = context.state.admission.decode_with_patterns(body, move |body| {
        let mut new_id = || Uuid::new_v4().to_string();
        let context = MonitorContext { policy: &policy, now, min_interval, new_id: &mut new_id };
        let (schedule, errors) = match check_monitor_schedule(read_schedule(body)?, &context) {
            Ok(schedule) => (Some(describe(&schedule, now)), Vec::new()),
            Err(Rejection::Invalid(violations)) => (None, violations),
            Err(other) => return Err(other),
        };
        let estimate = estimate(&monitors, body, context);
        Ok(PreviewResponse {
            schedule,
            estimated_credits_per_check: estimate.map(|estimate| estimate.check),
            estimated_credits_per_month: estimate.map(|estimate| estimate.month),
            errors,
        })
    });
    Ok(json(StatusCode::OK, &reading.await?))
}

/// Reads the schedule of a request whose other fields may be absent or wrong.
///
/// # Errors
/// The body is not JSON, or the schedule has another type.
fn read_schedule(body: &[u8]) -> Result<MonitorRequestSchedule, Rejection> {
    check_values(body)?;
    serde_json::from_slice(body).map(|PartialRequest { schedule }| schedule).map_err(|error| {
        Rejection::Json { line: error.line(), column: error.column(), message: error.to_string() }
    })
}

/// Estimates the credits of a monitor; `None` while the request is incomplete, or if the team may not send it.
fn estimate(monitors: &Monitors, body: &[u8], context: MonitorContext<'_>) -> Option<CreditEstimate> {
    let policy = context.policy;
    let Checked { plan: definition, warnings: _ } =
        read_request::<CreateMonitorRequest>(body, context).ok()?;
    let Checked { plan, warnings: _ } = definition.plan(policy).ok()?;
    Some(monitors.estimate(definition, &plan))
}

/// `POST /dashboard/monitor/schedules`: stored schedules in words, with their next runs.
///
/// # Errors
/// 400 if the body is malformed or has too many schedules; 500
pub(crate) async fn schedules(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = read_body(request)?;
    let (now, _) = clock(context);
    let describing = run_blocking(move || {
        let SchedulesRequest { schedules } = parse_body(&body)?;
        let count = schedules.len();
        if count as u64 > MONITOR_LIST_LIMIT_MAX {
            let text = format!(
                "Bad request: schedules must have at most {MONITOR_LIST_LIMIT_MAX} items, not {count}"
            );
            return Err(ApiError::new(ErrorCode::BadRequest, text));
        }
        let describe_stored =
            |schedule: &MonitorSchedule| Some(describe(&parse_monitor_schedule(schedule).ok()?, now));
        Ok(schedules.iter().map(describe_stored).collect())
    });
    let schedules = describing.await??;
    Ok(json(StatusCode::OK, &SchedulesResponse { schedules }))
}

fn describe(schedule: &Schedule, now: Timestamp) -> ScheduleText {
    let next_runs = schedule.runs_after(now).take(SHOWN_RUNS).map(|run| run.to_string()).collect();
    ScheduleText { words: schedule.to_string(), next_runs }
}
