//! `GET /v2/team/...` and `GET /v2/concurrency-check`: what the caller's own team may use and has used.

use http::StatusCode;
use jiff::Timestamp;
use websvc_store::{Budget, DEFAULT_TEAM, MonthlyUsage, Store, StoreError};
use websvc_types::usage::{
    ConcurrencyCheck, CreditBalance, CreditHistory, CreditPeriod, CreditUsageResponse, QueueStatus,
    TokenBalance, TokenHistory, TokenPeriod, TokenUsage,
};
use websvc_types::{ErrorCode, Violation, ViolationCode};

use crate::charge::blocking;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// What a team without a budget has left: the greatest number that fits into the whole numbers of every client.
const UNLIMITED: u64 = i32::MAX as u64;

/// `GET /v2/team/credit-usage`.
pub(crate) async fn credit_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let (remaining_credits, plan_credits, billing_period_start) = balance(context).await?;
    let data =
        CreditBalance { remaining_credits, plan_credits, billing_period_start, billing_period_end: None };
    Ok(json(StatusCode::OK, &CreditUsageResponse { success: true, data }))
}

/// `GET /v2/team/token-usage`: the same under the name of an older unit.
pub(crate) async fn token_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let (remaining_tokens, plan_tokens, billing_period_start) = balance(context).await?;
    let data = TokenBalance { remaining_tokens, plan_tokens, billing_period_start, billing_period_end: None };
    Ok(json(StatusCode::OK, &TokenUsage { success: true, data }))
}

/// `GET /v2/team/credit-usage/historical`.
pub(crate) async fn credit_history(
    context: &RequestContext<'_>,
    query: Option<&str>,
) -> Result<HttpResponse, ApiError> {
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
pub(crate) async fn token_history(
    context: &RequestContext<'_>,
    query: Option<&str>,
) -> Result<HttpResponse, ApiError> {
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
pub(crate) async fn queue_status(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let last_success_ms = read(context, Store::last_success_ms).await?;
    let (active, most) = concurrency(context);
    let waiting = context.admission.queued_for(context.caller.as_ref());
    let pages = context.jobs.pages(Some(team(context))).await?;
    let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    // Pages that are worked on hold credits as requests do, once their robots.txt was asked.
    let active = active.max(count(pages.in_flight));
    let waiting = count((waiting as u64).saturating_add(pages.queued));
    let status = QueueStatus {
        success: true,
        jobs_in_queue: active.saturating_add(waiting),
        active_jobs_in_queue: active,
        waiting_jobs_in_queue: waiting,
        max_concurrency: most,
        most_recent_success: last_success_ms.and_then(timestamp),
    };
    Ok(json(StatusCode::OK, &status))
}

/// `GET /v2/concurrency-check`.
pub(crate) fn concurrency_check(context: &RequestContext<'_>) -> HttpResponse {
    let (concurrency, max_concurrency) = concurrency(context);
    json(StatusCode::OK, &ConcurrencyCheck { success: true, concurrency, max_concurrency })
}

/// Returns what is left, what was given last, and when that was.
async fn balance(context: &RequestContext<'_>) -> Result<(u64, Option<u64>, Option<String>), ApiError> {
    Ok(match read(context, Store::budget).await? {
        None => (UNLIMITED, None, None),
        Some(Budget { granted, granted_at_ms, spent: _, remaining }) => {
            (remaining, Some(granted), timestamp(granted_at_ms))
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

/// Reads what the query says of `byApiKey`; official clients send `true` and `false`.
fn by_key(query: Option<&str>) -> Result<bool, ApiError> {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let Some((_, value)) = pairs.into_iter().find(|(name, _)| name == "byApiKey") else { return Ok(false) };
    match &*value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ApiError::invalid(
            ErrorCode::BadRequest,
            vec![Violation {
                path: "/byApiKey".to_owned(),
                code: ViolationCode::InvalidType,
                message: format!("byApiKey must be true or false, not {value:?}"),
            }],
        )),
    }
}

/// Reads something of the caller's own team.
async fn read<T: Send + 'static>(
    context: &RequestContext<'_>,
    read: impl FnOnce(&Store, &str) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, ApiError> {
    let (store, team) = (context.store.clone(), team(context).to_owned());
    blocking(move || read(&store, &team))
        .await?
        .map_err(|error| ApiError::internal(&error, "the usage could not be read"))
}

/// Returns how many requests of the team are in work, and how many may be.
fn concurrency(context: &RequestContext<'_>) -> (u32, u32) {
    let of_team = context.caller.as_ref().and_then(|caller| caller.team.concurrency);
    let most = of_team.unwrap_or_else(|| u32::try_from(context.concurrency).unwrap_or(u32::MAX));
    (context.store.requests_in_flight(team(context)), most)
}

fn team<'a>(context: &'a RequestContext<'_>) -> &'a str {
    context.caller.as_ref().map_or(DEFAULT_TEAM, |caller| &caller.team.name)
}

fn timestamp(unix_ms: u64) -> Option<String> {
    let at = Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: Option<&str>, expected: Option<bool>) {
        assert_eq!(by_key(query).ok(), expected, "{query:?}");
    }

    #[test]
    fn keys_are_told_apart_when_that_is_asked() {
        check(None, Some(false));
        check(Some("a=b"), Some(false));
        check(Some("byApiKey=false"), Some(false));
        check(Some("a=b&byApiKey=true"), Some(true));
        check(Some("byApiKey=yes"), None);
    }
}
