//! Types of runs.

use std::fmt;
use std::time::Duration;

use crate::api_version::ApiVersion;
use crate::key::KeyId;
use crate::ledger::{CreditHold, Usage};
use crate::sql::names;
use crate::webhook::{JobEvent, NewWebhook, WebhookSource};

/// Limits of the runs of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Maximum of runs of a team that wait or work.
    pub max_open: u64,
    /// Maximum of stored runs of a team.
    pub max_stored: u64,
    /// Maximum of events of a run, without those of its end.
    pub max_events: u64,
    /// Maximum of bytes of a run, without its end.
    pub max_run_bytes: u64,
    /// Maximum of bytes of the runs of all teams. When it is exceeded, the sweep deletes the oldest finished runs.
    pub max_bytes: u64,
    /// Time for which a finished run is stored.
    pub retention: Duration,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            max_open: 100,
            max_stored: 10_000,
            max_events: 1_000,
            max_run_bytes: 16 * 1024 * 1024,
            max_bytes: 4 * 1024 * 1024 * 1024,
            retention: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// An agent run.
    Agent,
    /// An extraction.
    Extract,
}

names!(RunKind: Agent = "agent", Extract = "extract");

impl RunKind {
    pub(super) fn webhook_source(self) -> WebhookSource {
        match self {
            Self::Agent => WebhookSource::Agent,
            Self::Extract => WebhookSource::Extract,
        }
    }
}

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// It waits to begin.
    Queued,
    /// It works.
    Running,
    /// It has its result.
    Succeeded,
    /// It failed.
    Failed,
    /// A request cancelled it.
    Cancelled,
    /// The model refused the task.
    Refused,
    /// It needed more credits than it was allowed.
    CreditLimitReached,
}

names!(RunStatus:
    Queued = "queued",
    Running = "running",
    Succeeded = "succeeded",
    Failed = "failed",
    Cancelled = "cancelled",
    Refused = "refused",
    CreditLimitReached = "credit_limit_reached",
);

impl RunStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Queued,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
        Self::Refused,
        Self::CreditLimitReached,
    ];

    /// Returns whether the run has ended.
    #[must_use]
    pub fn is_finished(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Refused | Self::CreditLimitReached => {
                true
            }
        }
    }
}

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Kind of the run.
    pub kind: RunKind,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// Thread that it continues; `None` begins a thread with `new_thread`.
    pub thread: Option<String>,
    /// Identifier of a new thread.
    pub new_thread: String,
    /// The request, as JSON.
    pub request: String,
    /// Maximum of credits.
    pub max_credits: u64,
    /// The receiver of its events.
    pub webhook: Option<NewWebhook>,
}

/// Outcome of creating a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CreateRunOutcome {
    /// The run is queued.
    Created(Box<RunRecord>),
    /// The team has [`RunLimits::max_open`] runs that wait or work.
    TooManyOpen,
    /// The team has [`RunLimits::max_stored`] runs.
    TooManyStored,
    /// The team has no such thread.
    ThreadNotFound,
    /// A run of the thread has not ended.
    ThreadRunning,
}

/// A stored run, without its result and its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Number in the store.
    pub number: i64,
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Kind of the run.
    pub kind: RunKind,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// Thread of the run.
    pub thread: String,
    /// Position in the thread, from 1.
    pub turn: u64,
    /// Status of the run.
    pub status: RunStatus,
    /// The request, as JSON.
    pub request: String,
    /// Maximum of credits.
    pub max_credits: u64,
    /// Credits that the run was charged.
    pub credits: u64,
    /// The reason of a failure.
    pub error: Option<String>,
    /// The text of the model about its end.
    pub message: Option<String>,
    /// Number of stored events.
    pub events: u64,
    /// Creation, in milliseconds since the Unix epoch. The runs of a team have different times.
    pub created_at_ms: u64,
    /// Begin of the work, in milliseconds since the Unix epoch.
    pub started_at_ms: Option<u64>,
    /// Request to cancel it, in milliseconds since the Unix epoch.
    pub cancel_requested_at_ms: Option<u64>,
    /// End, in milliseconds since the Unix epoch.
    pub finished_at_ms: Option<u64>,
    /// Time of its deletion, in milliseconds since the Unix epoch.
    pub expires_at_ms: Option<u64>,
}

/// Runs of a team, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunList {
    /// The runs.
    pub runs: Vec<RunRecord>,
    /// True if there are older runs.
    pub has_more: bool,
}

/// The content of the runs of a thread that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadContent {
    /// Their requests.
    Requests,
    /// Their requests, and the results that it reads with [`Store::run_result`](crate::Store::run_result).
    RequestsAndResults,
}

/// An unfinished run, as far as its owner needs it to decide what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRun {
    /// Number in the store.
    pub number: i64,
    /// Identifier on the wire.
    pub id: String,
    /// Team that owns it.
    pub team: String,
    /// Status of the run.
    pub status: RunStatus,
    /// Request to cancel it, in milliseconds since the Unix epoch.
    pub cancel_requested_at_ms: Option<u64>,
}

/// An event of a run, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRunEvent {
    /// The event.
    pub content: String,
    /// Content of data that the event refers to.
    pub snapshot: Option<NewRunSnapshot>,
}

/// Content of data that an event refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRunSnapshot {
    /// Identifier, unique in the run.
    pub id: String,
    /// The content, as JSON.
    pub content: String,
}

/// An event for the webhook of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWebhookEvent {
    /// Kind of the event.
    pub event: JobEvent,
    /// The content of `data`: items as JSON, separated by commas.
    pub data: String,
}

/// Outcome of adding events to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddRunEventsOutcome {
    /// They are stored, up to the limits of the run.
    Added {
        /// True if a request asked to cancel the run.
        is_cancelled: bool,
    },
    /// The run has ended or was deleted, or another replica owns it.
    NotRunning,
}

/// The end of a run.
#[derive(Debug)]
pub struct FinishedRun {
    /// The status.
    pub status: RunStatus,
    /// The reason of a failure.
    pub error: Option<String>,
    /// The text of the model about the end.
    pub message: Option<String>,
    /// The result, as JSON.
    pub result: Option<String>,
    /// The credits to charge, from a hold.
    pub charge: Option<(CreditHold, Usage)>,
    /// The last events. They are stored beyond the limits of the run.
    pub events: Vec<NewRunEvent>,
    /// The event for the webhook.
    pub webhook: Option<RunEndEvent>,
}

/// The event for the webhook about the end of a run. It states the charged credits, which are known when the run ends.
pub struct RunEndEvent {
    /// Kind of the event.
    pub event: JobEvent,
    /// Returns the content of `data` for the charged credits: items as JSON, separated by commas.
    pub data: Box<dyn Fn(u64) -> String + Send + Sync>,
}

impl fmt::Debug for RunEndEvent {
    /// Omits the data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunEndEvent").field("event", &self.event).finish_non_exhaustive()
    }
}

/// The result of a run, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult(pub Vec<u8>);

/// Outcome of a request to cancel a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelRunOutcome {
    /// The run ends within seconds.
    Requested,
    /// A request asked for it before.
    AlreadyRequested,
    /// The run has ended.
    AlreadyEnded,
    /// The team has no such run.
    NotFound,
}

/// Numbers of runs of all teams.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunMetrics {
    /// Runs that wait.
    pub queued: u64,
    /// Runs that work.
    pub running: u64,
    /// Stored runs.
    pub stored: u64,
}
