//! `GET /v2/team/...` and `GET /v2/concurrency-check`: the limits and the usage of the caller's team.

use http::StatusCode;
use jiff::Timestamp;
use websvc_jobs::OpenPageCounts;
use websvc_store::{Budget, MonthlyUsage, Store, StoreError, TeamActivity};
use websvc_types::ViolationCode;
use websvc_types::usage::{
    ConcurrencyCheck, CreditBalance, CreditHistory, CreditPeriod, CreditUsageResponse, QueueStatus,
    TokenBalance, TokenHistory, TokenPeriod, TokenUsage,
};

use super::query;
use crate::admission::AdmissionLimits;
use crate::blocking::run_blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::OperationGroup::Team;
use crate::route::{Endpoint, Handler, handler};
use crate::service::RequestContext;

/// Every key may read the usage of its team.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/v2/team/credit-usage", Team, handler!(|context, _| credit_usage(&context).await))
        .name("credit-usage"),
    Endpoint::get("/v2/team/credit-usage/historical", Team, CREDIT_HISTORY).name("credit-history"),
    Endpoint::get("/v2/team/token-usage", Team, handler!(|context, _| token_usage(&context).await))
        .name("token-usage"),
    Endpoint::get("/v2/team/token-usage/historical", Team, TOKEN_HISTORY).name("token-history"),
    Endpoint::get("/v2/team/queue-status", Team, QUEUE_STATUS).name("queue-status"),
    Endpoint::get("/v2/concurrency-check", Team, CONCURRENCY_CHECK).name("concurrency-check"),
    Endpoint::get("/v1/team/credit-usage/historical", Team, CREDIT_HISTORY).name("credit-history"),
    Endpoint::get("/v1/team/token-usage/historical", Team, TOKEN_HISTORY).name("token-history"),
    Endpoint::get("/v1/team/queue-status", Team, QUEUE_STATUS).name("queue-status"),
    Endpoint::get("/v1/concurrency-check", Team, CONCURRENCY_CHECK).name("concurrency-check"),
];

const CREDIT_HISTORY: Handler =
    handler!(|context, request| credit_history(&context, request.uri().query()).await);
const TOKEN_HISTORY: Handler =
    handler!(|context, request| token_history(&context, request.uri().query()).await);
const QUEUE_STATUS: Handler = handler!(|context, _| queue_status(&context).await);
const CONCURRENCY_CHECK: Handler = handler!(|context, _| concurrency_check(&context).await);

/// The remaining credits of a team without a budget: the largest number that fits into the integers of every client.
const UNLIMITED: u64 = i32::MAX as u64;

/// The credits of a team.
struct Balance {
    remaining: u64,
    /// The credits that were granted last; `None` if they are unlimited.
    granted: Option<u64>,
    granted_at: Option<String>,
}

/// `GET /v2/team/credit-usage`.
async fn credit_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let data = credit_balance(context).await?;
    Ok(json(StatusCode::OK, &CreditUsageResponse { success: true, data }))
}

/// Returns the credits of the caller's team, in the format of version 2.
pub(crate) async fn credit_balance(context: &RequestContext<'_>) -> Result<CreditBalance, ApiError> {
    let Balance { remaining, granted, granted_at } = balance(context).await?;
    Ok(CreditBalance {
        remaining_credits: remaining,
        plan_credits: granted,
        billing_period_start: granted_at,
        billing_period_end: None,
    })
}

/// `GET /v2/team/token-usage`: the credits under the name of an older unit.
async fn token_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let Balance { remaining, granted, granted_at } = balance(context).await?;
    let data = TokenBalance {
        remaining_tokens: remaining,
        plan_tokens: granted,
        billing_period_start: granted_at,
        billing_period_end: None,
    };
    Ok(json(StatusCode::OK, &TokenUsage { success: true, data }))
}

/// `GET /v2/team/credit-usage/historical`.
async fn credit_history(context: &RequestContext<'_>, query: Option<&str>) -> Result<HttpResponse, ApiError> {
    let period = |month: MonthlyUsage| CreditPeriod {
        start_date: month.start,
        end_date: month.end,
        api_key: month.key,
        credits_used: month.credits,
    };
    let periods = history(context, query).await?.into_iter().map(period).collect();
    Ok(json(StatusCode::OK, &CreditHistory { success: true, periods }))
}

/// `GET /v2/team/token-usage/historical`.
async fn token_history(context: &RequestContext<'_>, query: Option<&str>) -> Result<HttpResponse, ApiError> {
    let period = |month: MonthlyUsage| TokenPeriod {
        start_date: month.start,
        end_date: month.end,
        api_key: month.key,
        tokens_used: month.credits,
    };
    let periods = history(context, query).await?.into_iter().map(period).collect();
    Ok(json(StatusCode::OK, &TokenHistory { success: true, periods }))
}

