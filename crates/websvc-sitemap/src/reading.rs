//! Reading a file: which kind it is, what is handed over, and where it ends.

use std::fmt;
use std::io::BufRead;
use std::ops::ControlFlow;

use url::Url;

use crate::entry::Entry;
use crate::text::Utf8Reader;
use crate::{lines, xml};

/// The largest file that is read, unpacked, in bytes (the protocol's own bound).
pub const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// Most entries of one file that are read (the protocol's own bound).
pub const MAX_ENTRIES: usize = 50_000;

/// Longer values of elements and attributes are cut, in bytes.
pub(crate) const MAX_VALUE_BYTES: usize = 8 * 1024;

/// Item of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A page, and what is said of it.
    Page(Box<Entry>),
    /// Another file of this kind.
    Sitemap(Url),
}

/// Result of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadSummary {
    /// How many entries were handed over.
    pub items: usize,
    /// Why more may be in the file than was read.
    pub fault: Option<IncompleteReason>,
}

/// Why more may be in a file than was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncompleteReason {
    /// It is a web page, or a text without URLs.
    NotAList,
    /// It is no well-formed XML from some place on, or its packing is damaged or incomplete.
    Broken,
    /// It has more than [`MAX_BYTES`].
    TooLong,
    /// It has more than [`MAX_ENTRIES`].
    TooMany,
}

/// Prints what is wrong, as the rest of a sentence about the file.
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

/// Takes what a file lists; may end the reading.
pub type Visitor<'a> = &'a mut dyn FnMut(Item) -> ControlFlow<()>;

/// Reads a file that was found at `base`, in the order of its entries. Only http and https URLs are handed over; relative
/// ones are resolved. Takes time linear in the length of the file, unpacked.
pub fn read(file: &[u8], base: &Url, visit: Visitor<'_>) -> ReadSummary {
    let mut text = Utf8Reader::new(file);
    let mut output = Output { base, visit, items: 0, fault: None, is_ended: false };
    match text.first_character() {
        None => output.fault = Some(IncompleteReason::NotAList),
        Some(b'<') => text = xml::read(text, &mut output),
        Some(_) => lines::read(&mut text, &mut output),
    }
    let Output { items, fault, is_ended, .. } = output;
    // Whoever ended the reading knows that there is more.
    let fault = if is_ended { None } else { fault.or(text.fault()) };
    ReadSummary { items, fault }
}

/// Receiver of items.
pub(crate) struct Output<'a> {
    base: &'a Url,
    visit: Visitor<'a>,
    items: usize,
    pub(crate) fault: Option<IncompleteReason>,
    is_ended: bool,
}

impl Output<'_> {
    /// Hands an item over. Breaks when no more is wanted.
    pub(crate) fn give(&mut self, item: Item) -> ControlFlow<()> {
        if self.items >= MAX_ENTRIES {
            self.fault = Some(IncompleteReason::TooMany);
            return ControlFlow::Break(());
        }
        self.items += 1;
        let flow = (self.visit)(item);
        self.is_ended |= flow.is_break();
        flow
    }

    /// Returns a URL of the file, when it is one of the web.
    pub(crate) fn resolve(&self, text: &str) -> Option<Url> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        self.base.join(text).ok().filter(is_of_web)
    }
}

pub(crate) fn is_of_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Adds to a text what there is room for.
pub(crate) fn push(value: &mut String, text: &str) {
    let room = MAX_VALUE_BYTES.saturating_sub(value.len());
    value.push_str(&text[..text.floor_char_boundary(room)]);
}

impl Utf8Reader<'_> {
    /// Skips white space, and returns the first byte behind it.
    fn first_character(&mut self) -> Option<u8> {
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
