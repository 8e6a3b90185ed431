//! Entry point of the reader: detects the kind of a file, and passes its items to the visitor.

use std::fmt;
use std::io::BufRead;
use std::ops::ControlFlow;

use url::Url;

use crate::entry::Entry;
use crate::utf8_reader::Utf8Reader;
use crate::{lines, xml};

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

/// Reads the file from the URL `base` and passes its items to `visit`, in their order.
///
/// Relative locations of pages and sitemaps are resolved against `base`; text files must have absolute URLs. Items
/// whose URL is neither http nor https are skipped. The time is linear in the decompressed size.
///
/// See the [crate documentation](crate) for an example.
pub fn read(file: &[u8], base: &Url, visit: Visitor<'_>) -> ReadSummary {
    let mut reader = Utf8Reader::new(file);
    let mut output = Output { base, visit, items: 0, incomplete: None, is_stopped: false };
    match reader.skip_white_space() {
        None => output.incomplete = Some(IncompleteReason::NotAList),
        Some(b'<') => reader = xml::read(reader, &mut output),
        Some(_) => lines::read(&mut reader, &mut output),
    }
    let Output { items, incomplete, is_stopped, .. } = output;
    let incomplete = if is_stopped { None } else { incomplete.or(reader.incomplete()) };
    ReadSummary { items, incomplete }
}

/// Counts items and passes them to the visitor.
pub(crate) struct Output<'a> {
    base: &'a Url,
    visit: Visitor<'a>,
    items: usize,
    pub(crate) incomplete: Option<IncompleteReason>,
    /// True if the visitor stopped the reader.
    is_stopped: bool,
}

impl Output<'_> {
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
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Appends `text` to a value, truncated to [`MAX_VALUE_BYTES`].
pub(crate) fn push_truncated(value: &mut String, text: &str) {
    let remaining = MAX_VALUE_BYTES.saturating_sub(value.len());
    value.push_str(&text[..text.floor_char_boundary(remaining)]);
}

impl Utf8Reader<'_> {
    /// Skips white space. Returns the byte after it, without consuming it.
    fn skip_white_space(&mut self) -> Option<u8> {
        loop {
            let buffer = self.fill_buf().ok()?;
            let spaces = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let first = buffer.get(spaces).copied();
            let is_end = buffer.is_empty();
            self.consume(spaces);
            if first.is_some() || is_end {
                return first;
            }
        }
    }
}
