//! Decodes text of an unknown encoding.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Decodes text: by its byte order mark, else as UTF-8 if it is valid, else as Windows-1252.
pub(crate) fn decode_text(bytes: &[u8]) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}
