//! The engine's writer of one shelf, made on the first write and given up after a while without one.

use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use crate::sub_index::SubIndex;

/// The least memory that the engine's writer works with.
pub(crate) const MIN_HEAP: usize = 15_000_000;

/// Writer of one sub-index, opened when it is first needed.
#[derive(Default)]
pub(crate) struct LazyIndexWriter {
    writer: Option<IndexWriter>,
    /// True if there are uncommitted writes.
    dirty: bool,
}

impl LazyIndexWriter {
    /// Tells whether the engine's writer exists.
    pub(crate) fn is_live(&self) -> bool {
        self.writer.is_some()
    }

    /// Makes the engine's writer if there is none. `heap` is in bytes.
    pub(crate) fn start(&mut self, shelf: &SubIndex, heap: usize) -> tantivy::Result<&mut IndexWriter> {
        if self.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(heap.max(MIN_HEAP))
                .build();
            let writer: IndexWriter = shelf.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(5);
            policy.set_min_layer_size(2_000);
            writer.set_merge_policy(Box::new(policy));
            // What a killed process left half-written.
            writer.garbage_collect_files().wait()?;
            self.writer = Some(writer);
        }
        Ok(self.writer.as_mut().expect("set above"))
    }

    /// Puts `documents` in place of those with the URL.
    pub(crate) fn replace(
        &mut self,
        shelf: &SubIndex,
        heap: usize,
        url: &str,
        documents: impl IntoIterator<Item = TantivyDocument>,
    ) -> tantivy::Result<()> {
        let writer = self.start(shelf, heap)?;
        writer.delete_term(Term::from_field_text(shelf.fields.url, url));
        for document in documents {
            writer.add_document(document)?;
        }
        self.dirty = true;
        Ok(())
    }

    /// Commits what was written; `note` stands beside it until the next commit.
    pub(crate) fn commit(&mut self, note: Option<&str>) -> tantivy::Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| std::mem::take(&mut self.dirty)) {
            let mut commit = writer.prepare_commit()?;
            if let Some(note) = note {
                commit.set_payload(note);
            }
            commit.commit()?;
        }
        Ok(())
    }

    /// Lets the next commit happen even if nothing is written, for the sake of its note.
    pub(crate) fn mark_dirty(&mut self) {
        self.dirty = true;
    }

    /// Merges the shelf into one part.
    pub(crate) fn merge(&mut self, shelf: &SubIndex, heap: usize) -> tantivy::Result<()> {
        let segments = shelf.index.searchable_segment_ids()?;
        if segments.len() > 1 {
            let merged = self.start(shelf, heap)?.merge(&segments).wait();
            // A merge in the background may have taken some of the segments first; that is as good.
            match merged {
                Ok(_) | Err(TantivyError::InvalidArgument(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Lets go of the engine's writer after its merges.
    pub(crate) fn close(&mut self) -> tantivy::Result<()> {
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        let _ = writer.garbage_collect_files().wait();
        writer.wait_merging_threads()
    }

    /// Gives the engine's writer up with what was not committed.
    pub(crate) fn discard(&mut self) {
        *self = Self::default();
    }
}

/// Tells whether another process holds the lock.
pub(crate) fn is_locked(error: &TantivyError) -> bool {
    matches!(error, TantivyError::LockFailure(LockError::LockBusy, _))
}
