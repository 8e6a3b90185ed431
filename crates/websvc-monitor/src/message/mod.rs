//! Messages to people: emails and messages to channels about checks, and the emails that ask for a confirmation.
//!
//! The store has a row for each message, which the end of a check creates in its own transaction. A process that is killed
//! therefore sends what is left when it starts again. Nothing of this delays the scheduler or a check: the sender is a task
//! of its own, and has its own limits.

mod attempt;
mod compose;
mod expand;
mod metrics;
mod sender;
mod test;

pub(crate) use metrics::message_metrics;
pub use metrics::{CountedOutcome, MessageMetrics};
pub(crate) use sender::Messages;