/// `GET /v2/team/queue-status`.
async fn queue_status(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let last_success_ms = read(context, Store::last_success_ms).await?;
    let OpenPageCounts { in_flight, queued } = context.state.jobs.pages(Some(context.team_name())).await?;
    let queued_requests = context.state.admission.queued_for(context.caller.as_ref()) as u64;
    let own =
        TeamActivity { requests: requests_in_flight(context), pages: in_flight, queued: queued_requests };
    let others = others(context).await?;
    let active = own.in_flight().saturating_add(others.in_flight());
    // Pages in flight on other replicas are queued pages for this one.
    let queued_pages = queued.saturating_sub(others.pages);
    let waiting = own.queued.saturating_add(others.queued).saturating_add(queued_pages);
    let status = QueueStatus {
        success: true,
        jobs_in_queue: saturating(active.saturating_add(waiting)),
        active_jobs_in_queue: saturating(active),
        waiting_jobs_in_queue: saturating(waiting),
        max_concurrency: max_concurrency(context),
        most_recent_success: last_success_ms.and_then(timestamp),
    };
    Ok(json(StatusCode::OK, &status))
}

/// `GET /v2/concurrency-check`.
async fn concurrency_check(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let in_flight = requests_in_flight(context).saturating_add(others(context).await?.requests);
    let check = ConcurrencyCheck {
        success: true,
        concurrency: saturating(in_flight),
        max_concurrency: max_concurrency(context),
    };
    Ok(json(StatusCode::OK, &check))
}

/// Returns the credits of the caller's team.
async fn balance(context: &RequestContext<'_>) -> Result<Balance, ApiError> {
    Ok(match read(context, Store::budget).await? {
        None => Balance { remaining: UNLIMITED, granted: None, granted_at: None },
        Some(Budget { granted, granted_at_ms, spent: _, remaining }) => {
            Balance { remaining, granted: Some(granted), granted_at: timestamp(granted_at_ms) }
        }
    })
}

async fn history(context: &RequestContext<'_>, query: Option<&str>) -> Result<Vec<MonthlyUsage>, ApiError> {
    let by_key = by_key(query)?;
    read(
        context,
        move |store, team| {
            if by_key { store.usage_by_month_and_key(team) } else { store.usage_by_month(team) }
        },
    )
    .await
}

/// Returns the value of `byApiKey` in a query string.
fn by_key(query: Option<&str>) -> Result<bool, ApiError> {
    flag(query, "byApiKey")
}

/// Returns the value of a flag in a query string, which is false by default; official clients send `true` and `false`.
pub(super) fn flag(query: Option<&str>, name: &str) -> Result<bool, ApiError> {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let Some((_, value)) = pairs.into_iter().find(|(found, _)| found == name) else { return Ok(false) };
    match &*value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => {
            let text = format!("{name} must be true or false, not {value:?}");
            Err(query::invalid(name, ViolationCode::InvalidType, text))
        }
    }
}

/// Reads the store for the caller's team.
async fn read<T: Send + 'static>(
    context: &RequestContext<'_>,
    read: impl FnOnce(&Store, &str) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let (store, team) = (context.state.store.clone(), context.team_name().to_owned());
    run_blocking(move || read(&store, &team))
        .await?
        .map_err(|error| ApiError::internal(&error, "the usage could not be read"))
}

/// Returns the number of requests of the caller's team that are in flight in this process.
fn requests_in_flight(context: &RequestContext<'_>) -> u64 {
    context.state.store.requests_in_flight(context.team_name()).into()
}

/// Returns the counts of the caller's team in the other processes of the service.
async fn others(context: &RequestContext<'_>) -> Result<TeamActivity, ApiError> {
    if !context.state.store.is_shared() {
        return Ok(TeamActivity::default());
    }
    read(context, Store::activity_of_others).await
}

/// Returns the maximum number of concurrent requests of the caller's team in all processes of the service.
fn max_concurrency(context: &RequestContext<'_>) -> u32 {
    let AdmissionLimits { concurrency, total_concurrency, .. } = context.state.limits;
    let team_limit = context.caller.as_ref().and_then(|caller| caller.team.concurrency).or(concurrency);
    // The limit of all requests is that of each replica.
    let total = || saturating(total_concurrency as u64).saturating_mul(context.state.store.workers());
    team_limit.unwrap_or_else(total)
}

fn saturating(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns a time as ISO 8601.
pub(crate) fn timestamp(unix_ms: u64) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok()?;
    Some(timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: Option<&str>, expected: Option<bool>) {
        assert_eq!(by_key(query).ok(), expected, "{query:?}");
    }

    #[test]
    fn by_api_key_is_parsed_from_the_query_string() {
        check(None, Some(false));
        check(Some("a=b"), Some(false));
        check(Some("byApiKey=false"), Some(false));
        check(Some("a=b&byApiKey=true"), Some(true));
        check(Some("byApiKey=yes"), None);
    }
}
