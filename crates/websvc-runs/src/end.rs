//! The end of a run: its status, result, last events and charge.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use websvc_agent::{Event, Stop, ValueSource};
use websvc_engine::Bill;
use websvc_store::{
    CreditHold, FinishedRun, JobEvent, RunEndEvent, RunKind, RunRecord, RunStatus, Usage, UsageRetention,
};
use websvc_tasks::TaskError;
use websvc_types::agent::{
    AgentCompletedEvent, AgentEndEvent, AgentError, AgentErrorCode, AgentErrorSource, AgentEvent,
    AgentEventDetail, AgentOutcome, CancelReason, RunOutcome,
};

use crate::runs::Runs;
use crate::stored::StoredResult;
use crate::trace::{DATA, Trace, open_sessions};

/// The stop reason of a run whose process ended.
const INTERRUPTED: &str = "interrupted";

/// The error of a run whose process ended.
const INTERRUPTED_ERROR: &str = "the service was restarted during the run; start it again";

/// The outcome of the work of a run.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) status: RunStatus,
    /// The reason for programs.
    pub(crate) stop_reason: &'static str,
    /// The reason for people; `None` if it succeeded.
    pub(crate) error: Option<String>,
    /// The part of the service that caused an error.
    pub(crate) source: AgentErrorSource,
    /// The data: complete if the run succeeded.
    pub(crate) data: Option<Value>,
    /// True if the data follows the schema; `None` if that is not known.
    pub(crate) is_schema_valid: Option<bool>,
    pub(crate) message: Option<String>,
    pub(crate) sources: Vec<ValueSource>,
    pub(crate) steps: u32,
    pub(crate) tokens: u64,
}

/// The charge of a run that succeeded.
#[derive(Debug)]
pub(crate) struct RunCharge {
    pub(crate) hold: CreditHold,
    pub(crate) bill: Bill,
    pub(crate) elapsed: Duration,
    /// The target of the run for the usage log.
    pub(crate) target: String,
}

impl Ending {
    /// Returns the end of a run that has no data.
    pub(crate) fn failed(stop_reason: &'static str, error: impl Into<String>) -> Self {
        Self {
            status: RunStatus::Failed,
            stop_reason,
            error: Some(error.into()),
            source: AgentErrorSource::System,
            data: None,
            is_schema_valid: None,
            message: None,
            sources: Vec::new(),
            steps: 0,
            tokens: 0,
        }
    }

    /// Returns the end of a run that a request cancelled.
    pub(crate) fn cancelled() -> Self {
        Self {
            status: RunStatus::Cancelled,
            ..Self::failed("cancelled", "the run was cancelled by a request")
        }
    }

    /// Returns the end of a run whose work must stop.
    pub(crate) fn stopped(stop: Stop) -> Self {
        let out_of_credits = |error: String| Self {
            status: RunStatus::CreditLimitReached,
            source: AgentErrorSource::Billing,
            ..Self::failed("credit_limit_reached", error)
        };
        match stop {
            Stop::Cancelled => Self::cancelled(),
            Stop::CreditLimit => out_of_credits(
                "the next step may exceed the credits of the run; set maxCredits to a larger number"
                    .to_owned(),
            ),
            Stop::TeamCredits { missing, remaining } => out_of_credits(format!(
                "the credits of the team ran out: the next work needs {missing} more, and the team has {remaining} \
                 left; ask the operator for more, or wait until other requests of the team have ended, and start it \
                 again"
            )),
            Stop::Failed => Self::failed("failed", "the credits of the team could not be read"),
        }
    }
}

