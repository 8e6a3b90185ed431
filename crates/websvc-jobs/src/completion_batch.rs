//! The ends of pages, written together: whoever comes while others are written waits, and then writes for all who wait.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use websvc_store::{CompletionOutcome, CompressedCompletion, Store, StoreError};

use crate::config::JobsConfig;
use crate::jobs::{JobsError, now_ms};

/// The ends that wait to be written; no more than there are pages under way.
#[derive(Debug, Default)]
pub(crate) struct CompletionBatcher {
    waiting: Mutex<Vec<PendingCompletion>>,
    writing: Mutex<()>,
}

#[derive(Debug)]
struct PendingCompletion {
    finish: CompressedCompletion,
    told: SyncSender<Result<CompletionOutcome, StoreError>>,
}

impl CompletionBatcher {
    /// Writes the end of a page, with those of others that wait. Blocks.
    ///
    /// # Errors
    /// Failures of the store.
    pub(crate) fn write(
        &self,
        store: &Store,
        config: &JobsConfig,
        finish: CompressedCompletion,
    ) -> Result<CompletionOutcome, JobsError> {
        let (told, tells) = sync_channel(1);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(PendingCompletion { finish, told });
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if !waiting.is_empty() {
            let (finishes, told): (Vec<_>, Vec<_>) =
                waiting.into_iter().map(|PendingCompletion { finish, told }| (finish, told)).unzip();
            let ended = store.finish_job_urls(finishes, &config.limits, now_ms());
            for (told, ended) in told.into_iter().zip(ended) {
                // Each has room for its one answer, and who asked waits for it below.
                let _ = told.send(ended);
            }
        }
        drop(writing);
        // It was among them, or among those that were written before.
        match tells.try_recv() {
            Ok(ended) => Ok(ended?),
            Err(_who_wrote_panicked) => Err(JobsError::Stopping),
        }
    }
}
