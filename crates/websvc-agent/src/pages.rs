//! The pages of a run.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use websvc_model::{cut, one_line};

use crate::page::{Page, url_key};

/// The maximum number of pages that are kept, and their maximum size together, in bytes.
const MAX_PAGES: usize = 40;
const MAX_TOTAL_BYTES: usize = 12 * 1024 * 1024;

/// The maximum length of a title. Titles stay when their pages are dropped.
const MAX_TITLE_CHARS: usize = 200;

/// The pages that were read, in their order. The oldest ones are dropped when they exceed the memory of a run.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    entries: Vec<PageEntry>,
    by_url: HashMap<String, usize>,
    bytes: usize,
    /// Changes with every page, so that rankings of passages can be kept.
    pub(crate) version: u32,
}

/// A page in the list of a run. Its number is its index plus 1.
#[derive(Debug)]
pub(crate) struct PageEntry {
    pub(crate) url: String,
    /// In one line, and cut.
    pub(crate) title: String,
    /// `None` after it was dropped.
    pub(crate) page: Option<Arc<Page>>,
    /// The number of the call that read it.
    pub(crate) call: Option<u32>,
    /// The version of the pages when it was read.
    pub(crate) read_at: u32,
    /// The number of passages from the beginning that the model has seen.
    pub(crate) seen: usize,
    /// The passages whose values are in the draft.
    pub(crate) collected: Vec<bool>,
}

impl Pages {
    /// Adds a page and returns its index. A page with the URL of an earlier one replaces it.
    pub(crate) fn add(&mut self, requested_url: &str, title: &str, page: Page, call: Option<u32>) -> usize {
        self.version += 1;
        self.bytes += page.bytes;
        let url = page.url.clone();
        let collected = vec![false; page.passages.len()];
        let title = cut(&one_line(title), MAX_TITLE_CHARS);
        let page = Some(Arc::new(page));
        let entry =
            PageEntry { url: url.clone(), title, page, call, read_at: self.version, seen: 0, collected };
        let index = match self.by_url.get(&url_key(&url)).copied() {
            Some(index) => {
                let replaced = mem::replace(&mut self.entries[index], entry);
                self.bytes -= replaced.page.map_or(0, |page| page.bytes);
                index
            }
            None => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        for url in [requested_url, &url] {
            self.by_url.insert(url_key(url), index);
        }
        self.drop_oldest(index);
        index
    }

    fn drop_oldest(&mut self, newest: usize) {
        while self.bytes > MAX_TOTAL_BYTES || self.kept().count() > MAX_PAGES {
            let others = self.kept().map(|(index, _)| index).filter(|index| *index != newest);
            let oldest = others.min_by_key(|index| self.entries[*index].read_at);
            let Some(page) = oldest.and_then(|index| self.entries[index].page.take()) else { return };
            self.bytes -= page.bytes;
        }
    }

    /// Returns the pages that are kept, with their indexes.
    pub(crate) fn kept(&self) -> impl DoubleEndedIterator<Item = (usize, &Arc<Page>)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.page.as_ref()?)))
    }

    pub(crate) fn entries(&self) -> &[PageEntry] {
        &self.entries
    }

    pub(crate) fn entry_mut(&mut self, index: usize) -> &mut PageEntry {
        &mut self.entries[index]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the index of the page with this URL, if it is kept.
    pub(crate) fn find(&self, url: &str) -> Option<usize> {
        let index = self.by_url.get(&url_key(url)).copied()?;
        self.entries[index].page.is_some().then_some(index)
    }
}
