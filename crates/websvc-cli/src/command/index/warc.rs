//! The records of a WARC stream (ISO 28500), one at a time, however broken the stream is.
//!
//! A record is its head, a block of as many bytes as the head says, and two line ends. Where the line ends do not
//! follow the block, the length was wrong; reading goes on at the next line that begins a record, inside the block
//! if there is one, so that a wrong length costs its own record only.

use std::io::{self, BufRead, Cursor, ErrorKind, Read};

use super::lines::{Line, read_line};

/// Larger blocks are not read; text of a page never is.
pub(super) const MAX_BLOCK_BYTES: u64 = 64 * 1024 * 1024;

/// The head of a record has at most this many bytes.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How every record begins, and what stands in front of it in a stream of records.
const BEGINNING: &[u8] = b"WARC/";
const NEXT: &[u8] = b"\r\n\r\nWARC/";

/// A record that was read whole.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The type, in lower case.
    pub(super) kind: String,
    /// Target URI of the record; empty if the header has none.
    pub(super) target: String,
    /// The media type of the block.
    pub(super) content_type: String,
    /// The block.
    pub(super) block: Vec<u8>,
}

/// Result of reading the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// A record.
    Record(Record),
    /// A record that is larger than [`MAX_BLOCK_BYTES`]; what it is about.
    TooLarge(String),
    /// Something that is no whole record: what is wrong with it.
    Broken(String),
}

/// A stream of records.
pub(super) struct Records<R> {
    /// Bytes that were read ahead, then the rest.
    stream: PeekReader<R>,
    line: Vec<u8>,
}

