//! Webhooks: delivery of job events.
//!
//! Pending deliveries are in the store, so the process may end at any time. An event that was sent but not
//! recorded as delivered is sent again, with the same identifier.

mod body;
mod metrics;
mod scheduler;
mod send;
mod sweep;

pub use metrics::WebhookMetrics;
pub(crate) use scheduler::deliver;

use std::time::Duration;

use websvc_notify::webhook::BackoffSchedule;

/// Configuration of the delivery of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookConfig {
    /// Maximum of attempts to deliver an event. After the last one, the event is a dead letter.
    pub max_attempts: u32,
    /// The backoff between attempts.
    pub backoff: BackoffSchedule,
    /// Time limit for the response of a receiver.
    pub timeout: Duration,
    /// Maximum of concurrent deliveries. One team has at most half of them.
    pub concurrency: usize,
    /// Maximum of concurrent deliveries to one host.
    pub max_per_host: usize,
    /// Maximum of bytes of the documents in concurrent deliveries. A larger document is sent alone.
    pub max_document_bytes: u64,
    /// How long an event may be pending before it is a dead letter, and how long a dead letter is stored. Its job is
    /// stored as long.
    pub retention: Duration,
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            max_attempts: 8,
            backoff: BackoffSchedule {
                initial: Duration::from_secs(5),
                factor: 4,
                max: Duration::from_secs(4 * 3_600),
            },
            timeout: Duration::from_secs(10),
            concurrency: 16,
            max_per_host: 2,
            max_document_bytes: 64 * 1024 * 1024,
            retention: Duration::from_secs(72 * 3_600),
        }
    }
}
