//! What was used: sums by day, and the last requests.

use http::{Request, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value, json};
use websvc_store::{Budget, LoggedRequest, Store, StoreError, UsageFilter};
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::stored;
use crate::response::{ApiError, HttpResponse, json as reply};
use crate::service::RequestContext;

/// So many days are summed up at most.
const MAX_DAYS: u32 = 400;

/// So many requests are shown at most.
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

/// `GET /dashboard/usage?days=N`: by day, team and operation, the newest day first, and what the teams have left.
pub(super) async fn usage(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let days = number(request, "days", 30, MAX_DAYS)?;
    let store = context.store.clone();
    let (days, teams) = stored(move || Ok((by_day(&store, days)?, budgets(&store)?))).await?;
    Ok(reply(StatusCode::OK, &json!({ "days": days, "teams": teams })))
}

/// Returns the sums of all keys together.
fn by_day(store: &Store, days: u32) -> Result<Vec<Day>, StoreError> {
    let mut sums: Vec<Day> = Vec::new();
    for used in store.usage_by_day(UsageFilter { team: None, days: Some(days) })? {
        let same =
            |sum: &&mut Day| sum.day == used.day && sum.team == used.team && sum.operation == used.operation;
        // Of one day, which is at the end.
        let of_day = sums.iter().rposition(|sum| sum.day != used.day).map_or(0, |at| at + 1);
        if let Some(sum) = sums[of_day..].iter_mut().find(same) {
            sum.requests += used.requests;
            sum.credits += used.credits;
        } else {
            sums.push(Day {
                day: used.day,
                team: used.team,
                operation: used.operation,
                requests: used.requests,
                credits: used.credits,
            });
        }
    }
    Ok(sums)
}

fn budgets(store: &Store) -> Result<Vec<TeamBudget>, StoreError> {
    let budget = |team: String| {
        let budget: Option<Budget> = store.budget(&team)?;
        let (remaining, planned) = (budget.map(|one| one.remaining), budget.map(|one| one.granted));
        Ok(TeamBudget { team, remaining, planned })
    };
    store.list_teams()?.into_iter().map(|team| budget(team.name)).collect()
}

/// `GET /dashboard/requests?limit=N`: the last requests, the newest first; none of those that nothing may be kept of.
pub(super) async fn requests(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let limit = number(request, "limit", 100, MAX_REQUESTS)?;
    let store = context.store.clone();
    let logged = stored(move || store.recent_requests(None, None, limit)).await?;
    let requests: Vec<Value> = logged.into_iter().map(shown).collect();
    Ok(reply(StatusCode::OK, &json!({ "requests": requests })))
}

fn shown(logged: LoggedRequest) -> Value {
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

/// Returns a number of the query string, from 1 to `most`.
fn number(request: &Request<ServerBody>, name: &str, default: u32, most: u32) -> Result<u32, ApiError> {
    let query = request.uri().query().unwrap_or_default();
    let given = url::form_urlencoded::parse(query.as_bytes()).find(|(given, _)| given == name);
    let Some((_, value)) = given else { return Ok(default) };
    match value.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => {
            let text = format!("Bad request: {name} must be a number from 1 to {most}, not {value:?}");
            Err(ApiError::new(ErrorCode::BadRequest, text))
        }
    }
}
