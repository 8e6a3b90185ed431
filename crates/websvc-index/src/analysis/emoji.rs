//! Emoji, each of which is a word.

/// Joins emoji to one: a family is several persons.
const JOINER: char = '\u{200d}';

/// Returns the end of the emoji at byte `start` of a text; `None` if there is none.
pub(super) fn end(text: &str, start: usize) -> Option<usize> {
    let mut chars = text[start..].chars().peekable();
    let first = chars.next().filter(|&c| is_emoji(c))?;
    let mut end = start + first.len_utf8();
    if is_flag_letter(first) {
        return Some(end + chars.next_if(|&c| is_flag_letter(c)).map_or(0, char::len_utf8));
    }
    while let Some(c) = chars.next_if(|&c| is_modifier(c) || c == JOINER) {
        end += c.len_utf8();
        if c == JOINER {
            end += chars.next_if(|&c| is_emoji(c)).map_or(0, char::len_utf8);
        }
    }
    Some(end)
}

/// Writes an emoji without the color of its skin and without its form of display, in which spellings differ.
pub(super) fn write(emoji: &str, out: &mut String) {
    out.clear();
    out.extend(emoji.chars().filter(|&c| !is_modifier(c) && c != JOINER));
}

/// Returns true for emoji, without the symbols that mark lists and ratings in texts (`\u{2605}`, `\u{276f}`).
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{231a}'..='\u{231b}' | '\u{23e9}'..='\u{23fa}' | '\u{2600}'..='\u{2604}' | '\u{260e}' | '\u{2611}'
        | '\u{2614}'..='\u{26ff}' | '\u{2702}' | '\u{2705}' | '\u{2708}'..='\u{270f}' | '\u{2712}' | '\u{2714}'
        | '\u{2728}' | '\u{2744}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2757}' | '\u{2763}'..='\u{2764}'
        | '\u{2795}'..='\u{2797}' | '\u{27a1}' | '\u{2b05}'..='\u{2b07}' | '\u{2b50}' | '\u{2b55}'
        | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Returns true for the letters of flags, of which each flag has two.
fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns true for colors of the skin, and for the selectors of the form of display.
fn is_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}')
}

#[cfg(test)]
mod tests {
    use crate::analysis::each_word;

    #[test]
    fn each_emoji_is_a_word_in_one_spelling() {
        let mut words = Vec::new();
        let text = "a\u{1f389}b \u{1f44d}\u{1f3fd}\u{1f44d} \u{2764}\u{fe0f}\u{2764} \u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7} \
            \u{1f468}\u{200d}\u{1f4bb} \u{2022}";
        each_word(text, |word| words.push(word.lower.to_owned()));
        let expected = [
            "a",
            "\u{1f389}",
            "b",
            "\u{1f44d}",
            "\u{1f44d}",
            "\u{2764}",
            "\u{2764}",
            "\u{1f1e9}\u{1f1ea}",
            "\u{1f1eb}\u{1f1f7}",
            "\u{1f468}\u{1f4bb}",
        ];
        assert_eq!(words, expected);
    }
}
