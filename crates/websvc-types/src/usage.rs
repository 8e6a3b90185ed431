//! Usage of a team: credits, and requests in flight, in the format that official clients read.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response of `GET /v2/team/credit-usage`: remaining credits of the team.
///
/// # Examples
///
/// ```
/// use websvc_types::usage::CreditUsageResponse;
///
/// let usage: CreditUsageResponse = serde_json::from_str(r#"{
///     "success": true,
///     "data": {
///         "remainingCredits": 940,
///         "planCredits": 1000,
///         "billingPeriodStart": "2026-11-01T09:00:00Z",
///         "billingPeriodEnd": null
///     }
/// }"#)?;
/// assert_eq!(usage.data.remaining_credits, 940);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CreditUsageResponse {
    /// Always true.
    pub success: bool,
    /// Remaining credits and the last grant.
    pub data: CreditBalance,
}

/// Credit balance of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreditBalance {
    /// Remaining credits; 2147483647 for a team without a budget.
    pub remaining_credits: u64,
    /// Credits of the team's last grant; null for a team without a budget.
    pub plan_credits: Option<u64>,
    /// Time of the last grant, ISO 8601; null for a team without a budget.
    pub billing_period_start: Option<String>,
    /// Always null: the operator grants credits, there is no billing period.
    pub billing_period_end: Option<String>,
}

/// Response of `GET /v2/team/token-usage`: remaining tokens of the team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct TokenUsage {
    /// Always true.
    pub success: bool,
    /// Remaining tokens and the last grant.
    pub data: TokenBalance,
}

/// Token balance of a team. websvc counts credits only: one token is one credit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenBalance {
    /// Remaining tokens; 2147483647 for a team without a budget.
    pub remaining_tokens: u64,
    /// Tokens of the team's last grant; null for a team without a budget.
    pub plan_tokens: Option<u64>,
    /// Time of the last grant, ISO 8601; null for a team without a budget.
    pub billing_period_start: Option<String>,
    /// Always null: the operator grants credits, there is no billing period.
    pub billing_period_end: Option<String>,
}

/// Response of `GET /v2/team/credit-usage/historical`: usage of the team by month.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CreditHistory {
    /// Always true.
    pub success: bool,
    /// Months with usage, the oldest first.
    pub periods: Vec<CreditPeriod>,
}

/// Usage of a team in one month (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreditPeriod {
    /// Start of the month, ISO 8601.
    pub start_date: String,
    /// End of the month, ISO 8601; null for the current month.
    pub end_date: Option<String>,
    /// ID of the API key, with `byApiKey=true`. Absent for usage that is stored without its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub api_key: Option<String>,
    /// Credits used.
    pub credits_used: u64,
}

/// Response of `GET /v2/team/token-usage/historical`: usage of the team by month, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct TokenHistory {
    /// Always true.
    pub success: bool,
    /// Months with usage, the oldest first.
    pub periods: Vec<TokenPeriod>,
}

/// Usage of a team in one month (UTC), in tokens. One token is one credit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenPeriod {
    /// Start of the month, ISO 8601.
    pub start_date: String,
    /// End of the month, ISO 8601; null for the current month.
    pub end_date: Option<String>,
    /// ID of the API key, with `byApiKey=true`. Absent for usage that is stored without its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub api_key: Option<String>,
    /// Tokens used.
    pub tokens_used: u64,
}

/// Response of `GET /v2/team/queue-status`: requests and job pages of the team that are in flight or queued.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// Always true.
    pub success: bool,
    /// Number of requests and job pages, in flight and queued.
    pub jobs_in_queue: u32,
    /// Number of requests and job pages in flight.
    pub active_jobs_in_queue: u32,
    /// Number of queued requests and job pages.
    pub waiting_jobs_in_queue: u32,
    /// Maximum number of concurrent requests of the team.
    pub max_concurrency: u32,
    /// Time of the last successful response, ISO 8601; null if there was none.
    pub most_recent_success: Option<String>,
}

/// Response of `GET /v2/concurrency-check`: requests of the team in flight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConcurrencyCheck {
    /// Always true.
    pub success: bool,
    /// Number of requests in flight.
    pub concurrency: u32,
    /// Maximum number of concurrent requests of the team.
    pub max_concurrency: u32,
}
