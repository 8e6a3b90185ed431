//! Texts as the tokens of fields.

use crate::analysis::{Kind, Language, each_word, fold};
use crate::packed::Tokens;
use crate::schema::{SECTION_GAP, STEM_MARK, TITLE_WORDS};

/// The tokens of the three text fields while a document is read once from front to back.
pub(crate) struct Words {
    language: Option<Language>,
    pub(crate) position: u32,
    pub(crate) titles: Tokens,
    pub(crate) terms: Tokens,
    pub(crate) exact: Tokens,
    folded: String,
    stem: String,
}

impl Words {
    pub(crate) fn new(language: Option<Language>) -> Self {
        Self {
            language,
            position: 0,
            titles: Tokens::default(),
            terms: Tokens::default(),
            exact: Tokens::default(),
            folded: String::new(),
            stem: String::new(),
        }
    }

    pub(crate) fn gap(&mut self) {
        self.position += SECTION_GAP;
    }

    /// Adds the title at the current position, which is the start.
    pub(crate) fn title(&mut self, text: &str, weight: usize) {
        each_word(text, |word| {
            if self.position < TITLE_WORDS {
                self.word(word.lower, word.kind, weight);
                self.titles.push(&self.folded, self.position, 1);
                for form in [&mut self.stem, &mut self.folded] {
                    form.insert(0, STEM_MARK);
                }
                self.titles.push(&self.stem, self.position, 1);
                if self.language.is_some_and(Language::has_accents) && self.stem != self.folded {
                    self.titles.push(&self.folded, self.position, 1);
                }
            }
            self.position += 1;
        });
    }

    /// Adds a text at the current position and returns the number of its words.
    pub(crate) fn section(&mut self, text: &str, weight: usize) -> u32 {
        let start = self.position;
        each_word(text, |word| {
            self.word(word.lower, word.kind, weight);
            self.position += 1;
        });
        self.position - start
    }

    /// Adds a text that others say of the page: it ranks and is found, but is no part of what the page says.
    pub(crate) fn anchor(&mut self, text: &str, weight: usize) {
        let own = self.exact.len();
        self.section(text, weight);
        self.exact.truncate(own);
    }

    /// Adds one word and leaves its forms in `folded` and `stem`.
    fn word(&mut self, lower: &str, kind: Kind, weight: usize) {
        self.folded.clear();
        fold(lower, &mut self.folded);
        self.stem.clear();
        self.exact.push(&self.folded, self.position, 1);
        let language = self.language.filter(|_| kind == Kind::Letters);
        let Some(language) = language else {
            self.stem.push_str(&self.folded);
            return self.terms.push(&self.folded, self.position, weight);
        };
        language.stem(lower, &mut self.stem);
        if language.is_stop_word(&self.folded) {
            return;
        }
        self.terms.push(&self.stem, self.position, weight);
        if language.has_accents() && self.stem != self.folded {
            self.terms.push(&self.folded, self.position, weight);
        }
    }
}

/// Returns terms without places, packed.
pub(crate) fn list(terms: impl IntoIterator<Item = String>) -> String {
    let mut tokens = Tokens::default();
    terms.into_iter().for_each(|term| tokens.push(&term, 0, 1));
    tokens.finish()
}

/// Returns the words of a URL as readable text, packed.
pub(crate) fn url_words(text: &str) -> String {
    let (mut tokens, mut position, mut folded) = (Tokens::default(), 0, String::new());
    each_word(text, |word| {
        folded.clear();
        fold(word.lower, &mut folded);
        tokens.push(&folded, position, 1);
        position += 1;
    });
    tokens.finish()
}
