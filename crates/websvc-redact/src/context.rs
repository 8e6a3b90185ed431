//! Words before a position on the same line, which show the meaning of a number.

use std::sync::LazyLock;

use crate::scan::Scan;

/// The maximum distance of a word, in bytes.
const MAX_DISTANCE: usize = 48;

/// Words that show the meaning of a number after them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ContextWords {
    /// Before a telephone number.
    Phone,
    /// Before a number that is not a telephone number.
    OtherNumber,
    /// Before a card number of any issuer.
    Card,
    /// Before an account number.
    Account,
    /// Before a routing number.
    Routing,
    /// Before a BIC.
    Bic,
    /// Before a social security or tax number.
    Social,
    /// Before a key.
    Key,
}

/// The words by the kinds of `data/context.txt`, which are those of [`ContextWords`].
static WORDS: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("../data/context.txt").lines();
    lines.filter_map(|line| Some(line.split_once(": ")?.1.split(", ").collect())).collect()
});

impl ContextWords {
    /// Returns the words in lower case.
    pub(crate) fn all(self) -> &'static [&'static str] {
        WORDS.get(self as usize).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Returns whether one of `words` occurs on the same line shortly before `at`.
pub(crate) fn word_before(scan: &mut Scan<'_>, at: usize, words: ContextWords) -> bool {
    let bytes = scan.bytes();
    let from = at.saturating_sub(MAX_DISTANCE);
    let mut lower = [0_u8; MAX_DISTANCE];
    let near = &bytes[from..at];
    let near = near.iter().rposition(|&b| b == b'\n').map_or(near, |line| &near[line + 1..]);
    let lower = &mut lower[..near.len()];
    lower.copy_from_slice(near);
    lower.make_ascii_lowercase();
    scan.work += near.len() as u64;
    words.all().iter().any(|word| has_word(lower, word.as_bytes()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_words() {
        for (kind, word) in [
            (ContextWords::Phone, "phone"),
            (ContextWords::OtherNumber, "isbn"),
            (ContextWords::Card, "card"),
            (ContextWords::Account, "account number"),
            (ContextWords::Routing, "routing"),
            (ContextWords::Bic, "bic"),
            (ContextWords::Social, "ssn"),
            (ContextWords::Key, "key"),
        ] {
            assert_eq!(kind.all().first(), Some(&word));
        }
        assert_eq!(WORDS.len(), ContextWords::Key as usize + 1);
    }
}