/// Ends a run. Nothing changes if it had ended or was deleted, or another replica owns it.
pub(crate) async fn end(
    runs: &Runs,
    record: &RunRecord,
    trace: &Trace,
    ending: Ending,
    charge: Option<RunCharge>,
) -> Result<(), TaskError> {
    let elapsed = charge.as_ref().map_or(Duration::ZERO, |charge| charge.elapsed);
    let (status, steps, tokens) = (ending.status, ending.steps, ending.tokens);
    // An extraction has no trace.
    if record.kind == RunKind::Agent {
        add_last_events(trace, &ending, elapsed, record.cancel_requested_at_ms.is_some());
    }
    let is_success = status == RunStatus::Succeeded;
    let charge = charge.map(|charge| settlement(record, charge, status));
    let webhook = webhook_event(record.kind, &ending);
    let Ending { stop_reason, error, data, is_schema_valid, message, .. } = ending;
    let partial = data.clone().filter(|_| !is_success);
    let result = StoredResult {
        stop_reason: stop_reason.to_owned(),
        data: data.filter(|_| is_success),
        partial_schema_valid: partial.as_ref().and(is_schema_valid),
        partial,
    };
    let finished = FinishedRun {
        status,
        error,
        message,
        result: Some(result.encode()),
        charge,
        events: trace.take().events,
        webhook: Some(webhook),
    };
    let charged = finish(runs, record.number, finished, Counts { steps, tokens }).await?;
    // Neither the task nor what the model wrote is logged.
    tracing::info!(
        id = record.id,
        status = status.as_str(),
        stop_reason,
        steps,
        tokens,
        credits = charged.unwrap_or_default(),
        "run ended"
    );
    Ok(())
}

/// The numbers of the work of a run, for the metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) steps: u32,
    pub(crate) tokens: u64,
}

/// Stores the end of a run with its charge. Returns the charged credits; `None` if it had ended or was deleted, or another
/// replica owns it.
pub(crate) async fn finish(
    runs: &Runs,
    run: i64,
    finished: FinishedRun,
    counts: Counts,
) -> Result<Option<u64>, TaskError> {
    let status = finished.status;
    let charged = runs
        .with_store(move |store, config| {
            if let Some((hold, usage)) = &finished.charge
                && !hold.covers(usage.price())
                && let Err(error) = hold.extend(usage.price())
            {
                // The run is charged up to the credits that are held.
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "credit lease could not be extended"
                );
            }
            store.finish_run(run, finished, &config.limits, store.now_ms())
        })
        .await?;
    if charged.is_some() {
        runs.inner.counts.record_end(status, counts.steps, counts.tokens);
        runs.inner.jobs.notify_webhooks();
    }
    Ok(charged)
}

/// Ends a run that this process does not work on, although it had begun: its process was restarted.
pub(crate) async fn end_interrupted(runs: &Runs, record: &RunRecord) -> Result<(), TaskError> {
    let trace = Trace::new(&record.id, record.events, runs.inner.store.clock());
    let ending = if record.cancel_requested_at_ms.is_some() {
        Ending::cancelled()
    } else {
        Ending::failed(INTERRUPTED, INTERRUPTED_ERROR)
    };
    let events = runs.events(record.number).await?;
    add_session_ends(runs, &events, &trace).await?;
    let data = last_data(runs, record.number, events).await?;
    trace.set_data(data.clone());
    end(runs, record, &trace, Ending { data, ..ending }, None).await
}

/// Adds the ends of the browser sessions that a run had open when the work on it was lost. They have ended with it.
pub(crate) async fn add_session_ends(
    runs: &Runs,
    events: &[AgentEvent],
    trace: &Trace,
) -> Result<(), TaskError> {
    for id in open_sessions(events) {
        let owned = id.to_owned();
        let row = runs.with_store(move |store, _| store.browser_session(&owned)).await?;
        let duration_ms = row.map_or(0, |row| {
            row.destroyed_at_ms.unwrap_or(row.active_at_ms).saturating_sub(row.created_at_ms)
        });
        let duration = Duration::from_millis(duration_ms);
        trace.record(Event::SessionFinished { id: id.to_owned(), duration });
    }
    Ok(())
}

/// Returns the data of the last snapshot of a run.
async fn last_data(runs: &Runs, run: i64, events: Vec<AgentEvent>) -> Result<Option<Value>, TaskError> {
    let snapshot = events.into_iter().rev().find_map(|event| match event.detail {
        AgentEventDetail::ArtifactUpdated { artifact } if artifact.artifact_id == DATA => {
            Some(artifact.snapshot_id)
        }
        _other => None,
    });
    let Some(snapshot) = snapshot else { return Ok(None) };
    let content = runs.snapshot(run, &snapshot).await?;
    Ok(content.and_then(|content| serde_json::from_str(&content).ok()))
}

