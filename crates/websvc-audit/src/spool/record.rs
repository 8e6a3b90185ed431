//! The record of one event in a segment: a line with a checksum.

use sha2::{Digest, Sha256};

/// The number of hexadecimal digits of the checksum before an event.
const CHECKSUM_CHARS: usize = 16;

/// Returns the line of an event, with its line end. JSON on one line contains no line ends.
pub(super) fn encode(event: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(CHECKSUM_CHARS + event.len() + 2);
    line.extend_from_slice(&checksum(event));
    line.push(b' ');
    line.extend_from_slice(event);
    line.push(b'\n');
    line
}

/// Returns the event in a line without its line end; `None` if the line is damaged.
pub(super) fn decode(line: &[u8]) -> Option<&[u8]> {
    let (found, rest) = line.split_at_checked(CHECKSUM_CHARS)?;
    let event = rest.strip_prefix(b" ")?;
    (found == checksum(event)).then_some(event)
}

fn checksum(event: &[u8]) -> [u8; CHECKSUM_CHARS] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut checksum = [0; CHECKSUM_CHARS];
    for (digits, byte) in checksum.chunks_exact_mut(2).zip(Sha256::digest(event)) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_or_truncated_lines_are_rejected() {
        let line = encode(b"{}");
        let (end, line) = line.split_last().unwrap();
        assert_eq!((*end, decode(line)), (b'\n', Some(&b"{}"[..])));
        for length in 0..line.len() {
            assert_eq!(decode(&line[..length]), None, "{length} bytes");
            let mut damaged = line.to_vec();
            damaged[length] ^= 1;
            assert_eq!(decode(&damaged), None, "damaged at {length}");
        }
        assert_eq!(decode(&[0; 64]), None);
    }
}
