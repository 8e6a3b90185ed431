//! Short forms of texts for prompts.

/// Returns a text with at most `max_chars` characters; a longer one ends with an ellipsis.
#[must_use]
pub fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a text without line breaks and repeated spaces.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_ends_with_an_ellipsis() {
        assert_eq!((cut("äöü", 3), cut("äöüß", 3), cut("", 0)), ("äöü".into(), "äöü…".into(), String::new()));
    }

    #[test]
    fn line_breaks_become_spaces() {
        assert_eq!(one_line(" a\r\n b\t\u{a0}c "), "a b c");
    }
}
