//! One event in a file of the spool: a line that can be told from a damaged one.

use sha2::{Digest, Sha256};

/// The hexadecimal digits of the check before each event.
const CHECK_CHARS: usize = 16;

/// Returns the line of an event, with its end. JSON on one line has no line ends within.
pub(super) fn encode(event: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(CHECK_CHARS + event.len() + 2);
    line.extend_from_slice(&check(event));
    line.push(b' ');
    line.extend_from_slice(event);
    line.push(b'\n');
    line
}

/// Returns the event of a line without its end; `None` when it is damaged.
pub(super) fn decode(line: &[u8]) -> Option<&[u8]> {
    let (found, rest) = line.split_at_checked(CHECK_CHARS)?;
    let event = rest.strip_prefix(b" ")?;
    (found == check(event)).then_some(event)
}

fn check(event: &[u8]) -> [u8; CHECK_CHARS] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut check = [0; CHECK_CHARS];
    for (digits, byte) in check.chunks_exact_mut(2).zip(Sha256::digest(event)) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_whole_or_it_is_none() {
        let line = encode(b"{}");
        let (end, line) = line.split_last().unwrap();
        assert_eq!((*end, decode(line)), (b'\n', Some(&b"{}"[..])));
        for at in 0..line.len() {
            assert_eq!(decode(&line[..at]), None, "{at} bytes of it");
            let mut damaged = line.to_vec();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged), None, "damaged at {at}");
        }
        assert_eq!(decode(&[0; 64]), None);
    }
}
