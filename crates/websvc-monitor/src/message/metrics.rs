//! Metrics of messages.

use websvc_stage::CountersBy;
use websvc_store::MessageKind;

/// Numbers of messages by kind and outcome, since the start of the process.
pub type MessageMetrics = CountersBy<(MessageKind, CountedOutcome)>;

/// The end of an attempt, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedOutcome {
    /// The message was sent.
    Sent,
    /// The attempt failed and is repeated.
    Retried,
    /// The message failed for good.
    Failed,
    /// The message was no longer wanted.
    Dropped,
}

impl CountedOutcome {
    const ALL: [Self; 4] = [Self::Sent, Self::Retried, Self::Failed, Self::Dropped];

    /// Returns the value of the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Retried => "retried",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

/// Returns counters of 0. There are none for [`MessageKind::Check`]: it becomes messages, which are counted.
pub(crate) fn message_metrics() -> MessageMetrics {
    let kinds = [MessageKind::Email, MessageKind::Confirmation, MessageKind::Channel];
    CountersBy::new(kinds.into_iter().flat_map(|kind| CountedOutcome::ALL.map(|outcome| (kind, outcome))))
}
