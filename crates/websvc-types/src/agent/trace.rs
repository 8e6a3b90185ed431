//! Trace of an agent run: its events, and the snapshots of its data.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with_macros::skip_serializing_none;

use crate::Viewport;
#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

/// Response of `GET /v2/agent/{id}/trace`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct AgentTraceResponse {
    /// Always true.
    pub success: bool,
    /// ID of the run.
    pub id: String,
    /// The events so far, in their order.
    pub events: Vec<AgentEvent>,
    /// Credits that the run was charged. Absent while it works.
    pub credits_used: Option<u64>,
    /// The browser sessions that the run has open. Only with `liveView=true`, and for keys that may use browser sessions.
    pub active_browser_sessions: Option<Vec<AgentBrowserSession>>,
}

/// Browser session that a run has open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentBrowserSession {
    /// ID of the session.
    pub id: String,
    /// URL of a page that shows the session. It contains a token and needs no key.
    pub live_view_url: String,
    /// Size of the window of the session.
    pub viewport: Viewport,
}

/// Response of `GET /v2/agent/{id}/snapshots/{snapshotId}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentSnapshotResponse {
    /// Always true.
    pub success: bool,
    /// ID of the run.
    pub id: String,
    /// ID of the snapshot.
    pub snapshot_id: String,
    /// The content: JSON text.
    pub snapshot: String,
}

/// Event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentEvent {
    /// Always 1.
    pub schema_version: u32,
    /// ID of the event.
    pub event_id: String,
    /// ID of the run.
    pub run_id: String,
    /// Time, ISO 8601.
    pub occurred_at: String,
    /// Position among the events of its agent, from 1.
    pub producer_sequence: u64,
    /// Agent that reports the event.
    pub agent: AgentIdentity,
    /// Type of the event, and its fields.
    #[serde(flatten)]
    pub detail: AgentEventDetail,
}

/// Agent of a run.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentIdentity {
    /// ID of the agent, unique in the run.
    pub id: String,
    /// Role of the agent.
    pub role: AgentRole,
    /// Name of the agent.
    pub name: String,
    /// ID of the agent that started it.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub parent_id: Option<String>,
}

/// Role of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    /// Works on the task of the run.
    Orchestrator,
    /// Works on a part of the task.
    Subagent,
    /// Uses a page in a browser.
    Browser,
    /// Is the service.
    System,
}

/// Types of events of a run, with their fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(tag = "type", rename_all_fields = "camelCase")]
pub enum AgentEventDetail {
    /// The run has started to work.
    #[serde(rename = "run.started")]
    RunStarted {},
    /// A request asked to cancel the run.
    #[serde(rename = "run.cancel_requested")]
    RunCancelRequested {
        /// Source of the request.
        reason: CancelReason,
    },
    /// The run has ended. This is its last event.
    #[serde(rename = "run.finished")]
    RunFinished {
        /// Outcome of the run.
        outcome: RunOutcome,
        /// Error; null if the run succeeded.
        error: Option<AgentError>,
    },
    /// The agent has started.
    #[serde(rename = "agent.started")]
    AgentStarted {},
    /// The agent has ended.
    #[serde(rename = "agent.finished")]
    AgentFinished {
        /// Outcome of the agent.
        outcome: AgentOutcome,
        /// Duration of its work, in milliseconds.
        duration_ms: u64,
        /// Error; null if the agent succeeded.
        error: Option<AgentError>,
    },
    /// A browser session has started.
    #[serde(rename = "browser.session.started")]
    BrowserSessionStarted {
        /// ID of the session.
        session_id: String,
    },
    /// A browser session has ended.
    #[serde(rename = "browser.session.finished")]
    BrowserSessionFinished {
        /// ID of the session.
        session_id: String,
        /// Duration of the session, in milliseconds.
        duration_ms: u64,
    },
    /// A report of the work.
    #[serde(rename = "progress.reported")]
    ProgressReported {
        /// Phase of the run.
        phase: AgentPhase,
        /// Text for people.
        message: String,
    },
    /// Reason of the next call, by the model.
    #[serde(rename = "reasoning.summary")]
    ReasoningSummary {
        /// The reason.
        text: String,
    },
    /// A call of a tool has begun.
    #[serde(rename = "tool_call.started")]
    ToolCallStarted {
        /// ID of the call.
        tool_call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// Its parameters.
        parameters: Value,
    },
    /// A call of a tool has ended.
    #[serde(rename = "tool_call.finished")]
    ToolCallFinished {
        /// ID of the call.
        tool_call_id: String,
        /// Name of the tool.
        tool_name: String,
        /// `success`, and a `summary` of the output or the reason of the failure.
        result: Value,
    },
    /// The collected data, or its sources, have changed.
    #[serde(rename = "artifact.updated")]
    ArtifactUpdated {
        /// The change.
        artifact: AgentArtifact,
    },
    /// An error.
    #[serde(rename = "error.occurred")]
    ErrorOccurred {
        /// The error.
        error: AgentError,
    },
}

/// Source of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CancelReason {
    /// A request of the team.
    User,
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
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

/// Outcome of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentOutcome {
    /// The agent has its data.
    Succeeded,
    /// The agent failed.
    Failed,
    /// A request cancelled the run.
    Cancelled,
    /// The model refused the task.
    Refused,
}

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentPhase {
    /// It begins.
    Planning,
    /// It searches and reads.
    Working,
    /// It writes its data.
    Finalizing,
}

/// Error in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct AgentError {
    /// Kind of the error.
    pub code: AgentErrorCode,
    /// Part of the service that reports it.
    pub source: AgentErrorSource,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// Text for people.
    pub message: String,
}

/// Kinds of errors in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AgentErrorCode {
    /// A request cancelled the run.
    Cancelled,
    /// The run needed more credits than it was allowed.
    CreditLimitReached,
    /// The run of the agent ended.
    ParentFinished,
    /// The model refused the task.
    Refused,
    /// Any other error.
    Internal,
}

/// Parts of the service that report errors of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentErrorSource {
    /// The model and the loop.
    Agent,
    /// A tool.
    Tool,
    /// The credits.
    Billing,
    /// The service.
    System,
}

/// Change of an artifact: `GET /v2/agent/{id}/snapshots/{snapshotId}` has its content.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct AgentArtifact {
    /// Kind of the content.
    pub kind: AgentArtifactKind,
    /// ID of the artifact: `data` for the collected data, `sources` for the sources of its values.
    pub artifact_id: String,
    /// File name of the content.
    pub path: Option<String>,
    /// ID of the snapshot with the content.
    pub snapshot_id: String,
    /// Kind of the change.
    pub change: AgentArtifactChange,
    /// Names of the top-level fields that changed.
    pub changed_fields: Option<Vec<String>>,
    /// Number of sources.
    pub item_count: Option<u64>,
    /// ID of the call of a tool that the change comes from.
    pub source_tool_call_id: Option<String>,
}

/// Kinds of artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentArtifactKind {
    /// JSON text.
    Json,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// A picture.
    Screenshot,
    /// Plain text.
    Text,
}

/// Kinds of changes of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentArtifactChange {
    /// The first content.
    Init,
    /// A content that is not complete.
    Partial,
    /// More content.
    Append,
    /// Another content.
    Modify,
    /// The last content.
    Update,
}
