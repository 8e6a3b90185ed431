//! Reading of lines with bounded memory.

use std::io::{self, BufRead, Read};

/// The outcome of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The line is in the buffer, with its line feed unless the stream ended.
    Complete,
    /// The line is longer than the limit and was skipped. Its beginning is in the buffer.
    TooLong,
    /// The stream has no more lines.
    End,
}

/// Reads a line into `line`, at most `limit` bytes of it.
///
/// # Errors
/// The stream fails. The part of the line that was read is in the buffer.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Line> {
    line.clear();
    if input.by_ref().take(limit as u64).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    let is_cut = line.len() == limit && !line.ends_with(b"\n") && input.skip_until(b'\n')? > 0;
    Ok(if is_cut { Line::TooLong } else { Line::Complete })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_line_is_skipped_and_the_next_line_is_read() {
        let text = format!("one\n{}\nthree", "x".repeat(50_000));
        let mut input = io::BufReader::with_capacity(64, text.as_bytes());
        let mut line = Vec::new();
        assert_eq!(read_line(&mut input, &mut line, 100).unwrap(), Line::Complete);
        assert_eq!(line, b"one\n");
        assert_eq!(read_line(&mut input, &mut line, 100).unwrap(), Line::TooLong);
        assert_eq!(line.len(), 100);
        assert!(line.capacity() < 1_000, "the rest is not stored");
        assert_eq!(read_line(&mut input, &mut line, 100).unwrap(), Line::Complete);
        assert_eq!(line, b"three");
        assert_eq!(read_line(&mut input, &mut line, 100).unwrap(), Line::End);
    }

    #[test]
    fn line_of_exactly_the_limit_is_complete() {
        let mut line = Vec::new();
        assert_eq!(read_line(&mut &b"four\nfive5\n"[..], &mut line, 5).unwrap(), Line::Complete);
        assert_eq!(read_line(&mut &b"five5\n"[..], &mut line, 5).unwrap(), Line::TooLong);
    }
}
