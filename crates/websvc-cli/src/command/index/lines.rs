//! Lines of a stream, of which none takes more memory than a limit.

use std::io::{self, BufRead, Read};

/// Outcome of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It is in the buffer, with its line feed unless the stream ended.
    Whole,
    /// It is longer than the limit and was passed over; its beginning is in the buffer.
    TooLong,
    /// There is none.
    End,
}

/// Reads a line into `line`, at most `limit` bytes of it.
///
/// # Errors
/// Those of the stream; what was read of the line until then is in the buffer.
pub(super) fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>, limit: usize) -> io::Result<Line> {
    line.clear();
    if from.by_ref().take(limit as u64).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    let is_cut = line.len() == limit && !line.ends_with(b"\n") && from.skip_until(b'\n')? > 0;
    Ok(if is_cut { Line::TooLong } else { Line::Whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_passed_over_and_the_next_one_is_read() {
        let text = format!("one\n{}\nthree", "x".repeat(50_000));
        let mut from = io::BufReader::with_capacity(64, text.as_bytes());
        let mut line = Vec::new();
        assert_eq!(read_line(&mut from, &mut line, 100).unwrap(), Line::Whole);
        assert_eq!(line, b"one\n");
        assert_eq!(read_line(&mut from, &mut line, 100).unwrap(), Line::TooLong);
        assert_eq!(line.len(), 100);
        assert!(line.capacity() < 1_000, "the rest is not kept");
        assert_eq!(read_line(&mut from, &mut line, 100).unwrap(), Line::Whole);
        assert_eq!(line, b"three");
        assert_eq!(read_line(&mut from, &mut line, 100).unwrap(), Line::End);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        let mut line = Vec::new();
        assert_eq!(read_line(&mut &b"four\nfive5\n"[..], &mut line, 5).unwrap(), Line::Whole);
        assert_eq!(read_line(&mut &b"five5\n"[..], &mut line, 5).unwrap(), Line::TooLong);
    }
}
