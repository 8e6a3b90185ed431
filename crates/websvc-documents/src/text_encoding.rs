//! Decodes text of an unknown encoding.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The number of bytes in which UTF-16 without a byte order mark is detected.
const SAMPLE_BYTES: usize = 1024;

/// Decodes text: by its byte order mark, else as UTF-16 if every second byte is zero, else as UTF-8 if it is valid, else
/// as Windows-1252.
pub(crate) fn decode_text(bytes: &[u8]) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if has_zeros(bytes, 1) => UTF_16LE,
        None if has_zeros(bytes, 0) => UTF_16BE,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}

/// Decodes text with a byte order mark: UTF-16 or UTF-8; `None` if it has none.
pub(crate) fn decode_marked(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(utf16(rest, u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] => Some(String::from_utf8_lossy(rest).into_owned()),
        _ => None,
    }
}

/// Decodes UTF-16. A byte without a second one at the end is left out.
pub(crate) fn utf16(bytes: &[u8], from_bytes: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| from_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Returns whether most units of two bytes have a zero at this position, as Latin text in UTF-16 does, and none at the
/// other one.
fn has_zeros(bytes: &[u8], position: usize) -> bool {
    let units = bytes[..bytes.len().min(SAMPLE_BYTES)].chunks_exact(2);
    let count = units.len();
    let zeros = units.clone().filter(|unit| unit[position] == 0).count();
    count >= 2 && zeros * 10 >= count * 8 && units.clone().all(|unit| unit[1 - position] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_detected() {
        assert_eq!(decode_text(b"\xff\xfea\0;\0b\0"), "a;b");
        assert_eq!(decode_text(b"a\0;\0b\0"), "a;b");
        assert_eq!(decode_text(b"\0a\0;\0b"), "a;b");
        assert_eq!(decode_text("ä;b".as_bytes()), "ä;b");
        assert_eq!(decode_text(b"\xe4;b"), "ä;b");
        assert_eq!(decode_text(b""), "");
    }
}
