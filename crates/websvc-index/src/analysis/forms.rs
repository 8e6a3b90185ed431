//! The forms under which a word is indexed, kept for the words that come again.
//!
//! Few words make up most of every text, and a stem costs many times what it takes to find it here.

use super::{Language, fold};
use crate::document::fingerprint_of_text;

/// So many words are kept: those that most texts of a language consist of.
const SLOTS: usize = 4_096;

/// The forms of a word.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    lower: String,
    language: Option<Language>,
    /// Without accents.
    pub(crate) folded: String,
    /// The stem in the language, folded; without a language the same as `folded`.
    pub(crate) stem: String,
    /// True for a word that says nothing about a text in the language.
    pub(crate) is_stop_word: bool,
}

/// The forms of the last words, each in the one slot that its hash has. Takes about half a megabyte.
#[derive(Default)]
pub(crate) struct FormCache(Vec<Forms>);

impl FormCache {
    /// Returns the forms of a word in lower case.
    pub(crate) fn get(&mut self, language: Option<Language>, lower: &str) -> &Forms {
        self.0.resize_with(SLOTS, Forms::default);
        let forms = &mut self.0[slot(lower)];
        if forms.lower != lower || forms.language != language {
            forms.set(language, lower);
        }
        forms
    }
}

impl Forms {
    fn set(&mut self, language: Option<Language>, lower: &str) {
        let Self { lower: known, language: known_language, folded, stem, is_stop_word } = self;
        for text in [&mut *known, folded, stem] {
            text.clear();
        }
        fold(lower, folded);
        match language {
            Some(language) => language.stem(lower, stem),
            None => stem.push_str(folded),
        }
        *is_stop_word = language.is_some_and(|language| language.is_stop_word(folded));
        // Last, so that a panic in the stemmer leaves no unfinished forms under this word.
        known.push_str(lower);
        *known_language = language;
    }
}

fn slot(word: &str) -> usize {
    // The rest is less than the number of slots.
    (fingerprint_of_text(word) % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_of_the_word_and_the_language_whatever_was_kept_before() {
        let mut cache = FormCache::default();
        let (english, german) = (Language::from_code("en"), Language::from_code("de"));
        let mut check = |language, lower: &str, expected: (&str, &str, bool)| {
            let forms = cache.get(language, lower);
            assert_eq!((&*forms.folded, &*forms.stem, forms.is_stop_word), expected, "{lower}");
        };
        for _ in 0..2 {
            check(english, "gathering", ("gathering", "gather", false));
            check(None, "gathering", ("gathering", "gathering", false));
            check(german, "häuser", ("hauser", "haus", false));
            check(english, "die", ("die", "die", false));
            check(german, "die", ("die", "die", true));
            check(english, "", ("", "", false));
        }
        for number in 0..20_000 {
            let word = format!("w{number}");
            check(None, &word, (&word, &word, false));
        }
    }
}
