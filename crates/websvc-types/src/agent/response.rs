//! Responses about agent runs.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

use super::request::{AgentEffort, AgentMode};

/// Response of `POST /v2/agent`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentStarted {
    /// Always true.
    pub success: bool,
    /// ID of the run.
    pub id: String,
    /// ID of its thread, with which another run can continue it.
    pub thread_id: String,
    /// Position of the run in its thread, from 1.
    pub thread_turn: u64,
    /// Problems that did not fail the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Status of a run for polling clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentStatus {
    /// The run waits or works.
    Processing,
    /// The run has its data.
    Completed,
    /// The run failed or was cancelled; `stopReason` says which.
    Failed,
}

/// Response of `GET /v2/agent/{id}`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct AgentStatusResponse {
    /// Always true, also for a failed run.
    pub success: bool,
    /// ID of the run.
    pub id: String,
    /// Status of the run.
    pub status: AgentStatus,
    /// The collected data. Only when the status is `completed`.
    pub data: Option<Value>,
    /// Reason of the failure or cancellation.
    pub error: Option<String>,
    /// The `model` of the request.
    pub model: Option<String>,
    /// The `effort` of the request.
    pub effort: Option<AgentEffort>,
    /// Time at which the run is deleted, ISO 8601. For a run that works: the earliest such time.
    pub expires_at: String,
    /// Credits that the run was charged. Absent while it works.
    pub credits_used: Option<u64>,
    /// ID of its thread.
    pub thread_id: String,
    /// Position of the run in its thread, from 1.
    pub thread_turn: u64,
    /// Form of the answer.
    pub mode: AgentMode,
    /// Notes of the run for people, such as values that no page that was read states.
    pub message: Option<String>,
    /// The data that a failed or cancelled run had collected.
    pub partial: Option<Value>,
    /// True if `partial` follows the schema of the request. Only with `partial`.
    pub partial_schema_valid: Option<bool>,
    /// Reason why the run ended: `succeeded`, `cancelled`, `refused`, `credit_limit_reached`, `step_limit_reached`,
    /// `token_limit_reached`, `timeout`, `invalid_data`, `model_failed`, `interrupted` or `failed`. Later versions may add
    /// reasons.
    pub stop_reason: Option<String>,
    /// Problems that did not fail the run.
    pub warning: Option<String>,
}

/// Response of `DELETE /v2/agent/{id}`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct CancelAgentResponse {
    /// Always true.
    pub success: bool,
}

/// Response of `GET /v2/agent`: runs of the team, the newest first.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AgentList {
    /// Always true.
    pub success: bool,
    /// At most 20 runs.
    pub agents: Vec<AgentListItem>,
    /// URL of the next page. Only if there are more runs.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub next: Option<String>,
}

/// Run in a list.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentListItem {
    /// ID of the run.
    pub id: String,
    /// Time of the start request, ISO 8601.
    pub created_at: String,
    /// First URL of the request, or the beginning of its prompt.
    pub target_hint: String,
    /// The `origin` of the request; `api` without one.
    pub origin: String,
    /// The `integration` of the request.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub integration: Option<String>,
    /// Marks of the hosted dashboard, which this service does not have.
    pub settings: AgentListSettings,
    /// Status of the run.
    pub status: AgentStatus,
    /// Options of the run.
    pub options: AgentListOptions,
}

/// Marks of a run in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AgentListSettings {
    /// Always false.
    pub hidden: bool,
    /// Always false.
    pub starred: bool,
}

/// Options of a run in a list.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct AgentListOptions {
    /// The URLs of the run, with those that it inherited.
    pub urls: Option<Vec<String>>,
    /// The task.
    pub prompt: String,
    /// The schema of the run, or the one that it inherited.
    pub schema: Option<Map<String, Value>>,
    /// The `model` of the request; `spark-1-pro`, which official clients know, if it had none.
    pub model: String,
    /// The `effort` of the request.
    pub effort: Option<AgentEffort>,
}
