//! A reader of WARC streams (ISO 28500) that tolerates damage.
//!
//! A record consists of a head, a block of as many bytes as the head declares, and two line ends. If the line ends do
//! not follow the block, the declared length is wrong. Reading then continues at the next line that starts a record,
//! which may be inside the block. So a wrong length affects only its own record.

use std::io::{self, BufRead, Cursor, ErrorKind, Read};

use super::lines::{Line, read_line};

/// Maximum size of a block. No page has more text.
pub(super) const MAX_BLOCK_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum size of the head of a record.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The first bytes of every record.
const RECORD_PREFIX: &[u8] = b"WARC/";
/// The end of a block followed by the next record.
const NEXT_RECORD: &[u8] = b"\r\n\r\nWARC/";

/// A complete record.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// Type of the record, in lower case.
    pub(super) kind: String,
    /// Target URI of the record; empty if the header has none.
    pub(super) target: String,
    /// Media type of the block.
    pub(super) content_type: String,
    /// Content of the record.
    pub(super) block: Vec<u8>,
}

/// The outcome of reading a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadOutcome {
    /// A record.
    Record(Record),
    /// The target of a record that is larger than [`MAX_BLOCK_BYTES`].
    TooLarge(String),
    /// The reason why a part of the stream is not a complete record.
    Broken(String),
}

/// A stream of records.
pub(super) struct Records<R> {
    /// The stream, with the bytes that were read ahead.
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

