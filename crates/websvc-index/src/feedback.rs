//! Pseudo-relevance feedback: the words that the best candidates share help to order the others.
//!
//! A question of many words seldom uses all the words of its answer. Rocchio's method takes the first few candidates
//! for relevant and adds their typical words to the query, with little weight. Only the candidates are scored anew, as
//! a second search would cost as much as the first and finds hardly anything better.

use std::cmp::Reverse;
use std::collections::HashMap;

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::store::StoreReader;
use tantivy::{DocSet, Searcher, Term};

use crate::analysis::{Kind, Language, each_word, fold};
use crate::card::Card;
use crate::highlight;
use crate::rank::{Candidate, SATURATION, Statistics, best_first, inverse_document_frequency};
use crate::schema::Fields;

/// How many of the best candidates are taken for relevant, each by how far its score is above that of the first one
/// that is not: a question with one outstanding answer borrows its words, one with many borrows what they share.
const TRUSTED: usize = 10;

/// How many words they add to the query at most.
const ADDED_WORDS: usize = 10;

/// A word must stand in this many of the trusted candidates: what one page alone says is its own matter.
const MIN_SHARED: u32 = 2;

/// What all added words weigh together, as a share of the weight of the query.
const WEIGHT: f32 = 0.4;

/// The parameters of BM25 as the engine has them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// One state of the index, and what a search found in it.
pub(crate) struct Feedback<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) fields: &'a Fields,
    pub(crate) stores: &'a [StoreReader],
    pub(crate) statistics: &'a Statistics,
    /// Where the words of the query stand, see [`crate::rank::observe`].
    pub(crate) observed: &'a [(u32, u16)],
}

/// A word that is added to the query.
struct Added {
    term: Term,
    weight: f32,
}

impl Feedback<'_> {
    /// Scores ranked candidates anew and sorts them best first.
    pub(crate) fn refine(&self, candidates: &mut [Candidate]) -> tantivy::Result<()> {
        let added = self.typical_words(candidates)?;
        let total = self.statistics.words.iter().map(|word| word.idf).sum::<f32>();
        let added_total = added.iter().map(|word| word.weight).sum::<f32>();
        if added_total <= 0.0 {
            return Ok(());
        }
        self.score(&added, WEIGHT * total / added_total, candidates)?;
        best_first(candidates);
        Ok(())
    }

    /// Returns the words that set the best candidates apart from the rest of the index.
    fn typical_words(&self, candidates: &[Candidate]) -> tantivy::Result<Vec<Added>> {
        let (trusted, others) = candidates.split_at(candidates.len().min(TRUSTED));
        let floor = others.first().or(trusted.last()).map_or(0.0, |candidate| candidate.score);
        let trust = trusted.iter().map(|candidate| candidate.score - floor).sum::<f32>().max(f32::MIN_POSITIVE);
        let mut shared: HashMap<String, (u32, f32)> = HashMap::new();
        for candidate in trusted {
            for (word, count) in self.words_of(candidate)? {
                let (documents, weight) = shared.entry(word).or_default();
                *documents += 1;
                *weight += (candidate.score - floor) / trust * count * (K1 + 1.0) / (count + K1);
            }
        }
        let mut added = Vec::new();
        for (word, (documents, weight)) in shared {
            if documents >= MIN_SHARED {
                let term = Term::from_field_text(self.fields.terms, &word);
                let documents = self.searcher.doc_freq(&term)?;
                let rarity = inverse_document_frequency(documents, self.statistics.documents);
                added.push((
                    Reverse((weight * rarity).to_bits()),
                    word,
                    Added { term, weight: weight * rarity },
                ));
            }
        }
        // Positive numbers are in the order of their bits; the word itself settles ties.
        added.sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        added.truncate(ADDED_WORDS);
        Ok(added.into_iter().map(|(_, _, word)| word).collect())
    }

    /// Counts the words around the place of a page that answers the query best, and those of its title.
    fn words_of(&self, candidate: &Candidate) -> tantivy::Result<HashMap<String, f32>> {
        let mut counts = HashMap::new();
        let store = &self.stores[candidate.address.segment_ord as usize];
        let bytes = store.get_document_bytes(candidate.address.doc_id)?;
        let Some(card) = Card::decode(&bytes) else {
            return Ok(counts);
        };
        let language = Language::from_code(card.head.language);
        let seen = &self.observed[candidate.observed.clone()];
        let block = highlight::best_block(&card, seen, &self.statistics.words);
        for text in
            [Some(card.head.title), block.as_ref().map(|block| block.text.as_str())].into_iter().flatten()
        {
            each_word(text, |word| {
                if let Some(form) = form(word.lower, word.kind, language) {
                    *counts.entry(form).or_default() += 1.0;
                }
            });
        }
        Ok(counts)
    }

    /// Adds to each candidate what BM25 gives for the added words.
    fn score(&self, added: &[Added], scale: f32, candidates: &mut [Candidate]) -> tantivy::Result<()> {
        let mean_length = self.statistics.mean_length();
        let mut order: Vec<&mut Candidate> = candidates.iter_mut().collect();
        order.sort_unstable_by_key(|candidate| candidate.address);
        for group in order.chunk_by_mut(|a, b| a.address.segment_ord == b.address.segment_ord) {
            let segment = self.searcher.segment_reader(group[0].address.segment_ord);
            let lengths = segment.get_fieldnorms_reader(self.fields.terms)?;
            let index = segment.inverted_index(self.fields.terms)?;
            for Added { term, weight } in added {
                let Some(mut postings) = index.read_postings(term, IndexRecordOption::WithFreqs)? else {
                    continue;
                };
                for candidate in &mut *group {
                    let doc = candidate.address.doc_id;
                    if postings.doc() < doc {
                        postings.seek(doc);
                    }
                    if postings.doc() == doc {
                        let count = postings.term_freq() as f32;
                        let length = lengths.fieldnorm(doc) as f32 / mean_length;
                        let saturated = SATURATION * count / (count + K1 * (1.0 - B + B * length));
                        candidate.score += scale * weight * saturated;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns a unit of a text as a term of the field `terms`; `None` for stop words.
fn form(lower: &str, kind: Kind, language: Option<Language>) -> Option<String> {
    let mut out = String::new();
    match (kind, language) {
        (Kind::Last | Kind::Single, _) => return None,
        (Kind::Letters, Some(language)) => {
            fold(lower, &mut out);
            if language.is_stop_word(&out) {
                return None;
            }
            out.clear();
            language.stem(lower, &mut out);
        }
        (Kind::Letters | Kind::Pair, _) => fold(lower, &mut out),
    }
    (!out.is_empty()).then_some(out)
}
