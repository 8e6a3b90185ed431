//! Webhooks: the events of jobs on their way to their receivers.
//!
//! Pending deliveries are in the store, so the process may end at any time. An event that was sent but not
//! recorded as delivered is sent again, under the same name.

mod body;
mod metrics;
mod scheduler;
mod send;
mod sweep;

pub(crate) use metrics::Counters;
pub use metrics::WebhookMetrics;
pub(crate) use scheduler::deliver;

use std::time::Duration;

use websvc_webhook::BackoffSchedule;

/// How events are delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookConfig {
    /// Tries of one event, the first among them; after the last one it is a dead letter.
    pub attempts: u32,
    /// The pauses between them.
    pub pauses: BackoffSchedule,
    /// How long a receiver may take to acknowledge.
    pub patience: Duration,
    /// Events of all teams that are sent at one time; one team has at most half of these.
    pub concurrency: usize,
    /// Events that are sent to one host at one time.
    pub per_host: usize,
    /// Bytes of the documents that are sent at one time; a larger one goes alone.
    pub bytes: u64,
    /// How long an event may wait before it is a dead letter, and how long a dead letter is kept; its job is with it.
    pub keep: Duration,
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            attempts: 8,
            pauses: BackoffSchedule {
                initial: Duration::from_secs(5),
                factor: 4,
                max: Duration::from_secs(4 * 3_600),
            },
            patience: Duration::from_secs(10),
            concurrency: 16,
            per_host: 2,
            bytes: 64 * 1024 * 1024,
            keep: Duration::from_secs(72 * 3_600),
        }
    }
}
