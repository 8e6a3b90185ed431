//! Words before a position on the same line, which show the meaning of a number.

use crate::scan::Scan;

/// The maximum distance of a word, in bytes.
const MAX_DISTANCE: usize = 48;

/// Returns whether one of `words` (in lower case) occurs on the same line shortly before `at`.
pub(crate) fn word_before(scan: &mut Scan<'_>, at: usize, words: &[&str]) -> bool {
    let bytes = scan.bytes();
    let from = at.saturating_sub(MAX_DISTANCE);
    let mut lower = [0_u8; MAX_DISTANCE];
    let near = &bytes[from..at];
    let near = near.iter().rposition(|&b| b == b'\n').map_or(near, |line| &near[line + 1..]);
    let lower = &mut lower[..near.len()];
    lower.copy_from_slice(near);
    lower.make_ascii_lowercase();
    scan.work += near.len() as u64;
    words.iter().any(|word| has_word(lower, word.as_bytes()))
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
