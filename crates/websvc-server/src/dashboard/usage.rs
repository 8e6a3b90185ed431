//! The usage on the dashboard: totals by day, and the last requests.

use http::{Request, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use websvc_store::{Budget, LoggedRequest, Store, StoreError, UsageFilter};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::run_on_store;
use crate::response::{ApiError, HttpResponse, json as json_response};
use crate::service::RequestContext;

/// The maximum number of days.
const MAX_DAYS: u32 = 400;

/// The maximum number of requests.
const MAX_REQUESTS: u32 = 1000;

#[derive(Serialize)]
struct Day {
    day: String,
    team: String,
    operation: String,
    requests: u64,
    credits: u64,
}

#[derive(Serialize)]
struct TeamBudget {
    team: String,
    remaining: Option<u64>,
    planned: Option<u64>,
}

/// `GET /dashboard/usage?days=N`: the usage by day, team and operation, newest day first, and the remaining credits of the
/// teams.
pub(super) async fn usage(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let days = number(request, "days", 30, MAX_DAYS)?;
    let store = context.state.store.clone();
    let (days, teams) = run_on_store(move || Ok((by_day(&store, days)?, budgets(&store)?))).await?;
    Ok(json_response(StatusCode::OK, &json!({ "days": days, "teams": teams })))
}

/// Returns the usage by day, team and operation, as totals of all keys.
fn by_day(store: &Store, days: u32) -> Result<Vec<Day>, StoreError> {
    let mut totals: Vec<Day> = Vec::new();
    for usage in store.usage_by_day(UsageFilter { team: None, days: Some(days) })? {
        let is_same = |total: &&mut Day| total.team == usage.team && total.operation == usage.operation;
        // The rows are ordered by day, so the totals of the current day are the last ones.
        let day_start = totals.iter().rposition(|total| total.day != usage.day).map_or(0, |index| index + 1);
        if let Some(total) = totals[day_start..].iter_mut().find(is_same) {
            total.requests += usage.requests;
            total.credits += usage.credits;
        } else {
            totals.push(Day {
                day: usage.day,
                team: usage.team,
                operation: usage.operation,
                requests: usage.requests,
                credits: usage.credits,
            });
        }
    }
    Ok(totals)
}

fn budgets(store: &Store) -> Result<Vec<TeamBudget>, StoreError> {
    let team_budget = |team: String| {
        let budget: Option<Budget> = store.budget(&team)?;
        let (remaining, planned) =
            (budget.map(|budget| budget.remaining), budget.map(|budget| budget.granted));
        Ok(TeamBudget { team, remaining, planned })
    };
    store.list_teams()?.into_iter().map(|team| team_budget(team.name)).collect()
}

/// `GET /dashboard/requests?limit=N`: the last requests that may be stored, newest first.
pub(super) async fn requests(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let limit = number(request, "limit", 100, MAX_REQUESTS)?;
    let store = context.state.store.clone();
    let logged = run_on_store(move || store.recent_requests(None, None, limit)).await?;
    let requests: Vec<Value> = logged.into_iter().map(to_json).collect();
    Ok(json_response(StatusCode::OK, &json!({ "requests": requests })))
}

fn to_json(logged: LoggedRequest) -> Value {
    let LoggedRequest {
        id: _,
        at_ms,
        team,
        key,
        request,
        operation,
        status,
        elapsed_us,
        credits,
        forgiven: _,
        items,
        stages,
        query,
    } = logged;
    let micros = |took: std::time::Duration| u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let stages: Map<String, Value> =
        stages.into_iter().map(|stage| (stage.stage, json!(micros(stage.elapsed)))).collect();
    let items: Vec<Value> = items
        .into_iter()
        .map(|item| json!({ "item": item.item, "count": item.count, "credits": item.credits }))
        .collect();
    json!({
        "id": request,
        "at": at_ms,
        "team": team,
        "key": key,
        "operation": operation,
        "status": status,
        "elapsedUs": elapsed_us,
        "credits": credits,
        "items": items,
        "stages": stages,
        "query": query,
    })
}

/// Returns a number of the query string, from 1 to `max`.
pub(super) fn number(
    request: &Request<ServerBody>,
    name: &str,
    default: u32,
    max: u32,
) -> Result<u32, ApiError> {
    let query = request.uri().query().unwrap_or_default();
    let parameter = url::form_urlencoded::parse(query.as_bytes()).find(|(other, _)| other == name);
    let Some((_, value)) = parameter else { return Ok(default) };
    match value.parse() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => {
            let text = format!("Bad request: {name} must be a number from 1 to {max}, not {value:?}");
            Err(ApiError::new(ErrorCode::BadRequest, text))
        }
    }
}
