//! The pages whose anchors may have changed.
//!
//! A page that comes, changes or goes changes the anchors of those it links to. They wait here until there is time to
//! encode them anew. When too many wait, or a process ended before it was done, a sweep over the whole index finds the
//! pages that were encoded with other anchors than they have. Each commit says whether anything waits ([`PENDING`]).

use std::collections::BTreeSet;

use tantivy::DocAddress;

use crate::anchors::{counted_links, gather};
use crate::display_doc::DisplayDoc;
use crate::document::Link;
use crate::stored_record::Links;
use crate::sub_index::SubIndexSearcher;

/// Commit message of an index whose anchors have not been applied.
pub(crate) const PENDING: &str = "anchors pending";

/// At most this many pages wait by name, which takes a few megabytes.
const MAX_WAITING: usize = 20_000;

/// How many documents a sweep looks at in one step.
const SWEPT_AT_ONCE: usize = 256;

/// Anchors that have not been applied.
#[derive(Default)]
pub(crate) struct AnchorBacklog {
    waiting: BTreeSet<String>,
    /// True if pages without a known name are waiting.
    unnamed: bool,
    sweep: Option<Sweep>,
}

impl AnchorBacklog {
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && !self.unnamed && self.sweep.is_none()
    }

    /// Tells whether a sweep will come by every page that is there now.
    pub(crate) fn is_full_sweep(&self) -> bool {
        self.unnamed
    }

    /// Any page may have other anchors now.
    pub(crate) fn add_all(&mut self) {
        self.unnamed = true;
        self.waiting = BTreeSet::new();
    }

    /// The links of the page `url` change from `old` to `new`.
    pub(crate) fn add_changed(&mut self, url: &str, old: &Links, new: &[Link]) {
        if self.unnamed {
            return;
        }
        let new = new.iter().map(|Link { url, text }| (url.as_str(), text.as_str()));
        let (old, new) = (counted_links(url, old.iter()), counted_links(url, new));
        self.waiting.extend(old.symmetric_difference(&new).map(|(target, _)| target.clone()));
        if self.waiting.len() > MAX_WAITING {
            self.add_all();
        }
    }

    /// Takes one page that waits by name.
    pub(crate) fn pop(&mut self) -> Option<String> {
        self.waiting.pop_first()
    }

    /// Goes on with the sweep, if there is one, and notes the pages that it finds.
    pub(crate) fn sweep(&mut self, view: &SubIndexSearcher) -> tantivy::Result<()> {
        if self.sweep.is_none() && std::mem::take(&mut self.unnamed) {
            self.sweep = Some(Sweep { then: view.clone(), next: DocAddress::new(0, 0) });
        }
        let Some(sweep) = &mut self.sweep else {
            return Ok(());
        };
        if !sweep.step(view, &mut self.waiting)? {
            self.sweep = None;
        }
        Ok(())
    }
}

/// A walk over all documents of one state of the index.
struct Sweep {
    then: SubIndexSearcher,
    next: DocAddress,
}

impl Sweep {
    /// Looks at some documents; returns whether there are more.
    fn step(&mut self, now: &SubIndexSearcher, found: &mut BTreeSet<String>) -> tantivy::Result<bool> {
        for _ in 0..SWEPT_AT_ONCE {
            let Some(segment) = self.then.searcher.segment_readers().get(self.next.segment_ord as usize)
            else {
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
            let bytes = self.then.stored(address)?;
            if let Some(card) = DisplayDoc::decode(&bytes)
                && gather(now, card.head.url)?.fingerprint() != self.then.anchors(address)?
            {
                found.insert(card.head.url.to_owned());
            }
        }
        Ok(true)
    }
}
