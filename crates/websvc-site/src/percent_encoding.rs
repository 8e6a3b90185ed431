//! Normalization of percent-encoding (RFC 3986, section 6.2.2).

use std::fmt::Write;

/// Appends `text` in normalized form: encoded unreserved characters are decoded, the hexadecimal digits of other codes
/// are in upper case, and a percent sign without a code is encoded.
pub(crate) fn push_normalized(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(position) = rest.find('%') {
        out.push_str(&rest[..position]);
        match decoded_at(rest.as_bytes(), position) {
            Some(byte) => {
                push_byte(byte, out);
                rest = &rest[position + 3..];
            }
            None => {
                push_byte(b'%', out);
                rest = &rest[position + 1..];
            }
        }
    }
    out.push_str(rest);
}

/// Appends a byte: decoded if it is an unreserved character, else encoded.
fn push_byte(byte: u8, out: &mut String) {
    if is_unreserved(byte) {
        out.push(char::from(byte));
    } else {
        // Writing to a string does not fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

/// Returns the byte that the code at this position stands for; `None` if there is no code.
pub(crate) fn decoded_at(text: &[u8], position: usize) -> Option<u8> {
    let digits = text.get(position + 1..position + 3).filter(|_| text[position] == b'%')?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u8::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
}

/// Returns whether a byte is a character that needs no code.
pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
