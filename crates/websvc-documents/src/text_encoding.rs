//! Bytes of text of an unknown encoding.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Decodes text: by its mark, else UTF-8 when it is that, else Windows-1252.
pub(crate) fn decoded(bytes: &[u8]) -> String {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if std::str::from_utf8(bytes).is_ok() => UTF_8,
        None => WINDOWS_1252,
    };
    encoding.decode(bytes).0.into_owned()
}
