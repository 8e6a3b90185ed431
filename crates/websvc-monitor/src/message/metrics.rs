//! Counters of messages since the start of the process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_store::MessageKind;

/// Counts of the messages of one kind since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageCounts {
    /// Messages that were sent.
    pub sent: u64,
    /// Failed attempts that are repeated.
    pub retried: u64,
    /// Messages that failed for good.
    pub failed: u64,
    /// Messages that were no longer wanted.
    pub dropped: u64,
}

/// Counts of messages since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageMetrics {
    /// Emails about checks.
    pub emails: MessageCounts,
    /// Emails that ask for a confirmation.
    pub confirmations: MessageCounts,
    /// Slack messages.
    pub slack: MessageCounts,
}

/// The atomic counters behind [`MessageMetrics`].
#[derive(Debug, Default)]
pub(crate) struct MessageCounters {
    emails: Counters,
    confirmations: Counters,
    slack: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    sent: AtomicU64,
    retried: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

/// The end of an attempt, as it is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountedOutcome {
    Sent,
    Retried,
    Failed,
    Dropped,
}

impl MessageCounters {
    pub(super) fn record(&self, kind: MessageKind, outcome: CountedOutcome) {
        let counters = match kind {
            // It becomes messages, which are counted.
            MessageKind::Check => return,
            MessageKind::Confirmation => &self.confirmations,
            MessageKind::Email => &self.emails,
            MessageKind::Slack => &self.slack,
        };
        let counter = match outcome {
            CountedOutcome::Sent => &counters.sent,
            CountedOutcome::Retried => &counters.retried,
            CountedOutcome::Failed => &counters.failed,
            CountedOutcome::Dropped => &counters.dropped,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn metrics(&self) -> MessageMetrics {
        let Self { emails, confirmations, slack } = self;
        MessageMetrics {
            emails: emails.counts(),
            confirmations: confirmations.counts(),
            slack: slack.counts(),
        }
    }
}

impl Counters {
    fn counts(&self) -> MessageCounts {
        let Self { sent, retried, failed, dropped } = self;
        MessageCounts {
            sent: sent.load(Relaxed),
            retried: retried.load(Relaxed),
            failed: failed.load(Relaxed),
            dropped: dropped.load(Relaxed),
        }
    }
}
