//! Classes of characters that the lexer, the tree and the printer share.

use std::str::FromStr;

/// Returns whether `c` separates words: white space, control characters, the zero width space.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{200b}'
}

/// Returns whether `c` starts or ends a phrase: ASCII, typographic and full-width double quotes.
pub(crate) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ff02}')
}

/// Returns whether `c` negates what directly follows it: the ASCII and the full-width hyphen.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{ff0d}')
}

pub(crate) fn is_open(c: char) -> bool {
    matches!(c, '(' | '\u{ff08}')
}

pub(crate) fn is_close(c: char) -> bool {
    matches!(c, ')' | '\u{ff09}')
}

/// Returns whether a word ends before `c`: words have no white space, quotes and parentheses.
pub(crate) fn ends_word(c: char) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => ends_ascii_word(byte),
        _ => is_space(c) || is_quote(c) || is_open(c) || is_close(c),
    }
}

pub(crate) fn ends_ascii_word(byte: u8) -> bool {
    matches!(byte, 0..=b' ' | b'"' | b'(' | b')' | 0x7f)
}

/// Parses a number that consists of digits only, without a sign.
pub(crate) fn digits<T: FromStr>(text: &str) -> Option<T> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}
