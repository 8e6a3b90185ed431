//! Normalization of percent-encoding (RFC 3986, section 6.2.2).

use std::fmt::Write;

/// Appends `text` in normalized form: encoded unreserved characters are decoded, the hexadecimal digits of other codes
/// are in upper case, and a percent sign without a code is encoded.
pub(crate) fn push_normalized(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(position) = rest.find('%') {
        out.push_str(&rest[..position]);
        rest = &rest[position + 1..];
        let digits = rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                push_byte(byte, out);
                rest = &rest[2..];
            }
            None => push_byte(b'%', out),
        }
    }
    out.push_str(rest);
}

/// Appends a byte: decoded if it is an unreserved character, else encoded.
fn push_byte(byte: u8, out: &mut String) {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        out.push(char::from(byte));
    } else {
        // Writing to a string does not fail.
        let _ = write!(out, "%{byte:02X}");
    }
}
