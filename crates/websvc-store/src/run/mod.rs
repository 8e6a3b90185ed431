//! Runs of agents and extractions: tasks that work for minutes in one process, with a trace of events.
//!
//! The store knows nothing of tasks and events: requests, events and results are JSON. It ensures that of several
//! replicas exactly one works on a run, that the runs of a thread follow each other, and that the end of a run, its
//! charge, its last events and the event of its webhook are one transaction, so that a run is charged once.
//!
//! A run belongs to the replica that accepted it. When this is gone, another one claims it: it starts the runs that had
//! not begun to work, and fails the others.

mod claim;
mod create;
mod event;
mod finish;
mod read;
mod row;
mod sweep;
mod types;

pub use types::{
    AddRunEventsOutcome, CancelRunOutcome, CreateRunOutcome, FinishedRun, NewRun, NewRunEvent,
    NewRunSnapshot, OpenRun, RunEndEvent, RunKind, RunLimits, RunList, RunMetrics, RunRecord, RunResult,
    RunStatus, RunWebhookEvent, ThreadContent,
};
