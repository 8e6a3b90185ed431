//! The bytes of a file as UTF-8: unpacked and decoded as they are needed.

use std::fmt;
use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};
use flate2::read::MultiGzDecoder;

use crate::reading::{IncompleteReason, MAX_BYTES};

/// How much is unpacked and decoded at one time.
const PIECE: usize = 16 * 1024;

/// An XML declaration is within so many bytes.
const DECLARATION_BYTES: usize = 256;

/// A file as UTF-8, whatever it is; what cannot be decoded is replaced.
pub(crate) struct Utf8Reader<'a> {
    source: Box<dyn Read + 'a>,
    decoder: Decoder,
    input: Vec<u8>,
    input_at: usize,
    /// Nothing comes behind the input.
    is_last: bool,
    /// Nothing comes behind what is decoded.
    is_done: bool,
    output: Vec<u8>,
    output_at: usize,
    output_end: usize,
    /// How many more bytes may come of the source.
    room: u64,
    fault: Option<IncompleteReason>,
}

impl<'a> Utf8Reader<'a> {
    pub(crate) fn new(file: &'a [u8]) -> Self {
        let source: Box<dyn Read + 'a> = if file.starts_with(&[0x1f, 0x8b]) {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        let mut text = Self {
            source,
            decoder: UTF_8.new_decoder(),
            input: Vec::with_capacity(PIECE),
            input_at: 0,
            is_last: false,
            is_done: false,
            output: vec![0; 3 * PIECE],
            output_at: 0,
            output_end: 0,
            room: MAX_BYTES,
            fault: None,
        };
        text.read_input();
        // A byte order mark says more than a declaration; decoders look for it themselves.
        text.decoder = declared(&text.input).unwrap_or(UTF_8).new_decoder();
        text
    }

    /// Returns why this may not be all of the file.
    pub(crate) fn fault(&self) -> Option<IncompleteReason> {
        self.fault
    }

    /// Unpacks the next piece.
    fn read_input(&mut self) {
        self.input_at = 0;
        // One byte more than there is room for tells that the file goes on.
        let wanted = (self.room + 1).min(PIECE as u64);
        self.input.clear();
        match (&mut self.source).take(wanted).read_to_end(&mut self.input) {
            Ok(_) => self.is_last = (self.input.len() as u64) < wanted,
            // What came before the damage is there.
            Err(_damaged) => (self.is_last, self.fault) = (true, Some(IncompleteReason::Broken)),
        }
        if self.input.len() as u64 > self.room {
            self.input.truncate(usize::try_from(self.room).unwrap_or(PIECE));
            (self.is_last, self.fault) = (true, Some(IncompleteReason::TooLong));
        }
        self.room -= self.input.len() as u64;
    }

    fn decode(&mut self) {
        if self.input_at == self.input.len() && !self.is_last {
            self.read_input();
        }
        let input = &self.input[self.input_at..];
        let (result, read, written, _replaced) =
            self.decoder.decode_to_utf8(input, &mut self.output, self.is_last);
        self.input_at += read;
        (self.output_at, self.output_end) = (0, written);
        self.is_done = self.is_last && result == CoderResult::InputEmpty;
    }
}

/// Returns the encoding that an XML declaration names. One that is no superset of ASCII is not meant where the
/// declaration could be read as ASCII.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
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
        while self.output_at == self.output_end && !self.is_done {
            self.decode();
        }
        Ok(&self.output[self.output_at..self.output_end])
    }

    fn consume(&mut self, amount: usize) {
        self.output_at += amount;
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
        f.debug_struct("Text").field("room", &self.room).finish_non_exhaustive()
    }
}
