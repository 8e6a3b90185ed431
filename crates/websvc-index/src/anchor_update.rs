//! Applying anchors: pages whose anchors changed are encoded again from their stored documents.
//!
//! This runs on the writer thread in small steps and replaces pages like any other write, so searches continue
//! meanwhile. If the process ends during it, some pages have old anchors, and the payload of the last commit says that
//! anchors are pending.

use std::sync::Arc;
use std::time::Instant;

use crate::anchors::gather;
use crate::encode::encode;
use crate::error::IndexError;
use crate::sub_index::{SubIndexSearcher, find};
use crate::writer_thread::WriterThread;

/// Maximum pages in one step when a caller waits for all of them.
const BATCH: usize = 256;

impl WriterThread {
    /// Commits, and applies all pending anchors.
    pub(crate) fn apply_all_anchors(&mut self) -> Result<(), IndexError> {
        self.start()?;
        self.commit()?;
        while !self.backlog.is_empty() {
            self.apply_anchors_batch(BATCH)?;
            let config = &self.shared.config;
            if self.dirty_since.is_some_and(|since| since.elapsed() >= config.commit_after) {
                self.commit()?;
            }
        }
        self.commit()
    }

    /// Applies the committed anchors of at most `limit` pages.
    pub(crate) fn apply_anchors_batch(&mut self, limit: usize) -> Result<(), IndexError> {
        if self.backlog.is_empty() || !self.pages.is_live() {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let applied = shared.pages.view().and_then(|view| {
            let mut remaining = limit;
            while remaining > 0
                && let Some(url) = self.backlog.pop()
            {
                remaining -= 1;
                self.reindex_page(&view, &url)?;
            }
            if remaining > 0 { self.backlog.sweep(&view) } else { Ok(()) }
        });
        applied.map_err(|error| self.write_error(&error))?;
        if self.backlog.is_empty() && self.anchors_pending {
            self.pages.mark_dirty();
            self.dirty_since.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    /// Encodes a page again if its anchors changed since it was encoded.
    fn reindex_page(&mut self, view: &SubIndexSearcher, url: &str) -> tantivy::Result<()> {
        let Some(address) = find(&view.searcher, &view.fields, url)? else {
            return Ok(());
        };
        let anchors = gather(view, url)?;
        if anchors.fingerprint() == view.anchors(address)? {
            return Ok(());
        }
        // A document with damaged bytes stays unchanged.
        let Ok(document) = view.document(address) else {
            return Ok(());
        };
        let first_seen = view.first_seen(address);
        let Some(encoded) = encode(&view.fields, &document, first_seen, &anchors, &mut self.forms) else {
            return Ok(());
        };
        let shared = Arc::clone(&self.shared);
        self.pages.replace(&shared.pages, shared.config.writer_heap, url, Some(encoded.page))?;
        self.dirty_since.get_or_insert_with(Instant::now);
        Ok(())
    }
}