/// The head of a record.
#[derive(Debug, Default)]
struct Head {
    record: Record,
    length: Option<u64>,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream: PeekReader { ahead: Cursor::default(), stream }, line: Vec::new() }
    }

    /// Returns the next record, or what stands in its place; `None` at the end.
    ///
    /// # Errors
    /// Those of the stream with which it ended; damage that can be passed over is [`ReadOutcome::Broken`].
    pub(super) fn next(&mut self) -> io::Result<Option<ReadOutcome>> {
        match self.read() {
            Ok(next) => Ok(next),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                Ok(Some(ReadOutcome::Broken(error.to_string())))
            }
            Err(error) => Err(error),
        }
    }

    fn read(&mut self) -> io::Result<Option<ReadOutcome>> {
        match self.beginning()? {
            RecordStart::End => return Ok(None),
            RecordStart::Garbage(bytes) => {
                return Ok(Some(ReadOutcome::Broken(format!("{bytes} bytes are no record"))));
            }
            RecordStart::Record => {}
        }
        let Some(Head { mut record, length }) = self.head()? else {
            self.skip_to_next()?;
            return Ok(Some(ReadOutcome::Broken("the head of a record does not end".to_owned())));
        };
        let Some(length) = length else {
            self.skip_to_next()?;
            return Ok(Some(ReadOutcome::Broken(format!("{} has no Content-Length", name(&record)))));
        };
        if length > MAX_BLOCK_BYTES {
            self.pass(length)?;
            return Ok(Some(ReadOutcome::TooLarge(name(&record).to_owned())));
        }
        (&mut self.stream).take(length).read_to_end(&mut record.block)?;
        let is_whole = record.block.len() as u64 == length;
        if is_whole && self.is_at_end_of_record()? {
            return Ok(Some(ReadOutcome::Record(record)));
        }
        let reason = if is_whole { "has a wrong Content-Length" } else { "ends too early" };
        let reason = format!("{} {reason}", name(&record));
        self.resync(record.block)?;
        Ok(Some(ReadOutcome::Broken(reason)))
    }

    /// Tells whether what follows a block is what follows blocks: two line ends, or the end of the stream.
    fn is_at_end_of_record(&mut self) -> io::Result<bool> {
        let following = self.stream.peek(4)?;
        Ok(following == b"\r\n\r\n"
            || following.starts_with(b"\n\n")
            || following.len() < 4 && following.trim_ascii().is_empty())
    }

    /// Goes to the line that begins a record and stops behind it, or behind what is no record and before the line.
    fn beginning(&mut self) -> io::Result<RecordStart> {
        let mut garbage = 0;
        loop {
            if garbage > 0 && self.stream.starts_with(BEGINNING)? {
                return Ok(RecordStart::Garbage(garbage));
            }
            match read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? {
                Line::End if garbage > 0 => return Ok(RecordStart::Garbage(garbage)),
                Line::End => return Ok(RecordStart::End),
                Line::Whole if self.line.starts_with(BEGINNING) => return Ok(RecordStart::Record),
                Line::Whole if self.line.trim_ascii().is_empty() => {}
                Line::Whole | Line::TooLong => garbage += self.line.len(),
            }
        }
    }

    /// Reads the head behind its first line; `None` when it is too long or does not end.
    fn head(&mut self) -> io::Result<Option<Head>> {
        let (mut head, mut bytes) = (Head::default(), 0);
        while bytes < MAX_HEAD_BYTES {
            if read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? != Line::Whole {
                return Ok(None);
            }
            bytes += self.line.len();
            let line = self.line.trim_ascii();
            if line.is_empty() {
                return Ok(Some(head));
            }
            // Lines without a colon are parts of fields that are of no interest here.
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let value = String::from_utf8_lossy(line[colon + 1..].trim_ascii()).into_owned();
            match line[..colon].to_ascii_lowercase().as_slice() {
                b"warc-type" => head.record.kind = value.to_ascii_lowercase(),
                // Old writers put the URI into brackets.
                b"warc-target-uri" => head.record.target = value.trim_matches(['<', '>']).to_owned(),
                b"content-type" => head.record.content_type = value,
                b"content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Passes over a block, at most to where the next record seems to begin: the length may be wrong.
    fn pass(&mut self, mut length: u64) -> io::Result<()> {
        let mut is_after_blank = false;
        while length > 0 {
            if is_after_blank && self.stream.starts_with(BEGINNING)? {
                return Ok(());
            }
            let limit = length.min(MAX_HEAD_BYTES as u64);
            self.line.clear();
            let read = (&mut self.stream).take(limit).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(());
            }
            is_after_blank = self.line == b"\r\n";
            length -= read as u64;
        }
        Ok(())
    }

    /// Goes back to where the next record begins inside a block, else on to where one begins behind it.
    fn resync(&mut self, mut block: Vec<u8>) -> io::Result<()> {
        // The beginning may reach beyond the block.
        (&mut self.stream).take(NEXT.len() as u64).read_to_end(&mut block)?;
        let next = block.windows(NEXT.len()).position(|window| window == NEXT);
        // Without one, the end of what was read may be the first part of one.
        self.stream.put_back(&block[next.unwrap_or(block.len().saturating_sub(NEXT.len()))..]);
        self.skip_to_next()
    }

    /// Goes on to the next line that begins a record, else to the end.
    fn skip_to_next(&mut self) -> io::Result<()> {
        while !self.stream.starts_with(BEGINNING)? {
            if read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? == Line::End {
                break;
            }
        }
        Ok(())
    }
}

/// Bytes before a record header.
enum RecordStart {
    /// The first line of a record was read.
    Record,
    /// So many bytes that are no record, at least.
    Garbage(usize),
    End,
}

/// Returns what a record calls itself, for people.
fn name(record: &Record) -> &str {
    if record.target.is_empty() { "a record" } else { &record.target }
}

/// A stream with bytes in front of it that had been read already.
struct PeekReader<R> {
    ahead: Cursor<Vec<u8>>,
    stream: R,
}

impl<R: BufRead> PeekReader<R> {
    /// Returns the next bytes without passing them: `count`, or fewer at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.waiting().len() < count {
            let buffer = self.stream.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let piece = buffer[..buffer.len().min(count)].to_vec();
            self.stream.consume(piece.len());
            let waiting = [self.waiting(), &piece].concat();
            self.ahead = Cursor::new(waiting);
        }
        let waiting = self.waiting();
        Ok(&waiting[..waiting.len().min(count)])
    }

    fn starts_with(&mut self, beginning: &[u8]) -> io::Result<bool> {
        Ok(self.peek(beginning.len())? == beginning)
    }

    fn put_back(&mut self, bytes: &[u8]) {
        self.ahead = Cursor::new([bytes, self.waiting()].concat());
    }

    fn waiting(&self) -> &[u8] {
        let at = usize::try_from(self.ahead.position()).unwrap_or(usize::MAX);
        self.ahead.get_ref().get(at..).unwrap_or_default()
    }
}

