//! A compiled query.

use tantivy::Term as IndexTerm;
use tantivy::query::{PhraseQuery, Query as IndexQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use crate::vocabulary::{Compound, QueryWord, literal_words};

/// A query of tantivy.
pub(crate) type Boxed = Box<dyn IndexQuery>;

/// A compiled query.
#[derive(Default)]
pub(crate) struct Compiled {
    /// Conditions that every hit must meet, in addition to the phrases; they do not score.
    pub(crate) filters: Vec<Boxed>,
    /// The phrases at the top level, which every hit must contain.
    pub(crate) phrases: Vec<Boxed>,
    /// Number of words outside of phrases and operators.
    pub(crate) plain_words: usize,
    /// Conditions that no hit may meet.
    pub(crate) excluded: Vec<Boxed>,
    /// The distinct scoring words, in the order in which they were typed. Stop words have no forms.
    pub(crate) words: Vec<QueryWord>,
    /// Other spellings of words and pairs of words, and compounds with them. They may not occur in the index.
    pub(crate) compounds: Vec<Compound>,
    /// The runs: texts such as `1.2.3`, whose words belong together in this order, as positions in `words`.
    pub(crate) runs: Vec<(String, Vec<usize>)>,
    /// The marks of the words, such as `.net`. Pages with them are preferred.
    pub(crate) marks: Vec<String>,
    /// The words that the index does not have, and the words that are searched in their place.
    pub(crate) corrections: Vec<(String, String)>,
    pub(crate) warnings: Vec<String>,
}

impl Compiled {
    /// Returns true if the query has only phrases, so that every matching document has all words.
    pub(crate) fn is_quoted(&self) -> bool {
        self.plain_words == 0 && self.filters.is_empty() && !self.phrases.is_empty()
    }

    /// Returns true if the query has no words and no filters.
    pub(crate) fn is_empty(&self) -> bool {
        self.filters.is_empty()
            && self.phrases.is_empty()
            && self.words.is_empty()
            && self.excluded.is_empty()
    }
}

/// Returns the filter for documents with `text` as a phrase; `None` for a text without words.
pub(crate) fn phrase(field: Field, text: &str) -> Option<Boxed> {
    let words = literal_words(text);
    if let [(_, only)] = words.as_slice() {
        return Some(term(field, only));
    }
    let terms: Vec<_> =
        words.iter().map(|(offset, word)| (*offset, IndexTerm::from_field_text(field, word))).collect();
    (!terms.is_empty()).then(|| -> Boxed { Box::new(PhraseQuery::new_with_offset(terms)) })
}

/// Returns the filter for documents with a word.
pub(crate) fn term(field: Field, text: &str) -> Boxed {
    Box::new(TermQuery::new(IndexTerm::from_field_text(field, text), IndexRecordOption::Basic))
}
