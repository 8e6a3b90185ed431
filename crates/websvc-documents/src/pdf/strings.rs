//! Decodes the text strings of PDF, and normalizes characters.

use crate::text_encoding::decode_marked;

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, valid UTF-8, or else PDFDocEncoding.
pub(super) fn decode_text(bytes: &[u8]) -> String {
    // Many writers omit the byte order mark.
    decode_marked(bytes).unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| pdf_doc_character(*byte)).collect(),
    })
}

/// Returns the character of a byte in PDFDocEncoding (PDF 32000-1, annex D.2), which is Latin-1 except for two ranges.
fn pdf_doc_character(byte: u8) -> char {
    const FROM_18: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const FROM_80: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ',
        'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x18..=0x1f => FROM_18[usize::from(byte - 0x18)],
        0x80..=0xa0 => FROM_80[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Normalizes a character for search, and passes the result to `push`: ligatures become letters, special spaces
/// become spaces, and private-use symbols become the symbols that they show.
pub(super) fn normalize(character: char, mut push: impl FnMut(char)) {
    match character {
        'ﬀ' => "ff".chars().for_each(push),
        'ﬁ' => "fi".chars().for_each(push),
        'ﬂ' => "fl".chars().for_each(push),
        'ﬃ' => "ffi".chars().for_each(push),
        'ﬄ' => "ffl".chars().for_each(push),
        'ﬅ' | 'ﬆ' => "st".chars().for_each(push),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\t' | '\n' | '\r' => {
            push(' ');
        }
        // Bullets of the fonts Symbol and Wingdings, at their usual code points.
        '\u{f0b7}' | '\u{f0a7}' | '\u{f0a8}' | '\u{f06c}' | '\u{f06e}' | '\u{f0d8}' | '\u{f076}' => push('•'),
        '\u{f02d}' => push('−'),
        '\u{f0fc}' => push('✓'),
        // Zero-width characters, tags and control characters.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {}
        '\u{e0000}'..='\u{e007f}' => {}
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {}
        other => push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_are_decoded_by_their_byte_order_mark() {
        assert_eq!(decode_text(b"\xfe\xff\x00T\x20\xac"), "T€");
        assert_eq!(decode_text(b"\xff\xfeT\x00"), "T");
        assert_eq!(decode_text("\u{feff}é".as_bytes()), "é");
        assert_eq!(decode_text(b"na\xefve \x80"), "naïve •");
    }

    #[test]
    fn normalize_splits_ligatures_and_removes_zero_width_marks() {
        let mut text = String::new();
        "eﬃcient\u{200b}\u{a0}ﬂow".chars().for_each(|c| normalize(c, |c| text.push(c)));
        assert_eq!(text, "efficient flow");
    }
}
