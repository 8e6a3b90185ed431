//! Cleaning of hostile text: it keeps what a reader sees, on one line and within a length.

/// Marks text that was shortened.
const ELLIPSIS: char = '…';

/// Returns text as one line of at most `max_chars` characters. Runs of whitespace and control characters become one
/// blank. Characters that change the direction or the order of the text around them, or that are invisible, are left
/// out.
pub(crate) fn clean_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    let mut is_blank_due = false;
    for character in text.chars().filter(|character| !is_deceptive(*character)) {
        if character.is_whitespace() || character.is_control() {
            is_blank_due = !line.is_empty();
            continue;
        }
        if chars + usize::from(is_blank_due) >= max_chars {
            return shortened(line, max_chars);
        }
        if std::mem::take(&mut is_blank_due) {
            line.push(' ');
            chars += 1;
        }
        line.push(character);
        chars += 1;
    }
    line
}

/// Returns a line of a diff as it is, except for characters that [`clean_line`] leaves out and control characters, which
/// become blanks.
pub(crate) fn clean_code(line: &str, max_chars: usize) -> String {
    let mut code = String::new();
    for (count, character) in line.chars().filter(|character| !is_deceptive(*character)).enumerate() {
        if count == max_chars {
            return shortened(code, max_chars);
        }
        let is_separator = matches!(character, '\u{2028}' | '\u{2029}');
        code.push(if character.is_control() || is_separator { ' ' } else { character });
    }
    code
}

/// Replaces the last character by an ellipsis, so that the text still has `max_chars` characters.
fn shortened(mut text: String, max_chars: usize) -> String {
    if text.chars().count() >= max_chars {
        text.pop();
    }
    text.truncate(text.trim_end().len());
    text.push(ELLIPSIS);
    text
}

/// Returns whether a character is invisible or reorders text (Unicode Standard Annex 9), or is not a character.
///
/// The joiners U+200C and U+200D stay, because words of some languages and emoji need them.
fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    ) || is_noncharacter(character)
}

fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean_line(text, 10), expected);
    }

    #[test]
    fn line_has_no_breaks_and_no_invisible_characters() {
        check("a\r\nBcc: b", "a Bcc: b");
        check("  a \t b  ", "a b");
        check("a\0\u{7}b\u{85}c", "a b c");
        check("\u{202e}abc\u{202c}\u{2066}\u{200b}\u{feff}", "abc");
        check("a\u{2028}b\u{fffe}", "a b");
        check("\u{0}\n", "");
    }

    #[test]
    fn line_is_shortened_to_the_limit() {
        check("0123456789", "0123456789");
        check("0123456789a", "012345678…");
        check("01234567 9a", "01234567…");
        check("012345678 a", "012345678…");
        check("äöüäöüäöüäöü", "äöüäöüäöü…");
    }

    #[test]
    fn code_keeps_its_indentation() {
        assert_eq!(clean_code("+  a\tb", 10), "+  a b");
        assert_eq!(clean_code("-\u{202e}x\r", 10), "-x ");
        assert_eq!(clean_code("+0123456789", 10), "+01234567…");
    }
}
