//! Text files with one URL per line.

use std::io::BufRead;

use url::Url;

use super::entry::Entry;
use super::output::{IncompleteReason, Item, MAX_VALUE_BYTES, Output, is_http};
use super::utf8_reader::Utf8Reader;

/// Reads a list of absolute URLs. Skips other lines.
pub(crate) fn read(reader: &mut Utf8Reader<'_>, output: &mut Output<'_>) {
    let mut line = Vec::new();
    let mut found = false;
    while next_line(reader, &mut line) {
        let url = std::str::from_utf8(&line).ok().and_then(|line| Url::parse(line.trim()).ok());
        let Some(url) = url.filter(is_http) else { continue };
        found = true;
        if output.emit(Item::Page(Box::new(Entry::new(url)))).is_break() {
            return;
        }
    }
    if !found {
        output.incomplete = Some(IncompleteReason::NotAList);
    }
}

/// Reads the next line into `line`, which is empty if the line is too long for a URL. Returns false at the end.
fn next_line(reader: &mut Utf8Reader<'_>, line: &mut Vec<u8>) -> bool {
    line.clear();
    let (mut has_line, mut is_too_long) = (false, false);
    while let Ok(buffer) = reader.fill_buf()
        && !buffer.is_empty()
    {
        has_line = true;
        let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let chunk = &buffer[..end.unwrap_or(buffer.len())];
        is_too_long |= line.len() + chunk.len() > MAX_VALUE_BYTES;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(chunk);
        }
        let consumed = chunk.len() + usize::from(end.is_some());
        reader.consume(consumed);
        if end.is_some() {
            break;
        }
    }
    has_line
}
