//! The encodings of mail: quoted-printable, base64, words in headers, and parameters.

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::Encoding;

use crate::text_encoding::decode_text;

/// The maximum length of an encoded word. The standard allows 75, and programs write more.
const MAX_WORD_BYTES: usize = 4096;

/// Decodes base64, also if it is incomplete or has other characters in it.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&ALPHABET, config);
    let mut symbols: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        .collect();
    // A single symbol at the end has no whole byte.
    if symbols.len() % 4 == 1 {
        symbols.pop();
    }
    engine.decode(symbols).unwrap_or_default()
}

/// Decodes quoted-printable. In a header, `_` is a space.
pub(super) fn quoted_printable(text: &[u8], is_header: bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'_' if is_header => bytes.push(b' '),
            b'=' => {
                // A soft line break, possibly after spaces that were added on the way.
                let end = after.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                if end.is_some_and(|end| after[end] == b'\n') {
                    rest = &after[end.unwrap_or_default() + 1..];
                } else if end.is_none() {
                    rest = &[];
                } else if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    bytes.push(byte);
                    rest = &after[2..];
                } else {
                    bytes.push(b'=');
                }
            }
            other => bytes.push(*other),
        }
    }
    bytes
}

/// Decodes text in a named encoding, or detects the encoding if the name is unknown.
pub(super) fn charset(bytes: &[u8], name: &str) -> String {
    match Encoding::for_label(name.trim().as_bytes()) {
        // Programs declare ASCII for whatever they send.
        Some(encoding) if !matches!(name.trim().to_ascii_lowercase().as_str(), "us-ascii" | "ascii") => {
            encoding.decode(bytes).0.into_owned()
        }
        _ => decode_text(bytes),
    }
}

/// Decodes the encoded words of a header, such as `=?utf-8?q?f=C3=BCr?=` (RFC 2047).
pub(super) fn decode_words(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    // The bytes of words in the same encoding are joined: a character may be divided between them.
    let mut pending: Option<(String, Vec<u8>)> = None;
    while let Some(at) = rest.find("=?") {
        let Some((charset_name, bytes, length)) = word(&rest[at..]) else {
            flush(&mut pending, &mut decoded);
            decoded.push_str(&rest[..at + 2]);
            rest = &rest[at + 2..];
            continue;
        };
        // White space between encoded words is not content.
        if pending.is_none() || !rest[..at].trim().is_empty() {
            flush(&mut pending, &mut decoded);
            decoded.push_str(&rest[..at]);
        }
        match &mut pending {
            Some((name, all)) if *name == charset_name => all.extend(bytes),
            _ => {
                flush(&mut pending, &mut decoded);
                pending = Some((charset_name, bytes));
            }
        }
        rest = &rest[at + length..];
    }
    flush(&mut pending, &mut decoded);
    decoded.push_str(rest);
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn flush(pending: &mut Option<(String, Vec<u8>)>, decoded: &mut String) {
    if let Some((name, bytes)) = pending.take() {
        decoded.push_str(&charset(&bytes, &name));
    }
}

/// Returns the charset, the bytes and the length of the encoded word at the start of a text.
fn word(text: &str) -> Option<(String, Vec<u8>, usize)> {
    let inner = &text[2..text.floor_char_boundary(MAX_WORD_BYTES)];
    let (name, rest) = inner.split_once('?')?;
    let (method, rest) = rest.split_once('?')?;
    let end = rest.find("?=")?;
    let content = &rest.as_bytes()[..end];
    let bytes = match method {
        "B" | "b" => base64(content),
        "Q" | "q" => quoted_printable(content, true),
        _ => return None,
    };
    let length = 2 + name.len() + 1 + method.len() + 1 + end + 2;
    // A language may follow the charset.
    Some((name.split('*').next().unwrap_or_default().to_ascii_lowercase(), bytes, length))
}

/// Decodes `%`-encoded bytes of a parameter such as `UTF-8''na%C3%AFve.txt` (RFC 2231).
pub(super) fn decode_parameter(value: &str) -> String {
    let mut parts = value.splitn(3, '\'');
    let (name, _, content) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), Some(language), Some(content)) => (name, language, content),
        _ => ("utf-8", "", value),
    };
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(content).collect();
    charset(&bytes, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_words_are_decoded() {
        for (text, expected) in [
            ("Lampen =?utf-8?q?f=C3=BCr_M=C3=A4rz?=", "Lampen für März"),
            ("=?UTF-8?B?R3LDvA==?= =?UTF-8?B?w59l?=", "Grüße"),
            ("=?utf-8?q?a=C3?= =?utf-8?q?=BC?=", "aü"),
            ("=?iso-8859-1?Q?=E4?= b", "ä b"),
            ("=?utf-8?x?a?= =?", "=?utf-8?x?a?= =?"),
            ("plain", "plain"),
        ] {
            assert_eq!(decode_words(text), expected, "{text}");
        }
    }

    #[test]
    fn bodies_are_decoded() {
        assert_eq!(quoted_printable(b"Gr=C3=BC=\r\n=C3=9Fe =XY=", false), "Grüße =XY".as_bytes());
        assert_eq!(base64(b"R3LD\r\nvMOf*ZQ="), "Grüße".as_bytes());
        assert_eq!(base64(b"Z"), b"");
        assert_eq!(decode_parameter("UTF-8''na%C3%AFve.txt"), "naïve.txt");
    }
}
