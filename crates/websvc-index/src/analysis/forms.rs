//! A cache of the forms under which words are indexed.
//!
//! Most of every text consists of few words, and computing a stem costs many times as much as a lookup in the cache.

use super::{Language, fold};
use crate::document::fingerprint_of_text;

/// Number of cached words, enough for most words of the texts of a language.
const SLOTS: usize = 4_096;

/// The forms of a word.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    lower: String,
    language: Option<Language>,
    /// The word without accents.
    pub(crate) folded: String,
    /// The folded stem in the language; equals `folded` without a language.
    pub(crate) stem: String,
    /// True if the word is a stop word of the language.
    pub(crate) is_stop_word: bool,
}

/// A cache of the forms of recent words, which takes about half a megabyte. The hash of a word selects its slot.
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
        let Self { lower: cached_lower, language: cached_language, folded, stem, is_stop_word } = self;
        for text in [&mut *cached_lower, folded, stem] {
            text.clear();
        }
        fold(lower, folded);
        match language {
            Some(language) => language.stem(lower, stem),
            None => stem.push_str(folded),
        }
        *is_stop_word = language.is_some_and(|language| language.is_stop_word(folded));
        // Last, so that a panic in the stemmer does not leave incomplete forms for this word.
        cached_lower.push_str(lower);
        *cached_language = language;
    }
}

fn slot(word: &str) -> usize {
    // The remainder is less than the number of slots, so the cast is lossless.
    (fingerprint_of_text(word) % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_returns_the_forms_of_word_and_language_for_any_previous_slot_content() {
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
