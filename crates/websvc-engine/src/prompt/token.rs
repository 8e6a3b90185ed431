//! Splits a prompt into words, and finds the ends of its clauses.

/// A word of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The word as written, without punctuation around it.
    pub(super) text: &'a str,
    /// The word in lower case.
    pub(super) lower: String,
    /// A clause ends after the word.
    pub(super) ends_clause: bool,
    /// A comma is after the word.
    pub(super) has_comma: bool,
}

/// Splits a prompt into words.
pub(super) fn tokens(prompt: &str) -> Vec<Token<'_>> {
    prompt.split_whitespace().filter_map(token).collect()
}

fn token(word: &str) -> Option<Token<'_>> {
    let text = word.trim_start_matches(['"', '\'', '(', '[', '`', '\u{201c}', '\u{2018}']);
    let bare = text
        .trim_end_matches(['"', '\'', ')', ']', '`', '\u{201d}', '\u{2019}', ',', '.', ';', ':', '!', '?']);
    let tail = &text[bare.len()..];
    let ends_clause = tail.contains(['.', ';', '!', '?']);
    let has_comma = tail.contains(',');
    (!bare.is_empty()).then(|| Token { text: bare, lower: bare.to_lowercase(), ends_clause, has_comma })
}
