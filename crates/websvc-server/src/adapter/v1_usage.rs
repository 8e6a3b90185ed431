//! Usage of a team in version 1, whose names are in snake case.

use serde_json::json;
use websvc_types::usage::CreditBalance;

use super::ok;
use crate::handler;
use crate::response::{ApiError, HttpResponse};
use crate::route::{Endpoint, OperationGroup, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get(
        "/v1/team/credit-usage",
        OperationGroup::Team,
        handler!(|context, _| usage(&context, "credits").await),
    )
    .name("credit-usage"),
    // The credits under the name of an older unit.
    Endpoint::get(
        "/v1/team/token-usage",
        OperationGroup::Team,
        handler!(|context, _| usage(&context, "tokens").await),
    )
    .name("token-usage"),
];

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
