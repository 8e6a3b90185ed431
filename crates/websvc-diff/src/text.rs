//! Equality of texts without regard to invisible differences.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The beginning of a placeholder for an embedded frame: `[iframe](address)`.
const IFRAME: &str = "[iframe](";

/// Returns whether two versions of a page in Markdown have the same content.
///
/// All whitespace, zero-width characters and placeholders of embedded frames (`[iframe](address)`, whose addresses often
/// change with every visit) are ignored. The order of the content counts.
#[must_use]
pub fn is_same_markdown(previous: &str, current: &str) -> bool {
    previous == current || visible_content(previous) == visible_content(current)
}

/// Returns the text without whitespace, zero-width characters and frame placeholders.
fn visible_content(markdown: &str) -> String {
    let visible: String = markdown
        .chars()
        .filter(|character| !character.is_whitespace() && !is_zero_width(*character))
        .collect();
    let mut content = String::with_capacity(visible.len());
    let mut rest = visible.as_str();
    while let Some(start) = rest.find(IFRAME) {
        let address = &rest[start + IFRAME.len()..];
        // Without an end there are no further placeholders, so the search for one is not repeated.
        let Some(end) = address.find(')') else { break };
        content.push_str(&rest[..start]);
        rest = &address[end + 1..];
    }
    content.push_str(rest);
    content
}

/// Returns a text of a JSON value as it is compared: in Unicode NFC, without zero-width characters, with each run of
/// whitespace as one blank and none at the ends.
pub(crate) fn comparable(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.starts_with(is_blank) && !text.ends_with(is_blank) && !has_blank_run(text) {
        return Cow::Borrowed(text);
    }
    let visible: Cow<'_, str> = if text.contains(is_zero_width) {
        Cow::Owned(text.chars().filter(|character| !is_zero_width(*character)).collect())
    } else {
        Cow::Borrowed(text)
    };
    let composed: Cow<'_, str> = match is_nfc_quick(visible.chars()) {
        IsNormalized::Yes => visible,
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(visible.nfc().collect()),
    };
    let mut collapsed = String::with_capacity(composed.len());
    for word in composed.split_whitespace() {
        if !collapsed.is_empty() {
            collapsed.push(' ');
        }
        collapsed.push_str(word);
    }
    Cow::Owned(collapsed)
}

fn is_blank(character: char) -> bool {
    character.is_whitespace()
}

/// Returns whether a text has whitespace other than single spaces.
fn has_blank_run(text: &str) -> bool {
    text.contains("  ") || text.contains(|character: char| character != ' ' && character.is_whitespace())
}

/// Returns whether a character has no width: zero-width space, (non-)joiner and word joiner, and the byte order mark.
fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_compared_without_whitespace_and_frames_but_with_its_order() {
        let check = |previous: &str, current: &str, expected: bool| {
            assert_eq!(is_same_markdown(previous, current), expected, "{previous:?} and {current:?}");
            assert_eq!(is_same_markdown(current, previous), expected, "{current:?} and {previous:?}");
        };
        check("a b\n\nc", "a  b\nc\n", true);
        check("a\u{a0}b", "ab\u{200b}", true);
        check("a [iframe](https://ads.test/?1) b", "a [iframe](https://ads.test/?2)b", true);
        check("a [iframe](https://ads.test/?1) b", "ab", true);
        check("a [iframe](no end", "a [iframe](no end", true);
        check("a [iframe](no end", "a", false);
        check("a\nb", "b\na", false);
        check("price 5", "price 6", false);
        check("A", "a", false);
        check("", " \n", true);
    }

    #[test]
    fn many_unclosed_frames_are_read_in_linear_time() {
        let text = IFRAME.repeat(500_000);
        assert!(is_same_markdown(&text, &format!("{text} ")));
    }

    #[test]
    fn texts_are_compared_in_nfc_without_zero_width_characters_and_with_single_blanks() {
        let check = |text: &str, expected: &str| assert_eq!(comparable(text), expected, "{text:?}");
        check("a b", "a b");
        check(" a \t\n b ", "a b");
        check("cafe\u{301}", "caf\u{e9}");
        check("ze\u{200b}ro\u{feff}", "zero");
        check("e\u{200b}\u{301}", "\u{e9}");
        check("a\u{a0}b", "a b");
        check("", "");
    }
}
