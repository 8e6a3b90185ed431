//! Previews of monitors for the dashboard: schedules in words with their next runs, and the estimate of the credits.

use http::{Request, StatusCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use websvc_monitor::CreditEstimate;
use websvc_schedule::Schedule;
use websvc_transport::ServerBody;
use websvc_types::limits::MONITOR_LIST_LIMIT_MAX;
use websvc_types::monitor::{MonitorRequestSchedule, MonitorSchedule};
use websvc_types::{ErrorCode, Violation};
use websvc_validate::{
    Checked, MonitorContext, MonitorDefinition, Policy, Rejection, check_monitor_schedule,
    parse_monitor_schedule, read_create_monitor,
};

use super::clock;
use crate::blocking::run_blocking;
use crate::handler::read_body;
use crate::handler::search::policy_with_patterns;
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

/// Parts of a preview that were read from a body. The definition is absent while the request is incomplete.
struct Draft {
    schedule: Result<ScheduleText, Vec<Violation>>,
    definition: Option<MonitorDefinition>,
}

/// `POST /dashboard/monitor/preview`: the schedule and the estimated credits of a request that would create a monitor.
///
/// # Errors
/// 400 if the body is not such a request at all; 500
pub(crate) async fn preview(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = read_body(request).await?;
    let partial: PartialRequest = serde_json::from_slice(&body)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))?;
    let policy = policy_with_patterns(context)?;
    let (now, min_interval) = clock(context);
    let read_policy = policy.clone();
    let reading = context.state.admission.decode_with_patterns(body, move |body| {
        let mut new_id = || Uuid::new_v4().to_string();
        let context = MonitorContext { policy: &read_policy, now, min_interval, new_id: &mut new_id };
        let schedule = draft_schedule(partial.schedule, &context, now)?;
        let definition = read_create_monitor(body, context).ok().map(|checked| checked.plan);
        Ok(Draft { schedule, definition })
    });
    let Draft { schedule, definition } = reading.await?;
    let estimate = definition.and_then(|definition| estimate(context, definition, &policy));
    let (schedule, errors) = match schedule {
        Ok(schedule) => (Some(schedule), Vec::new()),
        Err(errors) => (None, errors),
    };
    let response = PreviewResponse {
        schedule,
        estimated_credits_per_check: estimate.map(|estimate| estimate.check),
        estimated_credits_per_month: estimate.map(|estimate| estimate.month),
        errors,
    };
    Ok(json(StatusCode::OK, &response))
}

/// Returns the schedule as text, or its violations.
fn draft_schedule(
    schedule: MonitorRequestSchedule,
    context: &MonitorContext<'_>,
    now: Timestamp,
) -> Result<Result<ScheduleText, Vec<Violation>>, Rejection> {
    match check_monitor_schedule(schedule, context) {
        Ok(schedule) => Ok(Ok(describe(&schedule, now))),
        Err(Rejection::Invalid(violations)) => Ok(Err(violations)),
        Err(other) => Err(other),
    }
}

/// Estimates the credits of a monitor; `None` if the team may not create it.
fn estimate(
    context: &RequestContext<'_>,
    definition: MonitorDefinition,
    policy: &Policy,
) -> Option<CreditEstimate> {
    let Checked { plan, warnings: _ } = definition.plan(policy).ok()?;
    Some(context.state.monitors.estimate(definition, &plan))
}

/// `POST /dashboard/monitor/schedules`: stored schedules in words, with their next runs.
///
/// # Errors
/// 400 if the body is malformed or has too many schedules; 500
pub(crate) async fn schedules(
    context: &RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = read_body(request).await?;
    let SchedulesRequest { schedules } = serde_json::from_slice(&body)
        .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("Bad request: {error}")))?;
    let count = schedules.len();
    if count as u64 > MONITOR_LIST_LIMIT_MAX {
        let text =
            format!("Bad request: schedules must have at most {MONITOR_LIST_LIMIT_MAX} items, not {count}");
        return Err(ApiError::new(ErrorCode::BadRequest, text));
    }
    let (now, _) = clock(context);
    let describing = run_blocking(move || {
        let describe_stored =
            |schedule: &MonitorSchedule| Some(describe(&parse_monitor_schedule(schedule).ok()?, now));
        schedules.iter().map(describe_stored).collect()
    });
    let schedules = describing.await?;
    Ok(json(StatusCode::OK, &SchedulesResponse { schedules }))
}

fn describe(schedule: &Schedule, now: Timestamp) -> ScheduleText {
    let next_runs = schedule.runs_after(now).take(SHOWN_RUNS).map(|run| run.to_string()).collect();
    ScheduleText { words: schedule.to_string(), next_runs }
}
