//! Applying anchors: pages that others link to differently now are encoded anew, from their stored documents.
//!
//! It happens on the writing thread, in small steps, and changes pages as any addition does: searches go on, and a process
//! that ends in between leaves old anchors and the note that some wait.

use std::sync::Arc;
use std::time::Instant;

use crate::anchors::gather;
use crate::encode::encode;
use crate::error::IndexError;
use crate::sub_index::{SubIndexSearcher, find};
use crate::writer_thread::WriterThread;

/// How many pages are encoded anew at one time when somebody waits for all of them.
const AT_ONCE: usize = 256;

impl WriterThread {
    /// Commits, and applies all anchors that wait.
    pub(crate) fn apply_all_anchors(&mut self) -> Result<(), IndexError> {
        self.start()?;
        self.commit()?;
        while !self.backlog.is_empty() {
            self.apply_anchors_batch(AT_ONCE)?;
            let config = &self.shared.config;
            if self.dirty_since.is_some_and(|since| since.elapsed() >= config.commit_after) {
                self.commit()?;
            }
        }
        self.commit()
    }

    /// Applies the anchors of at most `limit` pages, as they are committed.
    pub(crate) fn apply_anchors_batch(&mut self, limit: usize) -> Result<(), IndexError> {
        if self.backlog.is_empty() || !self.pages.is_live() {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let settling = shared.pages.view().and_then(|view| {
            let mut left = limit;
            while left > 0
                && let Some(url) = self.backlog.pop()
            {
                left -= 1;
                self.reindex_page(&view, &url)?;
            }
            if left > 0 { self.backlog.sweep(&view) } else { Ok(()) }
        });
        settling.map_err(|error| self.failed(&error))?;
        if self.backlog.is_empty() && self.noted {
            self.pages.mark_dirty();
            self.dirty_since.get_or_insert_with(Instant::now);
        }
        Ok(())
    }

    /// Encodes a page anew when it has other anchors than it was encoded with.
    fn reindex_page(&mut self, view: &SubIndexSearcher, url: &str) -> tantivy::Result<()> {
        let Some(address) = find(&view.searcher, &view.fields, url)? else {
            return Ok(());
        };
        let anchors = gather(view, url)?;
        if anchors.fingerprint() == view.anchors(address)? {
            return Ok(());
        }
        // A document whose bytes are damaged stays as it is.
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