    /// Returns the next record or damaged part. Returns `None` at the end.
    ///
    /// # Errors
    /// The stream fails. Damage after which reading can continue is [`ReadOutcome::Broken`] instead.
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
        match self.find_record()? {
            RecordStart::End => return Ok(None),
            RecordStart::Garbage(bytes) => {
                return Ok(Some(ReadOutcome::Broken(format!("{bytes} bytes are not a record"))));
            }
            RecordStart::Record => {}
        }
        let Some(Head { mut record, length }) = self.read_head()? else {
            self.skip_to_next()?;
            return Ok(Some(ReadOutcome::Broken("unterminated record head".to_owned())));
        };
        let Some(length) = length else {
            self.skip_to_next()?;
            return Ok(Some(ReadOutcome::Broken(format!("{} has no Content-Length", name(&record)))));
        };
        if length > MAX_BLOCK_BYTES {
            self.skip_block(length)?;
            return Ok(Some(ReadOutcome::TooLarge(name(&record).to_owned())));
        }
        (&mut self.stream).take(length).read_to_end(&mut record.block)?;
        let is_complete = record.block.len() as u64 == length;
        if is_complete && self.is_at_end_of_record()? {
            return Ok(Some(ReadOutcome::Record(record)));
        }
        let reason = if is_complete { "has a wrong Content-Length" } else { "is truncated" };
        let reason = format!("{} {reason}", name(&record));
        self.resync(record.block)?;
        Ok(Some(ReadOutcome::Broken(reason)))
    }

    /// Returns `true` if the block is followed by two line ends or the end of the stream.
    fn is_at_end_of_record(&mut self) -> io::Result<bool> {
        let following = self.stream.peek(4)?;
        Ok(following == b"\r\n\r\n"
            || following.starts_with(b"\n\n")
            || following.len() < 4 && following.trim_ascii().is_empty())
    }

    /// Moves after the first line of the next record. If there is garbage, stops between the garbage and the record.
    fn find_record(&mut self) -> io::Result<RecordStart> {
        let mut garbage = 0;
        loop {
            if garbage > 0 && self.stream.starts_with(RECORD_PREFIX)? {
                return Ok(RecordStart::Garbage(garbage));
            }
            match read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? {
                Line::End if garbage > 0 => return Ok(RecordStart::Garbage(garbage)),
                Line::End => return Ok(RecordStart::End),
                Line::Complete if self.line.starts_with(RECORD_PREFIX) => return Ok(RecordStart::Record),
                Line::Complete if self.line.trim_ascii().is_empty() => {}
                Line::Complete | Line::TooLong => garbage += self.line.len(),
            }
        }
    }

    /// Reads the rest of a head after its first line. Returns `None` if it is too long or unterminated.
    fn read_head(&mut self) -> io::Result<Option<Head>> {
        let (mut head, mut bytes) = (Head::default(), 0);
        while bytes < MAX_HEAD_BYTES {
            if read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? != Line::Complete {
                return Ok(None);
            }
            bytes += self.line.len();
            let line = self.line.trim_ascii();
            if line.is_empty() {
                return Ok(Some(head));
            }
            // A line without a colon continues a field, which is not needed here.
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let value = String::from_utf8_lossy(line[colon + 1..].trim_ascii()).into_owned();
            match line[..colon].to_ascii_lowercase().as_slice() {
                b"warc-type" => head.record.kind = value.to_ascii_lowercase(),
                // Old writers put the URI into angle brackets.
                b"warc-target-uri" => head.record.target = value.trim_matches(['<', '>']).to_owned(),
                b"content-type" => head.record.content_type = value,
                b"content-length" => head.length = value.parse().ok(),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Skips a block, at most up to the apparent start of the next record, because the length may be wrong.
    fn skip_block(&mut self, mut length: u64) -> io::Result<()> {
        let mut is_after_blank = false;
        while length > 0 {
            if is_after_blank && self.stream.starts_with(RECORD_PREFIX)? {
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

    /// Moves back to the start of the next record inside a block, or forward to the next record after it.
    fn resync(&mut self, mut block: Vec<u8>) -> io::Result<()> {
        // The prefix of the next record may cross the end of the block.
        (&mut self.stream).take(NEXT_RECORD.len() as u64).read_to_end(&mut block)?;
        let next = block.windows(NEXT_RECORD.len()).position(|window| window == NEXT_RECORD);
        // If there is none, the last bytes may be the beginning of a prefix.
        self.stream.put_back(&block[next.unwrap_or(block.len().saturating_sub(NEXT_RECORD.len()))..]);
        self.skip_to_next()
    }

    /// Moves to the next line that starts a record, or to the end.
    fn skip_to_next(&mut self) -> io::Result<()> {
        while !self.stream.starts_with(RECORD_PREFIX)? {
            if read_line(&mut self.stream, &mut self.line, MAX_HEAD_BYTES)? == Line::End {
                break;
            }
        }
        Ok(())
    }
}

/// The outcome of the search for a record.
enum RecordStart {
    /// The first line of a record was read.
    Record,
    /// At least this many bytes are not a record.
    Garbage(usize),
    End,
}

/// Returns the name of a record for messages.
fn name(record: &Record) -> &str {
    if record.target.is_empty() { "a record" } else { &record.target }
}

/// A stream with a buffer of bytes that were read ahead.
struct PeekReader<R> {
    ahead: Cursor<Vec<u8>>,
    stream: R,
}

impl<R: BufRead> PeekReader<R> {
    /// Returns the next `count` bytes without consuming them, or fewer at the end.
    fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.buffered().len() < count {
            let buffer = self.stream.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let chunk = buffer[..buffer.len().min(count)].to_vec();
            self.stream.consume(chunk.len());
            let buffered = [self.buffered(), &chunk].concat();
            self.ahead = Cursor::new(buffered);
        }
        let buffered = self.buffered();
        Ok(&buffered[..buffered.len().min(count)])
    }

    fn starts_with(&mut self, prefix: &[u8]) -> io::Result<bool> {
        Ok(self.peek(prefix.len())? == prefix)
    }

    fn put_back(&mut self, bytes: &[u8]) {
        self.ahead = Cursor::new([bytes, self.buffered()].concat());
    }

    fn buffered(&self) -> &[u8] {
        let position = usize::try_from(self.ahead.position()).unwrap_or(usize::MAX);
        self.ahead.get_ref().get(position..).unwrap_or_default()
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
        if self.buffered().is_empty() { self.stream.fill_buf() } else { self.ahead.fill_buf() }
    }

    fn consume(&mut self, count: usize) {
        if self.buffered().is_empty() {
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

    fn valid_record(target: &str) -> String {
        let block = format!("a block about {target}\r\n\r\nof two parts");
        record("response", target, &block, block.len())
    }

    /// Returns the targets of the records of a stream, and errors in parentheses.
    fn read_all(stream: &str) -> Vec<String> {
        let mut records = Records::new(io::BufReader::with_capacity(5, stream.as_bytes()));
        let mut all = Vec::new();
        while let Some(next) = records.next().unwrap() {
            all.push(match next {
                ReadOutcome::Record(record) => {
                    assert!(record.block.starts_with(b"a block about "));
                    record.target
                }
                ReadOutcome::TooLarge(target) => format!("({target} too large)"),
                ReadOutcome::Broken(reason) => format!("({reason})"),
            });
        }
        all
    }

    #[test]
    fn records_are_read_completely() {
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
        assert_eq!(read_all(&[valid_record("a"), valid_record("b")].concat()), ["a", "b"]);
    }

    #[test]
    fn garbage_between_records_is_reported() {
        let garbage = "<<< garbage\r\nin lines\n\0\u{fffd}";
        assert_eq!(
            read_all(&[&*valid_record("a"), garbage, "\n", &valid_record("b"), garbage].concat()),
            ["a", "(27 bytes are not a record)", "b", "(26 bytes are not a record)"]
        );
    }

    #[test]
    fn wrong_length_affects_only_its_own_record() {
        for length in [0, 3, 11, 23, 25, 29, 30, 70, 160, 100_000, usize::MAX] {
            let block = "a block with a wrong end";
            let stream = [
                valid_record("a"),
                record("response", "b", block, length),
                valid_record("c"),
                valid_record("d"),
            ]
            .concat();
            let all = read_all(&stream);
            assert_eq!(all.len(), 4, "{length}: {all:?}");
            assert_eq!((&*all[0], &*all[2], &*all[3]), ("a", "c", "d"), "{length}");
            assert!(all[1].starts_with("(b "), "{length}: {all:?}");
        }
    }

    #[test]
    fn head_without_length_or_end_is_broken() {
        let without = valid_record("b").replace("Content-Length", "Content-Width");
        let all = read_all(&[valid_record("a"), without, valid_record("c")].concat());
        assert_eq!(all, ["a", "(b has no Content-Length)", "c"]);
        let endless = format!("WARC/1.0\r\n{}", "Name: value\r\n".repeat(10_000));
        let all = read_all(&[&*endless, "\r\n", &valid_record("c")].concat());
        assert_eq!(all, ["(unterminated record head)", "c"]);
    }

    #[test]
    fn truncated_record_is_broken() {
        let whole = valid_record("b");
        for cut in [10, 60, whole.len() - 10] {
            let all = read_all(&[&*valid_record("a"), &whole[..cut]].concat());
            assert_eq!(all.len(), 2, "{cut}: {all:?}");
            assert!(all[1].starts_with('('), "{cut}: {all:?}");
        }
    }
}
