//! Reader that decompresses a file and decodes it to UTF-8, in chunks.

use std::fmt;
use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};
use flate2::read::MultiGzDecoder;

use super::output::{IncompleteReason, MAX_BYTES};

/// Size of the chunks that are decompressed and decoded, in bytes.
const CHUNK_BYTES: usize = 16 * 1024;

/// Maximum length of the start of a file that is searched for an XML declaration, in bytes.
const DECLARATION_BYTES: usize = 256;

/// Reads a file as UTF-8. Invalid sequences are replaced.
pub(crate) struct Utf8Reader<'a> {
    source: Box<dyn Read + 'a>,
    decoder: Decoder,
    input: Vec<u8>,
    input_start: usize,
    /// True if `input` is the last chunk of the source.
    is_last: bool,
    /// True if `output` is the last decoded chunk.
    is_done: bool,
    output: Vec<u8>,
    output_start: usize,
    output_end: usize,
    /// Maximum number of bytes that may still be read from the source.
    remaining: u64,
    incomplete: Option<IncompleteReason>,
}

impl<'a> Utf8Reader<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Self {
        let source: Box<dyn Read + 'a> = if file.starts_with(&[0x1f, 0x8b]) {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        let mut reader = Self {
            source,
            decoder: UTF_8.new_decoder(),
            input: Vec::with_capacity(CHUNK_BYTES),
            input_start: 0,
            is_last: false,
            is_done: false,
            output: vec![0; 3 * CHUNK_BYTES],
            output_start: 0,
            output_end: 0,
            remaining: MAX_BYTES,
            incomplete: None,
        };
        reader.read_input();
        // A byte order mark has precedence over a declaration. The decoder detects it.
        reader.decoder = declared_encoding(&reader.input).unwrap_or(UTF_8).new_decoder();
        reader
    }

    /// Returns the reason why the file was not read to its end.
    pub(crate) fn incomplete(&self) -> Option<IncompleteReason> {
        self.incomplete
    }

    /// Decompresses the next chunk.
    fn read_input(&mut self) {
        self.input_start = 0;
        // One byte more than allowed is requested, to detect that the file is too long.
        let requested = (self.remaining + 1).min(CHUNK_BYTES as u64);
        self.input.clear();
        match (&mut self.source).take(requested).read_to_end(&mut self.input) {
            Ok(_) => self.is_last = (self.input.len() as u64) < requested,
            // `input` has the bytes before the damage.
            Err(_damaged) => (self.is_last, self.incomplete) = (true, Some(IncompleteReason::Broken)),
        }
        if self.input.len() as u64 > self.remaining {
            self.input.truncate(usize::try_from(self.remaining).unwrap_or(CHUNK_BYTES));
            (self.is_last, self.incomplete) = (true, Some(IncompleteReason::TooLong));
        }
        self.remaining -= self.input.len() as u64;
    }

    /// Decodes the next chunk.
    fn decode(&mut self) {
        if self.input_start == self.input.len() && !self.is_last {
            self.read_input();
        }
        let input = &self.input[self.input_start..];
        let (result, read, written, _replaced) =
            self.decoder.decode_to_utf8(input, &mut self.output, self.is_last);
        self.input_start += read;
        (self.output_start, self.output_end) = (0, written);
        self.is_done = self.is_last && result == CoderResult::InputEmpty;
    }
}

/// Returns the encoding in the XML declaration. An encoding that is not a superset of ASCII is ignored, because the
/// declaration itself was read as ASCII.
fn declared_encoding(start: &[u8]) -> Option<&'static Encoding> {
    let start = &start[..start.len().min(DECLARATION_BYTES)];
    let start = String::from_utf8_lossy(start.trim_ascii_start());
    let declaration = start.strip_prefix("<?xml")?.split_once("?>")?.0;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let name = value[1..].split_once(quote)?.0;
    Encoding::for_label(name.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

impl BufRead for Utf8Reader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.output_start == self.output_end && !self.is_done {
            self.decode();
        }
        Ok(&self.output[self.output_start..self.output_end])
    }

    fn consume(&mut self, amount: usize) {
        self.output_start += amount;
    }
}

impl Read for Utf8Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl fmt::Debug for Utf8Reader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utf8Reader").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}
