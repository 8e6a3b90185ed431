//! Monitors: recurring checks of pages, and the last good state of each page, with which the next check compares.
//!
//! The store knows nothing of schedules, targets or differences: definitions, progress and documents are JSON. It
//! ensures that of several replicas exactly one starts a check that is due, that a monitor has one unfinished check at
//! a time, and that a check records each page once. One transaction records a page: its row, its baseline, its event
//! and its charge. A check belongs to one replica at a time, as a job does.
//!
//! Messages to people are rows, too. The end of a check enqueues one in its own transaction, which becomes a message for
//! each recipient. A message belongs to the replica that sends it.

mod baseline;
mod check;
mod claim;
mod create;
mod due;
mod finish;
mod message;
mod message_outcome;
mod message_types;
mod page;
mod page_read;
mod read;
mod recipient;
mod row;
mod start;
mod sweep;
mod types;

pub use message_types::{
    ConfirmationLimits, ConfirmationPermit, LinkAction, MessageKind, MessageOutcome, MessageRecord,
    NewRecipient, RecipientRecord, RecipientSource, RecipientStatus,
};
pub use types::{
    Baseline, BaselineChange, BillingStatus, CheckDeliveries, CheckPageRecord, CheckPageStatus, CheckPages,
    CheckRecord, CheckStatus, CheckSummary, CheckTrigger, CreateMonitorOutcome, FinishedCheck, MonitorLimits,
    MonitorMetrics, MonitorRecord, MonitorStatus, MonitorUpdate, NewCheck, NewCheckPage, NewMonitor,
    RecordPagesOutcome, StartCheckOutcome,
};
