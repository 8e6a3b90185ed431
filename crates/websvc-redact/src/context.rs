//! Words before a position on the same line, which give numbers their meaning.

use crate::scan::Scan;

/// How far back a word may stand.
const REACH: usize = 48;

/// Tells whether one of `words`, given in lower case, stands in the line shortly before `at`.
pub(crate) fn word_before(scan: &mut Scan<'_>, at: usize, words: &[&str]) -> bool {
    let bytes = scan.bytes();
    let from = at.saturating_sub(REACH);
    let mut low = [0_u8; REACH];
    let near = &bytes[from..at];
    let near = near.iter().rposition(|&b| b == b'\n').map_or(near, |line| &near[line + 1..]);
    let low = &mut low[..near.len()];
    low.copy_from_slice(near);
    low.make_ascii_lowercase();
    scan.work += near.len() as u64;
    words.iter().any(|word| has_word(low, word.as_bytes()))
}

/// Returns whether the text contains the word at a word boundary.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let Some(last) = text.len().checked_sub(word.len()) else { return false };
    (0..=last).any(|at| {
        text[at..].starts_with(word)
            && (at == 0 || !text[at - 1].is_ascii_alphabetic() || !word[0].is_ascii_alphabetic())
            && text
                .get(at + word.len())
                .is_none_or(|b| !b.is_ascii_alphabetic() || !word[word.len() - 1].is_ascii_alphabetic())
    })
}
