//! One spelling for percent-encoding (RFC 3986, section 6.2.2).

use std::fmt::Write;

/// Writes what need not be encoded as it is, the rest with upper case digits, and a percent sign that begins no code as
/// one.
pub(crate) fn push(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.as_bytes() {
            [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                push_byte(digit(*high) << 4 | digit(*low), out);
                rest = &rest[2..];
            }
            _ => push_byte(b'%', out),
        }
    }
    out.push_str(rest);
}

fn push_byte(byte: u8, out: &mut String) {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
        out.push(char::from(byte));
    } else {
        // Writing to a text does not fail.
        let _ = write!(out, "%{byte:02X}");
    }
}

fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}
