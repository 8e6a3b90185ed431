//! Usage of a team: credits, requests in flight. The shapes are those that official clients read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Remaining credits of a team: `GET /v2/team/credit-usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreditUsageResponse {
    /// True.
    pub success: bool,
    /// The figures.
    pub data: CreditBalance,
}

/// Remaining credits of a team.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditBalance {
    /// Remaining credits; 2147483647 for a team without a budget.
    pub remaining_credits: u64,
    /// Credits of the team's last grant; null for a team without a budget.
    pub plan_credits: Option<u64>,
    /// When it was given, ISO 8601; null for a team without a budget.
    pub billing_period_start: Option<String>,
    /// Null: credits are given by the operator, not by the month.
    pub billing_period_end: Option<String>,
}

/// Remaining tokens of a team: `GET /v2/team/token-usage`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenUsage {
    /// True.
    pub success: bool,
    /// The figures.
    pub data: TokenBalance,
}

/// Remaining tokens of a team. This service counts credits only: one token is one credit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenBalance {
    /// Remaining tokens; 2147483647 for a team without a budget.
    pub remaining_tokens: u64,
    /// Tokens of the team's last grant; null for a team without a budget.
    pub plan_tokens: Option<u64>,
    /// When it was given, ISO 8601; null for a team without a budget.
    pub billing_period_start: Option<String>,
    /// Null: credits are given by the operator, not by the month.
    pub billing_period_end: Option<String>,
}

/// Usage of a team by month: `GET /v2/team/credit-usage/historical`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreditHistory {
    /// True.
    pub success: bool,
    /// The months in which something was used, the oldest first.
    pub periods: Vec<CreditPeriod>,
}

/// Usage of a team in one month (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreditPeriod {
    /// When the month began, ISO 8601.
    pub start_date: String,
    /// When it ended; null while it lasts.
    pub end_date: Option<String>,
    /// The identifier of the key, when it is asked for by key; requests that are not kept with their key have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub api_key: Option<String>,
    /// Credits used.
    pub credits_used: u64,
}

/// Usage of a team by month, in tokens: `GET /v2/team/token-usage/historical`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenHistory {
    /// True.
    pub success: bool,
    /// The months in which something was used, the oldest first.
    pub periods: Vec<TokenPeriod>,
}

/// Usage of a team in one month (UTC), in tokens. One token is one credit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenPeriod {
    /// When the month began, ISO 8601.
    pub start_date: String,
    /// When it ended; null while it lasts.
    pub end_date: Option<String>,
    /// The identifier of the key, when it is asked for by key; requests that are not kept with their key have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub api_key: Option<String>,
    /// Tokens used.
    pub tokens_used: u64,
}

/// The requests of a team that are in work: `GET /v2/team/queue-status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueueStatus {
    /// True.
    pub success: bool,
    /// All that are not answered yet.
    pub jobs_in_queue: u32,
    /// Those that are worked on.
    pub active_jobs_in_queue: u32,
    /// Those that wait for their turn.
    pub waiting_jobs_in_queue: u32,
    /// How many may be worked on at one time.
    pub max_concurrency: u32,
    /// When a request was last answered with success, ISO 8601.
    pub most_recent_success: Option<String>,
}

/// The requests of a team that are in work, in short: `GET /v2/concurrency-check`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConcurrencyCheck {
    /// True.
    pub success: bool,
    /// Those that are worked on.
    pub concurrency: u32,
    /// How many may be worked on at one time.
    pub max_concurrency: u32,
}

/// Old name of [`CreditUsageResponse`].
#[deprecated(note = "renamed to `CreditUsageResponse`")]
pub type CreditUsage = CreditUsageResponse;
