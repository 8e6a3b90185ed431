//! A prompt as words: their text, and where a clause ends.

/// A word of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The word as it stands, without the signs around it.
    pub(super) text: &'a str,
    /// The same in lower case.
    pub(super) lower: String,
    /// A sentence ends after it.
    pub(super) ends_clause: bool,
}

/// Splits a prompt.
pub(super) fn tokens(prompt: &str) -> Vec<Token<'_>> {
    prompt.split_whitespace().filter_map(token).collect()
}

fn token(word: &str) -> Option<Token<'_>> {
    let text = word.trim_start_matches(['"', '\'', '(', '[', '`', '\u{201c}', '\u{2018}']);
    let bare = text
        .trim_end_matches(['"', '\'', ')', ']', '`', '\u{201d}', '\u{2019}', ',', '.', ';', ':', '!', '?']);
    let tail = &text[bare.len()..];
    let ends_clause = tail.contains(['.', ';', '!', '?']);
    (!bare.is_empty()).then(|| Token { text: bare, lower: bare.to_lowercase(), ends_clause })
}
