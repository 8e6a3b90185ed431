//! The text strings of PDF, and characters that are made plain.

/// Decodes a text string: UTF-16 or UTF-8 with a mark, else the encoding of PDF documents.
pub(super) fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // Many writers forget the mark.
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().map(|byte| pdf_doc_character(*byte)).collect(),
        },
    }
}

fn utf16(bytes: &[u8], join: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| join([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Returns the character of a byte; it is Latin-1 but for these (PDF 32000-1, annex D.2).
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

/// Gives a character as it is searched for: ligatures as letters, odd spaces as spaces, symbols of private use as
/// what they show.
pub(super) fn plain(character: char, mut give: impl FnMut(char)) {
    match character {
        'ﬀ' => "ff".chars().for_each(give),
        'ﬁ' => "fi".chars().for_each(give),
        'ﬂ' => "fl".chars().for_each(give),
        'ﬃ' => "ffi".chars().for_each(give),
        'ﬄ' => "ffl".chars().for_each(give),
        'ﬅ' | 'ﬆ' => "st".chars().for_each(give),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\t' | '\n' | '\r' => {
            give(' ');
        }
        // Bullets of the fonts Symbol and Wingdings, in their usual place.
        '\u{f0b7}' | '\u{f0a7}' | '\u{f0a8}' | '\u{f06c}' | '\u{f06e}' | '\u{f0d8}' | '\u{f076}' => give('•'),
        '\u{f02d}' => give('−'),
        '\u{f0fc}' => give('✓'),
        // Marks without width, and what fonts use for themselves.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => {}
        '\u{e0000}'..='\u{e007f}' => {}
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => {}
        other => give(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_decoded_by_their_mark() {
        assert_eq!(decoded(b"\xfe\xff\x00T\x20\xac"), "T€");
        assert_eq!(decoded(b"\xff\xfeT\x00"), "T");
        assert_eq!(decoded("\u{feff}é".as_bytes()), "é");
        assert_eq!(decoded(b"na\xefve \x80"), "naïve •");
    }

    #[test]
    fn ligatures_become_letters_and_marks_without_width_go() {
        let mut text = String::new();
        "eﬃcient\u{200b}\u{a0}ﬂow".chars().for_each(|c| plain(c, |c| text.push(c)));
        assert_eq!(text, "efficient flow");
    }
}
