//! Metrics of webhook events.

use websvc_stage::Counter;

/// Counters of webhook events since the start of the process.
#[derive(Debug, Default)]
pub struct WebhookMetrics {
    /// Delivered events.
    pub delivered: Counter,
    /// Failed attempts.
    pub failed: Counter,
    /// Events that became dead letters, including those without an attempt.
    pub dead_letters: Counter,
}
