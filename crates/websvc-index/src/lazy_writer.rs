//! The tantivy writer of one sub-index, created on the first write and closed after a time without writes.

use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use crate::sub_index::SubIndex;

/// Minimum memory budget of a tantivy writer, in bytes.
pub(crate) const MIN_HEAP: usize = 15_000_000;

/// Writer of one sub-index, opened when it is first needed.
#[derive(Default)]
pub(crate) struct LazyIndexWriter {
    writer: Option<IndexWriter>,
    /// True if there are uncommitted writes.
    dirty: bool,
}

impl LazyIndexWriter {
    /// Returns true if the tantivy writer exists.
    pub(crate) fn is_live(&self) -> bool {
        self.writer.is_some()
    }

    /// Creates the tantivy writer if it does not exist. `heap` is in bytes.
    pub(crate) fn start(&mut self, sub_index: &SubIndex, heap: usize) -> tantivy::Result<&mut IndexWriter> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(heap.max(MIN_HEAP))
                .build();
            let writer: IndexWriter = sub_index.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(5);
            policy.set_min_layer_size(2_000);
            writer.set_merge_policy(Box::new(policy));
            // Removes the incomplete files of a killed process.
            writer.garbage_collect_files().wait()?;
            self.writer = Some(writer);
        }
        Ok(self.writer.as_mut().expect("set above"))
    }

    /// Replaces the documents with this URL by `documents`.
    pub(crate) fn replace(
        &mut self,
        sub_index: &SubIndex,
        heap: usize,
        url: &str,
        documents: impl IntoIterator<Item = TantivyDocument>,
    ) -> tantivy::Result<()> {
        let writer = self.start(sub_index, heap)?;
        writer.delete_term(Term::from_field_text(sub_index.fields.url, url));
        for document in documents {
            writer.add_document(document)?;
        }
        self.dirty = true;
        Ok(())
    }

    /// Commits all writes, with `payload` as the payload of the commit.
    pub(crate) fn commit(&mut self, payload: Option<&str>) -> tantivy::Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| std::mem::take(&mut self.dirty)) {
            let mut commit = writer.prepare_commit()?;
            if let Some(payload) = payload {
                commit.set_payload(payload);
            }
            commit.commit()?;
        }
        Ok(())
    }

    /// Makes the next commit happen even without writes, so that its payload is stored.
    pub(crate) fn mark_dirty(&mut self) {
        self.dirty = true;
    }

    /// Merges the sub-index into one segment.
    pub(crate) fn merge(&mut self, sub_index: &SubIndex, heap: usize) -> tantivy::Result<()> {
        let segments = sub_index.index.searchable_segment_ids()?;
        if segments.len() > 1 {
            let merged = self.start(sub_index, heap)?.merge(&segments).wait();
            // A merge in the background may have merged some of the segments already, which is fine.
            match merged {
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for running merges and closes the tantivy writer.
    pub(crate) fn close(&mut self) -> tantivy::Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let _ = writer.garbage_collect_files().wait();
        writer.wait_merging_threads()
    }

    /// Drops the tantivy writer and all uncommitted writes.
    pub(crate) fn discard(&mut self) {
        *self = Self::default();
    }
}

/// Returns true if the error means that another process holds the lock.
pub(crate) fn is_locked(error: &TantivyError) -> bool {
    matches!(error, TantivyError::LockFailure(LockError::LockBusy, _))
}
