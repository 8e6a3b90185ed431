//! Conversion of texts into tokens of the text fields.

use crate::analysis::{FormCache, Forms, Kind, Language, Word, each_word, fold};
use crate::decompound;
use crate::packed_tokens::PackedTokens;
use crate::schema::{JOINED_MARK, SECTION_GAP, STEM_MARK, TITLE_WORDS};

/// A tokenizer that reads a document once and collects the tokens of its three text fields.
pub(crate) struct DocumentTokenizer<'a> {
    language: Option<Language>,
    forms: &'a mut FormCache,
    pub(crate) position: u32,
    pub(crate) titles: PackedTokens,
    pub(crate) terms: PackedTokens,
    pub(crate) exact: PackedTokens,
}

impl<'a> DocumentTokenizer<'a> {
    pub(crate) fn new(language: Option<Language>, forms: &'a mut FormCache) -> Self {
        Self {
            language,
            forms,
            position: 0,
            titles: PackedTokens::default(),
            terms: PackedTokens::default(),
            exact: PackedTokens::default(),
        }
    }

    /// Adds the gap between two sections.
    pub(crate) fn gap(&mut self) {
        self.position += SECTION_GAP;
    }

    /// Adds the title, which must be the first section.
    pub(crate) fn title(&mut self, text: &str, weight: usize) {
        each_word(text, |word| {
            if self.position < TITLE_WORDS {
                self.word(word, weight);
                self.title_word(word);
            }
            self.position += 1;
        });
    }

    /// Adds a word of the title, and the forms of the word and of the text that begins with it.
    fn title_word(&mut self, Word { lower, kind, joined, .. }: Word<'_>) {
        let language = self.language_of(kind);
        self.titles.push(&self.forms.get(language, lower).folded, self.position, 1);
        let has_accents = self.language.is_some_and(Language::has_accents);
        let mut marked = String::new();
        for text in std::iter::once(lower).chain(joined.map(|joined| joined.text)) {
            let forms = self.forms.get(language, text);
            let unaccented = Some(&forms.folded).filter(|folded| has_accents && **folded != forms.stem);
            for form in [Some(&forms.stem), unaccented].into_iter().flatten() {
                marked.clear();
                marked.push(STEM_MARK);
                marked.push_str(form);
                self.titles.push(&marked, self.position, 1);
            }
        }
    }

    /// Adds a section at the current position and returns its number of words.
    pub(crate) fn section(&mut self, text: &str, weight: usize) -> u32 {
        let start = self.position;
        each_word(text, |word| {
            self.word(word, weight);
            self.position += 1;
        });
        self.position - start
    }

    /// Adds an anchor, the text of links to the page. Its words are searchable and rank, but do not match phrases,
    /// since they are not in the page.
    pub(crate) fn anchor(&mut self, text: &str, weight: usize) {
        let len = self.exact.len();
        self.section(text, weight);
        self.exact.truncate(len);
    }

    /// Adds one word at the current position. Its mark, and the text that begins with it, have the same position.
    fn word(&mut self, Word { lower, kind, mark, joined }: Word<'_>, weight: usize) {
        let language = self.language_of(kind);
        let Forms { folded, stem, is_stop_word, .. } = self.forms.get(language, lower);
        self.exact.push(folded, self.position, 1);
        let is_stop_word = *is_stop_word;
        if !is_stop_word {
            self.terms.push(stem, self.position, weight);
            if language.is_some_and(Language::has_accents) && stem != folded {
                self.terms.push(folded, self.position, weight);
            }
        }
        if let Some(joined) = joined {
            let Forms { stem, .. } = self.forms.get(language, joined.text);
            self.terms.push(&format!("{JOINED_MARK}{stem}"), self.position, weight);
        }
        if let Some(mark) = mark.filter(|_| !is_stop_word || joined.is_some()) {
            self.terms.push(mark, self.position, weight);
        }
    }

    /// Returns the words of a language with compounds backwards, see [`crate::decompound`].
    pub(crate) fn reversed_words(&self) -> impl Iterator<Item = String> {
        let compounds = self.language.is_some_and(Language::has_compounds);
        let words = compounds.then(|| decompound::reversed(self.exact.texts()));
        words.into_iter().flatten()
    }

    /// Returns the language for stemming units of this kind.
    fn language_of(&self, kind: Kind) -> Option<Language> {
        self.language.filter(|_| kind == Kind::Letters)
    }
}

/// Returns terms without positions, packed.
pub(crate) fn list(terms: impl IntoIterator<Item = String>) -> String {
    let mut tokens = PackedTokens::default();
    terms.into_iter().for_each(|term| tokens.push(&term, 0, 1));
    tokens.finish()
}

/// Returns the words of a URL in readable form, packed.
pub(crate) fn url_words(text: &str) -> String {
    let (mut tokens, mut position, mut folded) = (PackedTokens::default(), 0, String::new());
    each_word(text, |word| {
        folded.clear();
        fold(word.lower, &mut folded);
        tokens.push(&folded, position, 1);
        position += 1;
    });
    tokens.finish()
}
