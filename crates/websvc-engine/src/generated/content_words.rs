//! The words of a request that say what it is about, without the small words of questions.

use std::ops::ControlFlow;

use websvc_index::is_stop_word;
use websvc_types::limits::QUERY_TERMS_MAX;

use crate::rerank::each_word;

/// The number of letters in which two forms of a word agree at least: `price`, `prices`.
const MIN_STEM_CHARS: usize = 4;

/// The number of letters that an ending has at most: `open`, `opening`.
const MAX_ENDING_CHARS: usize = 3;

/// The languages of which small words do not count.
const LANGUAGES: &[&str] = &["en", "de", "fr", "es"];

/// Words of questions and requests that are not stop words: texts without them are found as well.
const REQUEST_WORDS: &[&str] = &[
    "give",
    "list",
    "many",
    "much",
    "page",
    "please",
    "tell",
    "whose",
    "hat",
    "man",
    "war",
    "welche",
    "welcher",
    "welches",
    "quoi",
    "cu\u{e1}nto",
];

/// The different words of a request without small words; all of its words if it has no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ContentWords(Vec<String>);

impl ContentWords {
    /// Reads the first [`QUERY_TERMS_MAX`] of them.
    pub(super) fn from_request(request: &str) -> Self {
        let (mut content, mut all): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        // The text of a request is bounded, so that the callback need not break before the last word.
        let _ = each_word(request, |word| {
            let is_small = REQUEST_WORDS.contains(&word) || is_stop_word(LANGUAGES, word);
            for (words, is_wanted) in [(&mut content, !is_small), (&mut all, true)] {
                if is_wanted && words.len() < QUERY_TERMS_MAX && !words.iter().any(|known| known == word) {
                    words.push(word.to_owned());
                }
            }
            ControlFlow::Continue(())
        });
        Self(if content.is_empty() { all } else { content })
    }

    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the words, with a space between two.
    pub(super) fn query(&self) -> String {
        self.0.join(" ")
    }

    /// Returns how many of the words occur in a text, in any form.
    pub(super) fn count_in(&self, text: &str) -> usize {
        let mut is_found = vec![false; self.0.len()];
        let _ = each_word(text, |other| {
            for (word, is_found) in self.0.iter().zip(&mut is_found) {
                *is_found = *is_found || is_word_form(word, other);
            }
            ControlFlow::Continue(())
        });
        is_found.into_iter().filter(|is_found| *is_found).count()
    }
}

/// Returns whether two words are forms of one: one is the other with an ending.
pub(crate) fn is_word_form(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if short == long {
        return true;
    }
    let Some(ending) = long.strip_prefix(short) else { return false };
    short.chars().count() >= MIN_STEM_CHARS
        && ending.chars().count() <= MAX_ENDING_CHARS
        && !short.ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_do_not_count_unless_there_are_no_others() {
        let check =
            |request: &str, expected: &str| assert_eq!(ContentWords::from_request(request).query(), expected);
        check("What does the annual pass cost?", "annual pass cost");
        check("Wann ist der Laden offen?", "laden offen");
        check("who is it", "who is it");
        check("tea, Tea and TEA", "tea");
        check("\u{7dd1}\u{8336}", "\u{7dd1} \u{8336}");
        let long: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
        assert_eq!(ContentWords::from_request(&long.join(" ")).len(), QUERY_TERMS_MAX);
    }

    #[test]
    fn words_are_found_in_any_form() {
        let words = ContentWords::from_request("What does a tin cost in 2024?");
        assert_eq!(words.query(), "tin cost 2024");
        assert_eq!(words.count_in("A tin of sencha costs 12 euros."), 2);
        // Short words and numbers have no endings.
        assert_eq!(words.count_in("Tiny stamps of 20245"), 0);
    }
}
