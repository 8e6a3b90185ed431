//! Usage of a team in version 1, whose names are in snake case.

use serde_json::json;
use websvc_types::usage::CreditBalance;

use super::ok;
use crate::handler;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// `GET /v1/team/credit-usage`.
pub(super) async fn credit_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    usage(context, "credits").await
}

/// `GET /v1/team/token-usage`: the credits under the name of an older unit.
pub(super) async fn token_usage(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    usage(context, "tokens").await
}

async fn usage(context: &RequestContext<'_>, unit: &str) -> Result<HttpResponse, ApiError> {
    let CreditBalance { remaining_credits, plan_credits, billing_period_start, billing_period_end } =
        handler::credit_balance(context).await?;
    let mut data = json!({
        "billing_period_start": billing_period_start,
        "billing_period_end": billing_period_end,
    });
    data[format!("remaining_{unit}")] = json!(remaining_credits);
    data[format!("plan_{unit}")] = json!(plan_credits);
    Ok(ok(&json!({ "success": true, "data": data })))
}