/// Adds the events of the end.
fn add_last_events(trace: &Trace, ending: &Ending, elapsed: Duration, is_cancelled: bool) {
    if is_cancelled || ending.status == RunStatus::Cancelled {
        trace.add(AgentEventDetail::RunCancelRequested { reason: CancelReason::User });
    }
    if let Some(data) = ending.data.as_ref().filter(|data| trace.data().as_ref() != Some(*data)) {
        trace.add_data(data);
    }
    if !ending.sources.is_empty() {
        trace.add_sources(&ending.sources);
    }
    let error = ending.error.as_ref().map(|message| AgentError {
        code: error_code(ending.status),
        source: ending.source,
        retryable: ending.stop_reason == INTERRUPTED,
        message: message.clone(),
    });
    if let Some(error) = &error {
        trace.add(AgentEventDetail::ErrorOccurred { error: error.clone() });
    }
    let (outcome, agent_outcome) = outcomes(ending.status);
    trace.add(AgentEventDetail::AgentFinished {
        outcome: agent_outcome,
        duration_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        error: error.clone(),
    });
    trace.add(AgentEventDetail::RunFinished { outcome, error });
}

fn error_code(status: RunStatus) -> AgentErrorCode {
    match status {
        RunStatus::Cancelled => AgentErrorCode::Cancelled,
        RunStatus::Refused => AgentErrorCode::Refused,
        RunStatus::CreditLimitReached => AgentErrorCode::CreditLimitReached,
        RunStatus::Queued | RunStatus::Running | RunStatus::Succeeded | RunStatus::Failed => {
            AgentErrorCode::Internal
        }
    }
}

fn outcomes(status: RunStatus) -> (RunOutcome, AgentOutcome) {
    match status {
        RunStatus::Succeeded => (RunOutcome::Succeeded, AgentOutcome::Succeeded),
        RunStatus::Cancelled => (RunOutcome::Cancelled, AgentOutcome::Cancelled),
        RunStatus::Refused => (RunOutcome::Refused, AgentOutcome::Refused),
        RunStatus::CreditLimitReached => (RunOutcome::CreditLimitReached, AgentOutcome::Failed),
        RunStatus::Queued | RunStatus::Running | RunStatus::Failed => {
            (RunOutcome::Failed, AgentOutcome::Failed)
        }
    }
}

/// Returns the event for the webhook about the end.
fn webhook_event(kind: RunKind, ending: &Ending) -> RunEndEvent {
    let event = match (ending.status, kind) {
        (RunStatus::Succeeded, _) => JobEvent::RunCompleted,
        (RunStatus::Cancelled, RunKind::Agent) => JobEvent::RunCancelled,
        (RunStatus::Cancelled, RunKind::Extract)
        | (
            RunStatus::Queued
            | RunStatus::Running
            | RunStatus::Failed
            | RunStatus::Refused
            | RunStatus::CreditLimitReached,
            _,
        ) => JobEvent::RunFailed,
    };
    let completed = (event == JobEvent::RunCompleted).then(|| ending.data.clone().unwrap_or_default());
    let data = move |credits_used| match &completed {
        Some(data) => event_json(&AgentCompletedEvent { credits_used, data: data.clone() }),
        None if kind == RunKind::Extract => String::new(),
        None => event_json(&AgentEndEvent { credits_used }),
    };
    RunEndEvent { event, data: Box::new(data) }
}

/// Returns the data of an event.
pub(crate) fn event_json(data: &impl Serialize) -> String {
    serde_json::to_string(data).expect("the data of an event is JSON")
}

/// Returns what the end of a run charges: only a run that succeeded costs anything.
pub(crate) fn settlement(record: &RunRecord, charge: RunCharge, status: RunStatus) -> (CreditHold, Usage) {
    let RunCharge { hold, bill, elapsed, target } = charge;
    let (items, http_status) = match status {
        RunStatus::Succeeded => (bill.items(), 200),
        RunStatus::Cancelled => (Vec::new(), 200),
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Failed
        | RunStatus::Refused
        | RunStatus::CreditLimitReached => (Vec::new(), 500),
    };
    let usage = Usage {
        key: record.key.clone(),
        request: record.id.clone(),
        result: None,
        operation: record.kind.as_str(),
        api_version: record.api_version,
        status: http_status,
        elapsed,
        items,
        stages: Vec::new(),
        query: Some(target),
        retention: UsageRetention::Whole,
    };
    (hold, usage)
}
