//! The items of a file, and how much of it was read.

use std::fmt;
use std::ops::ControlFlow;

use url::Url;

use super::entry::Entry;
use crate::host::is_web;

/// Maximum size of a file after decompression, in bytes (the limit of the sitemap protocol). The rest is not read.
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// Maximum number of entries of a file (the limit of the sitemap protocol). More are not read.
pub const MAX_ENTRIES: usize = 50_000;

/// Maximum length of a value of an element or attribute, in bytes. Longer values are truncated.
pub(crate) const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Item of a file, passed to the [`Visitor`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A page and its metadata.
    Page(Box<Entry>),
    /// Another sitemap, from a sitemap index.
    Sitemap(Url),
}

/// Result of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSummary {
    /// Number of items that were passed to the visitor.
    pub items: usize,
    /// Reason why the file may have more items; `None` if it was read to its end, or if the visitor stopped.
    pub incomplete: Option<IncompleteReason>,
}

/// Reason why the items that were read may not be all items of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncompleteReason {
    /// The file is an HTML page, or a text without URLs.
    NotAList,
    /// The XML is not well-formed, or the compressed data is damaged or incomplete. The items before the damage were
    /// read.
    Broken,
    /// The file has more than [`MAX_BYTES`].
    TooLong,
    /// The file has more than [`MAX_ENTRIES`].
    TooMany,
}

/// Prints the reason as the rest of a sentence whose subject is the file.
impl fmt::Display for IncompleteReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAList => f.write_str("is neither a sitemap nor a feed"),
            Self::Broken => f.write_str("is damaged: it was read as far as possible"),
            Self::TooLong => write!(f, "has more than {} MiB: the rest was not read", MAX_BYTES >> 20),
            Self::TooMany => write!(f, "has more than {MAX_ENTRIES} entries: the rest was not read"),
        }
    }
}

/// Callback that receives the items of a file. [`ControlFlow::Break`] stops the reader.
pub type Visitor<'a> = &'a mut dyn FnMut(Item) -> ControlFlow<()>;

/// Counts items and passes them to the visitor.
pub(crate) struct Output<'a> {
    base: &'a Url,
    visit: Visitor<'a>,
    items: usize,
    pub(crate) incomplete: Option<IncompleteReason>,
    /// True if the visitor stopped the reader.
    is_stopped: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(base: &'a Url, visit: Visitor<'a>) -> Self {
        Self { base, visit, items: 0, incomplete: None, is_stopped: false }
    }

    /// Returns the summary of a file whose reader stopped for this reason, if any.
    pub(crate) fn finish(self, reason: Option<IncompleteReason>) -> ReadSummary {
        let incomplete = if self.is_stopped { None } else { self.incomplete.or(reason) };
        ReadSummary { items: self.items, incomplete }
    }

    /// Passes an item to the visitor. Breaks if the visitor stops the reader or the maximum is reached.
    pub(crate) fn emit(&mut self, item: Item) -> ControlFlow<()> {
        if self.items >= MAX_ENTRIES {
            self.incomplete = Some(IncompleteReason::TooMany);
            return ControlFlow::Break(());
        }
        self.items += 1;
        let flow = (self.visit)(item);
        self.is_stopped |= flow.is_break();
        flow
    }

    /// Resolves a URL of the file. Returns `None` if it is not an http or https URL.
    pub(crate) fn resolve(&self, text: &str) -> Option<Url> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        self.base.join(text).ok().filter(is_http)
    }
}

/// Returns whether a URL is an http or https URL.
pub(crate) fn is_http(url: &Url) -> bool {
    is_web(url) && url.has_host()
}

/// Appends `text` to a value, truncated to [`MAX_VALUE_BYTES`].
pub(crate) fn push_truncated(value: &mut String, text: &str) {
    let remaining = MAX_VALUE_BYTES.saturating_sub(value.len());
    value.push_str(&text[..text.floor_char_boundary(remaining)]);
}
