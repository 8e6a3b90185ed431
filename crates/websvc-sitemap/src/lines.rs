//! Texts of one URL a line.

use std::io::BufRead;

use url::Url;

use crate::entry::Entry;
use crate::reading::{IncompleteReason, Item, MAX_VALUE_BYTES, Output, is_of_web};
use crate::text::Utf8Reader;

/// Reads a list of absolute URLs; other lines are skipped.
pub(crate) fn read(text: &mut Utf8Reader<'_>, output: &mut Output<'_>) {
    let mut line = Vec::new();
    let mut found = false;
    while next(text, &mut line) {
        let url = std::str::from_utf8(&line).ok().and_then(|line| Url::parse(line.trim()).ok());
        let Some(url) = url.filter(is_of_web) else { continue };
        found = true;
        if output.give(Item::Page(Box::new(Entry::new(url)))).is_break() {
            return;
        }
    }
    if !found {
        output.fault = Some(IncompleteReason::NotAList);
    }
}

/// Reads a line; of one that is too long to be a URL nothing. Returns false at the end.
fn next(text: &mut Utf8Reader<'_>, line: &mut Vec<u8>) -> bool {
    line.clear();
    let (mut some, mut is_long) = (false, false);
    while let Ok(buffer) = text.fill_buf()
        && !buffer.is_empty()
    {
        some = true;
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        is_long |= line.len() + piece.len() > MAX_VALUE_BYTES;
        if is_long {
            line.clear();
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        text.consume(used);
        if end.is_some() {
            break;
        }
    }
    some
}
