//! Threads: agent runs that continue each other.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::request::{AgentEffort, AgentMode};

/// Response of `GET /v2/agent/threads/{id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AgentThreadResponse {
    /// Always true.
    pub success: bool,
    /// The thread.
    pub thread: AgentThread,
}

/// Runs that continue each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentThread {
    /// ID of the thread.
    pub id: String,
    /// Time of the oldest run that is still stored, ISO 8601.
    pub created_at: String,
    /// Time of the last start or end of a run, ISO 8601.
    pub updated_at: String,
    /// Status of the thread.
    pub status: AgentThreadStatus,
    /// Its runs, the oldest first. Runs whose results have expired are left out.
    pub runs: Vec<AgentThreadRun>,
}

/// Status of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentThreadStatus {
    /// All its runs have ended.
    Idle,
    /// A run waits or works.
    Running,
}

/// Run of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentThreadRun {
    /// ID of the run.
    pub id: String,
    /// Position in the thread, from 1.
    pub turn: u64,
    /// Form of the answer.
    pub mode: AgentMode,
    /// The task.
    pub prompt: String,
    /// The URLs of the run, with those that it inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Vec<String>"))]
    pub urls: Option<Vec<String>>,
    /// The schema of the run, or the one that it inherited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Map<String, Value>"))]
    pub schema: Option<Map<String, Value>>,
    /// The `effort` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "AgentEffort"))]
    pub effort: Option<AgentEffort>,
    /// Status of the run.
    pub status: AgentThreadRunStatus,
    /// Time of the start request, ISO 8601.
    pub created_at: String,
    /// Time of its end, ISO 8601.
    pub finished_at: Option<String>,
    /// Credits that the run was charged.
    pub credits_used: Option<u64>,
    /// Notes of the run for people.
    pub message: Option<String>,
    /// The collected data. Only with `includeData`, and only of a run that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Value"))]
    pub data: Option<Value>,
}

/// Status of a run in its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentThreadRunStatus {
    /// The run waits or works.
    Processing,
    /// The run has its data.
    Succeeded,
    /// The run failed.
    Failed,
    /// A request cancelled the run.
    Cancelled,
    /// The model refused the task.
    Refused,
    /// The run needed more credits than it was allowed.
    CreditLimitReached,
}
