//! Entry point of the reader: detects the kind of a file, and passes its items to the visitor.

use std::io::BufRead;

use url::Url;

use super::output::{IncompleteReason, Output, ReadSummary, Visitor};
use super::utf8_reader::Utf8Reader;
use super::{lines, xml};

/// Reads the file from the URL `base` and passes its items to `visit`, in their order.
///
/// Relative locations of pages and sitemaps are resolved against `base`; text files must have absolute URLs. Items
/// whose URL is neither http nor https are skipped. The time is linear in the decompressed size.
///
/// See the [module documentation](super) for an example.
pub fn read(file: &[u8], base: &Url, visit: Visitor<'_>) -> ReadSummary {
    let mut reader = Utf8Reader::new(file);
    let mut output = Output::new(base, visit);
    match reader.skip_white_space() {
        None => output.incomplete = Some(IncompleteReason::NotAList),
        Some(b'<') => reader = xml::read(reader, &mut output),
        Some(_) => lines::read(&mut reader, &mut output),
    }
    output.finish(reader.incomplete())
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
