//! The backlog of pages whose anchors may have changed.
//!
//! Adding, changing or removing a page changes the anchors of the pages it links to. These are in the backlog until
//! they are encoded again. When there are too many, or after a process ended with a non-empty backlog, a sweep over the
//! whole index finds the pages whose anchors differ from those with which they were encoded. The payload of each commit
//! says whether the backlog was empty ([`PENDING`]).

use std::collections::BTreeSet;

use tantivy::DocAddress;

use crate::anchors::{counted_links, gather};
use crate::display_doc::DisplayDoc;
use crate::document::Link;
use crate::stored_record::Links;
use crate::sub_index::SubIndexSearcher;

/// Payload of a commit whose anchors have not been applied.
pub(crate) const PENDING: &str = "anchors pending";

/// Maximum queued URLs, which take a few megabytes.
const MAX_QUEUED: usize = 20_000;

/// Maximum documents that a sweep checks in one step.
const SWEEP_BATCH: usize = 256;

/// Anchors that have not been applied.
#[derive(Default)]
pub(crate) struct AnchorBacklog {
    /// The URLs of pages whose anchors changed.
    queued: BTreeSet<String>,
    /// True if any page may have changed, so that a sweep has to start.
    needs_sweep: bool,
    /// The running sweep.
    sweep: Option<Sweep>,
}

impl AnchorBacklog {
    pub(crate) fn is_empty(&self) -> bool {
        self.queued.is_empty() && !self.needs_sweep && self.sweep.is_none()
    }

    /// Returns true if a sweep will check every page of the index.
    pub(crate) fn is_full_sweep(&self) -> bool {
        self.needs_sweep
    }

    /// Records that the anchors of any page may have changed.
    pub(crate) fn add_all(&mut self) {
        self.needs_sweep = true;
        self.queued = BTreeSet::new();
    }

    /// Records that the links of the page `url` changed from `old` to `new`.
    pub(crate) fn add_changed(&mut self, url: &str, old: &Links, new: &[Link]) {
        if self.needs_sweep {
            return;
        }
        let new = new.iter().map(|Link { url, text }| (url.as_str(), text.as_str()));
        let (old, new) = (counted_links(url, old.iter()), counted_links(url, new));
        self.queued.extend(old.symmetric_difference(&new).map(|(target, _)| target.clone()));
        if self.queued.len() > MAX_QUEUED {
            self.add_all();
        }
    }

    /// Takes the URL of one queued page.
    pub(crate) fn pop(&mut self) -> Option<String> {
        self.queued.pop_first()
    }

    /// Runs the next step of the sweep, if one is due, and queues the pages that it finds.
    pub(crate) fn sweep(&mut self, view: &SubIndexSearcher) -> tantivy::Result<()> {
        if self.sweep.is_none() && std::mem::take(&mut self.needs_sweep) {
            self.sweep = Some(Sweep { snapshot: view.clone(), next: DocAddress::new(0, 0) });
        }
        let Some(sweep) = &mut self.sweep else {
            return Ok(());
        };
        if !sweep.step(view, &mut self.queued)? {
            self.sweep = None;
        }
        Ok(())
    }
}

/// A walk over all documents of one commit of the index.
struct Sweep {
    snapshot: SubIndexSearcher,
    next: DocAddress,
}

impl Sweep {
    /// Checks the next documents against the anchors of the `latest` commit. Returns true if there are more documents.
    fn step(&mut self, latest: &SubIndexSearcher, found: &mut BTreeSet<String>) -> tantivy::Result<bool> {
        for _ in 0..SWEEP_BATCH {
            let segments = self.snapshot.searcher.segment_readers();
            let Some(segment) = segments.get(self.next.segment_ord as usize) else {
                return Ok(false);
            };
            let address = self.next;
            if address.doc_id >= segment.max_doc() {
                self.next = DocAddress::new(address.segment_ord + 1, 0);
                continue;
            }
            self.next.doc_id += 1;
            if segment.is_deleted(address.doc_id) {
                continue;
            }
            let bytes = self.snapshot.stored(address)?;
            if let Some(doc) = DisplayDoc::decode(&bytes)
                && gather(latest, doc.header.url)?.fingerprint() != self.snapshot.anchors(address)?
            {
                found.insert(doc.header.url.to_owned());
            }
        }
        Ok(true)
    }
}
