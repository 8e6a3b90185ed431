//! Counters of deliveries since the start of the process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of webhook events since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookMetrics {
    /// Events that their receivers took.
    pub delivered: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Events that became dead letters, those that were never tried among them.
    pub dead: u64,
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    delivered: AtomicU64,
    failed: AtomicU64,
    dead: AtomicU64,
}

impl Counters {
    pub(crate) fn delivered(&self) {
        self.delivered.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    pub(crate) fn record_dead_letter(&self) {
        self.dead.fetch_add(1, Relaxed);
    }

    pub(crate) fn record_expired(&self, events: u64) {
        self.dead.fetch_add(events, Relaxed);
    }

    pub(crate) fn counts(&self) -> WebhookMetrics {
        let Self { delivered, failed, dead } = self;
        WebhookMetrics {
            delivered: delivered.load(Relaxed),
            failed: failed.load(Relaxed),
            dead: dead.load(Relaxed),
        }
    }
}
