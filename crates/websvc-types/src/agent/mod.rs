//! Agent runs: a language model collects data from the web in steps (operations.md, sections 0 and 4).

mod request;
mod response;
mod thread;
mod trace;
mod webhook;

pub use request::{AgentEffort, AgentMode, AgentRequest};
pub use response::{
    AgentList, AgentListItem, AgentListOptions, AgentListSettings, AgentStarted, AgentStatus,
    AgentStatusResponse, CancelAgentResponse,
};
pub use thread::{AgentThread, AgentThreadResponse, AgentThreadRun, AgentThreadRunStatus, AgentThreadStatus};
pub use trace::{
    AgentArtifact, AgentArtifactChange, AgentArtifactKind, AgentBrowserSession, AgentError, AgentErrorCode,
    AgentErrorSource, AgentEvent, AgentEventDetail, AgentIdentity, AgentOutcome, AgentPhase, AgentRole,
    AgentSnapshotResponse, AgentTraceResponse, CancelReason, RunOutcome,
};
pub use webhook::{
    AgentActionEvent, AgentCompletedEvent, AgentEndEvent, AgentWebhook, AgentWebhookEvent,
    AgentWebhookOptions, ExtractWebhook, ExtractWebhookEvent, ExtractWebhookOptions, RunEventKind,
};
