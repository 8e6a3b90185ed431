//! Characters and white space: visible characters, spaces, and characters that are dropped.

/// Number of pieces of a text that are searched in another text, and their length in letters.
const PIECES: usize = 12;
const PIECE_LETTERS: usize = 24;

/// Returns whether a character is invisible and has no meaning for a reader: zero-width space, word joiner, soft
/// hyphen, fillers, tag characters and variation selectors that can smuggle text, and marks that change the direction
/// of the following text, which would affect other text once this one is shortened. Joiners are not dropped, because
/// scripts and emoji need them, nor are direction marks that affect only their own position.
pub(crate) fn is_dropped(c: char) -> bool {
    if c < '\u{ad}' {
        return c.is_control() && !c.is_ascii_whitespace();
    }
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character only joins its neighbors or keeps them apart, which ASCII letters never need.
pub(crate) fn is_idle_joiner(c: char, previous: Option<char>) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
        && previous.is_none_or(|c| c.is_ascii() || matches!(c, '\u{200c}' | '\u{200d}'))
}

/// Returns whether a character collapses with adjacent ones into one space.
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' | '\u{2028}' | '\u{2029}')
        || (c > '\u{2000}' && c.is_whitespace())
}

/// Returns whether a letter belongs to a script without spaces between words: Chinese and Japanese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Appends `text` to `out` with collapsed white space and without invisible characters. `out` never ends with two
/// spaces.
pub(crate) fn push_collapsed(out: &mut String, text: &str) {
    let mut rest = text;
    loop {
        let (plain, other) = rest.split_at(collapsed_ascii(rest.as_bytes()));
        out.push_str(plain);
        let Some(c) = other.chars().next() else { return };
        rest = &other[c.len_utf8()..];
        if c == '\n' && joins(out, other) {
            rest = rest.trim_start_matches(is_space);
        } else if is_space(c) {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else if !is_dropped(c) && !is_idle_joiner(c, out.chars().next_back()) {
            out.push(c);
        }
    }
}

/// Returns the length of the part at the start of a text that needs no change: visible ASCII characters, with single
/// spaces between them.
fn collapsed_ascii(text: &[u8]) -> usize {
    let mut end = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'!'..=b'~' => end = at + 1,
            b' ' if end == at && at > 0 => {}
            _ => break,
        }
    }
    end
}

/// Returns whether the white space at the start of `rest`, a line break of the source, is between letters that are
/// written without spaces.
pub(crate) fn joins(before: &str, rest: &str) -> bool {
    before.chars().next_back().is_some_and(is_unspaced)
        && rest.chars().take(64).find(|&c| !is_space(c)).is_some_and(is_unspaced)
}

/// Returns `text` with white space collapsed and trimmed.
pub(crate) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_collapsed(&mut out, text);
    out.truncate(out.trim_end().len());
    out
}

/// Returns whether a string begins with `prefix`, ignoring ASCII case.
pub(crate) fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Returns the start of a text, at most `max` bytes.
pub(crate) fn start_of(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Shortens a text to `max` characters, at the end of a word if one is near.
pub(crate) fn shorten(text: &mut String, max: usize) {
    let Some((end, _)) = text.char_indices().nth(max) else { return };
    let whole_word = text[..end].rfind(' ').filter(|space| *space * 4 >= end * 3);
    text.truncate(whole_word.unwrap_or(end));
    text.truncate(text.trim_end().len());
}

/// Returns whether most pieces of a text are not in another text. Both are [letters](letters_of).
pub(crate) fn is_missing(letters: &str, visible: &str) -> bool {
    let letters: Vec<char> = letters.chars().collect();
    let step = (letters.len() / PIECES).max(1);
    let pieces: Vec<String> = (0..letters.len())
        .step_by(step)
        .filter_map(|at| Some(letters.get(at..at + PIECE_LETTERS)?.iter().collect()))
        .collect();
    let shown = pieces.iter().filter(|piece| visible.contains(piece.as_str())).count();
    shown * 3 < pieces.len()
}

/// Returns the letters and digits of a text in lower case.
pub(crate) fn letters_of(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ascii_collapse_as_single_characters_do() {
        for text in [
            "a b  c",
            " a b ",
            "ab \u{a0}c\td",
            "a\u{200c}b\u{ad}c é ü\u{200d}x",
            "",
            " ",
            "a \u{feff} b",
            "茶 a 茶",
        ] {
            let mut expected = "x".to_owned();
            text.chars().for_each(|c| push_collapsed(&mut expected, c.encode_utf8(&mut [0; 4])));
            let mut out = "x".to_owned();
            push_collapsed(&mut out, text);
            assert_eq!(out, expected, "{text:?}");
        }
        let mut out = String::new();
        push_collapsed(&mut out, "茶\n  茶 a\nb");
        assert_eq!(out, "茶茶 a b");
    }
}
