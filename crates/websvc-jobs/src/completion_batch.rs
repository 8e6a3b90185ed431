//! Group commit of page completions: those that arrive while a transaction runs share the next one.

use std::sync::mpsc::{SyncSender, sync_channel};

use parking_lot::Mutex;
use websvc_store::{CompletionOutcome, CompressedCompletion, Store, StoreError};

use crate::config::JobsConfig;
use crate::jobs::{JobsError, now_ms};

/// The completions that are queued to be written; at most one per page in flight.
#[derive(Debug, Default)]
pub(crate) struct CompletionBatcher {
    queue: Mutex<Vec<PendingCompletion>>,
    /// Held by the thread that writes.
    writer: Mutex<()>,
}

#[derive(Debug)]
struct PendingCompletion {
    completion: CompressedCompletion,
    reply: SyncSender<Result<CompletionOutcome, StoreError>>,
}

impl CompletionBatcher {
    /// Writes the completion of a page, together with all others that are queued. Blocks.
    ///
    /// # Errors
    /// Failures of the store.
    pub(crate) fn write(
        &self,
        store: &Store,
        config: &JobsConfig,
        completion: CompressedCompletion,
    ) -> Result<CompletionOutcome, JobsError> {
        let (reply, outcome) = sync_channel(1);
        self.queue.lock().push(PendingCompletion { completion, reply });
        let writer = self.writer.lock();
        let batch = std::mem::take(&mut *self.queue.lock());
        if !batch.is_empty() {
            let (completions, replies): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|PendingCompletion { completion, reply }| (completion, reply)).unzip();
            let outcomes = store.complete_job_urls(completions, &config.limits, now_ms());
            for (reply, outcome) in replies.into_iter().zip(outcomes) {
                // The channel has capacity for its one reply, which the sender of the completion reads below.
                let _ = reply.send(outcome);
            }
        }
        drop(writer);
        // This batch contained the completion, or an earlier one of another thread did.
        match outcome.try_recv() {
            Ok(outcome) => Ok(outcome?),
            Err(_writer_panicked) => Err(JobsError::Stopping),
        }
    }
}
