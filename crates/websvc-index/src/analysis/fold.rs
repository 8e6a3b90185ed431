//! Folding of letters that differ only by accents, ligatures or width.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Appends `lower` (lower-case text) to `out` without diacritics: `é` as `e`, `ß` as `ss`, `ﬁ` as `fi`.
///
/// Cyrillic `й` stays, and so do the marks of scripts in which they are vowels (Indic, Thai).
pub(crate) fn fold(lower: &str, out: &mut String) {
    if lower.is_ascii() {
        out.push_str(lower);
        return;
    }
    for c in lower.chars() {
        match c {
            '\0'..='\u{7f}' | 'й' => out.push(c),
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' | 'ð' => out.push('d'),
            'þ' => out.push_str("th"),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            // Hangul would be decomposed into single letters; ideographs need no folding.
            '\u{3040}'..='\u{d7ff}' => out.push(c),
            _ => decompose_compatible(c, |part| {
                if !is_dropped(part) {
                    out.push(part);
                }
            }),
        }
    }
}

/// Returns the folded form of `lower`.
pub(crate) fn folded(lower: &str) -> String {
    let mut out = String::with_capacity(lower.len());
    fold(lower, &mut out);
    out
}

/// Returns true if `c` is a mark that does not change the word: accents, Hebrew points, Arabic vowel signs.
fn is_dropped(c: char) -> bool {
    is_combining_mark(c)
        && matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
        || matches!(c, '\u{640}' | '\u{ad}' | '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn accents_ligatures_and_width_are_folded() {
        let cases = [
            ("café", "cafe"),
            ("straße", "strasse"),
            ("ﬁnal", "final"),
            ("smørrebrød", "smorrebrod"),
            ("ёлка", "елка"),
            ("район", "район"),
            ("한국", "한국"),
            ("東京", "東京"),
            ("ｆｕｌｌ", "full"),
            ("հայ", "հայ"),
        ];
        for (from, to) in cases {
            assert_eq!(folded(from), to);
        }
    }
}