impl<R: BufRead> Read for PeekReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.ahead.read(out)? {
            0 => self.stream.read(out),
            count => Ok(count),
        }
    }
}

impl<R: BufRead> BufRead for PeekReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.waiting().is_empty() { self.stream.fill_buf() } else { self.ahead.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        if self.waiting().is_empty() {
            self.stream.consume(count);
        } else {
            self.ahead.consume(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: &str, target: &str, block: &str, length: usize) -> String {
        format!(
            "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {target}\r\nContent-Type: application/http\r\n\
             Content-Length: {length}\r\n\r\n{block}\r\n\r\n"
        )
    }

    fn good(target: &str) -> String {
        let block = format!("a block about {target}\r\n\r\nof two parts");
        record("response", target, &block, block.len())
    }

    /// Returns what a stream gives: targets of records, in brackets what is wrong.
    fn read_all(stream: &str) -> Vec<String> {
        let mut records = Records::new(io::BufReader::with_capacity(5, stream.as_bytes()));
        let mut all = Vec::new();
        while let Some(next) = records.next().unwrap() {
            all.push(match next {
                ReadOutcome::Record(record) => {
                    assert!(record.block.starts_with(b"a block about "));
                    record.target
                }
                ReadOutcome::TooLarge(what) => format!("({what} too large)"),
                ReadOutcome::Broken(reason) => format!("({reason})"),
            });
        }
        all
    }

    #[test]
    fn records_are_read_whole() {
        let mut records = Records::new(io::BufReader::with_capacity(3, b"".as_slice()));
        assert_eq!(records.next().unwrap(), None);
        let bracketed = record("Response", "<http://a.test/>", "one\r\n\r\n", 7);
        let mut records = Records::new(bracketed.as_bytes());
        let expected = Record {
            kind: "response".to_owned(),
            target: "http://a.test/".to_owned(),
            content_type: "application/http".to_owned(),
            block: b"one\r\n\r\n".to_vec(),
        };
        assert_eq!(records.next().unwrap(), Some(ReadOutcome::Record(expected)));
        assert_eq!(read_all(&[good("a"), good("b")].concat()), ["a", "b"]);
    }

    #[test]
    fn garbage_between_records_is_told_and_costs_nothing() {
        let garbage = "<<< garbage\r\nin lines\n\0\u{fffd}";
        assert_eq!(
            read_all(&[&*good("a"), garbage, "\n", &good("b"), garbage].concat()),
            ["a", "(27 bytes are no record)", "b", "(26 bytes are no record)"]
        );
    }

    #[test]
    fn a_wrong_length_costs_its_own_record_only() {
        for length in [0, 3, 11, 23, 25, 29, 30, 70, 160, 100_000, usize::MAX] {
            let block = "a block with a wrong end";
            let stream = [good("a"), record("response", "b", block, length), good("c"), good("d")].concat();
            let all = read_all(&stream);
            assert_eq!(all.len(), 4, "{length}: {all:?}");
            assert_eq!((&*all[0], &*all[2], &*all[3]), ("a", "c", "d"), "{length}");
            assert!(all[1].starts_with("(b "), "{length}: {all:?}");
        }
    }

    #[test]
    fn heads_without_length_and_without_end_are_broken() {
        let without = good("b").replace("Content-Length", "Content-Width");
        let all = read_all(&[good("a"), without, good("c")].concat());
        assert_eq!(all, ["a", "(b has no Content-Length)", "c"]);
        let endless = format!("WARC/1.0\r\n{}", "Name: value\r\n".repeat(10_000));
        let all = read_all(&[&*endless, "\r\n", &good("c")].concat());
        assert_eq!(all, ["(the head of a record does not end)", "c"]);
    }

    #[test]
    fn a_stream_that_ends_in_a_record_says_so() {
        let whole = good("b");
        for cut in [10, 60, whole.len() - 10] {
            let all = read_all(&[&*good("a"), &whole[..cut]].concat());
            assert_eq!(all.len(), 2, "{cut}: {all:?}");
            assert!(all[1].starts_with('('), "{cut}: {all:?}");
        }
    }
}
