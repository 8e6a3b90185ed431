//! Counters of webhook events since the start of the process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts of webhook events since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookMetrics {
    /// Delivered events.
    pub delivered: u64,
    /// Failed attempts.
    pub failed: u64,
    /// Events that became dead letters, including those without an attempt.
    pub dead_letters: u64,
}

/// The atomic counters behind [`WebhookMetrics`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    delivered: AtomicU64,
    failed: AtomicU64,
    dead_letters: AtomicU64,
}

impl Counters {
    pub(crate) fn record_delivered(&self) {
        self.delivered.fetch_add(1, Relaxed);
    }

    pub(crate) fn record_failed(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    pub(crate) fn record_dead_letters(&self, events: u64) {
        self.dead_letters.fetch_add(events, Relaxed);
    }

    pub(crate) fn metrics(&self) -> WebhookMetrics {
        let Self { delivered, failed, dead_letters } = self;
        WebhookMetrics {
            delivered: delivered.load(Relaxed),
            failed: failed.load(Relaxed),
            dead_letters: dead_letters.load(Relaxed),
        }
    }
}
