//! Pseudo-relevance feedback: the words that the best candidates share help to order the others.
//!
//! A question of many words seldom uses all the words of its answer. Rocchio's method takes the first few candidates
//! for relevant and adds their typical words to the query, with little weight. Only the candidates are scored anew, as
//! a second search would cost as much as the first and finds hardly anything better.

use std::iter::once;

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};

use crate::analysis::Language;
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::lexicon::{Counts, Lexicon, StemId};
use crate::rank::{Candidate, QueryStatistics, SATURATION, best_first, inverse_document_frequency};
use crate::snippet;
use crate::sub_index::SubIndexSearcher;

/// How many of the best candidates are taken for relevant, each by how far its score is above that of the first one
/// that is not: a question with one outstanding answer borrows its words, one with many borrows what they share.
const TRUSTED: usize = 10;

/// How many words they add to the query at most.
const ADDED_WORDS: usize = 10;

/// A word must stand in this many of the trusted candidates: what one page alone says is its own matter.
const MIN_SHARED: usize = 2;

/// Weight of all added words together, relative to the weight of the query.
const WEIGHT: f32 = 0.4;

/// The parameters of BM25 as the engine has them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// One state of the index, and what a search found in it.
pub(crate) struct RelevanceFeedback<'a> {
    pub(crate) view: &'a SubIndexSearcher,
    pub(crate) statistics: &'a QueryStatistics,
    /// Positions of the words of the query, see [`crate::rank::read_positions`].
    pub(crate) observed: &'a [(u32, u16)],
}

/// A word that is added to the query.
struct ExpansionTerm {
    term: Term,
    weight: f32,
}

impl RelevanceFeedback<'_> {
    /// Scores ranked candidates anew and sorts them best first.
    pub(crate) fn rescore(&self, candidates: &mut [Candidate]) -> tantivy::Result<()> {
        let added = self.typical_words(candidates)?;
        let total = self.statistics.total();
        let added_total = added.iter().map(|word| word.weight).sum::<f32>();
        if added_total <= 0.0 {
            return Ok(());
        }
        self.score(&added, WEIGHT * total / added_total, candidates)?;
        best_first(candidates);
        Ok(())
    }

    /// Returns the words that set the best candidates apart from the rest of the index.
    fn typical_words(&self, candidates: &mut [Candidate]) -> tantivy::Result<Vec<ExpansionTerm>> {
        let (trusted, others) = candidates.split_at_mut(candidates.len().min(TRUSTED));
        let floor = others.first().or(trusted.last()).map_or(0.0, |candidate| candidate.score);
        let trust =
            trusted.iter().map(|candidate| candidate.score - floor).sum::<f32>().max(f32::MIN_POSITIVE);
        let lexicon = self.view.generation.vocabulary.lexicon.current();
        let mut shared: Vec<(StemId, f32)> = Vec::new();
        for candidate in trusted {
            let share = (candidate.score - floor) / trust;
            let counts = self.words_of(candidate, &lexicon)?;
            shared.extend(counts.iter().map(|&(id, count)| (id, share * count * (K1 + 1.0) / (count + K1))));
        }
        // A stable order: sums of floats depend on it.
        shared.sort_by_key(|&(id, _)| id);
        let mut added = Vec::new();
        for run in shared.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() >= MIN_SHARED) {
            let term = |text: &str| Term::from_field_text(self.view.fields.terms, text);
            let (text, documents) =
                lexicon.stem(run[0].0, |text| self.view.searcher.doc_freq(&term(text)))?;
            let rarity = inverse_document_frequency(documents, self.statistics.documents);
            let weight = run.iter().map(|&(_, weight)| weight).sum::<f32>() * rarity;
            added.push((text, weight));
        }
        // The word itself settles ties.
        added.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        added.truncate(ADDED_WORDS);
        let word = |(text, weight): (Box<str>, f32)| {
            let term = Term::from_field_text(self.view.fields.terms, &text);
            ExpansionTerm { term, weight }
        };
        Ok(added.into_iter().map(word).collect())
    }

    /// Counts the words around the place of a page that answers the query best, and those of its title.
    fn words_of(&self, candidate: &mut Candidate, lexicon: &Lexicon) -> tantivy::Result<Counts> {
        let bytes = candidate.card(self.view)?;
        let Some(card) = DisplayDoc::decode(&bytes) else {
            return Ok(Counts::default());
        };
        let seen = &self.observed[candidate.observed.clone()];
        let best = snippet::best_place(&card, seen, &self.statistics.words);
        let position = best.map_or(0, |(first, _)| first);
        let part = (candidate.address, card.block_start(position).unwrap_or_default());
        if let Some(counts) = lexicon.remembered(part) {
            return Ok(counts);
        }
        let block = card.block_at(position);
        let texts = once(card.head.title).chain(block.iter().flat_map(DecodedBlock::passages));
        Ok(lexicon.count(part, texts, Language::from_code(card.head.language)))
    }

    /// Adds to each candidate what BM25 gives for the added words.
    fn score(
        &self,
        added: &[ExpansionTerm],
        scale: f32,
        candidates: &mut [Candidate],
    ) -> tantivy::Result<()> {
        let mean_length = self.statistics.mean_length();
        let mut order: Vec<&mut Candidate> = candidates.iter_mut().collect();
        order.sort_unstable_by_key(|candidate| candidate.address);
        for group in order.chunk_by_mut(|a, b| a.address.segment_ord == b.address.segment_ord) {
            let segment = self.view.searcher.segment_reader(group[0].address.segment_ord);
            let lengths = segment.get_fieldnorms_reader(self.view.fields.terms)?;
            let index = segment.inverted_index(self.view.fields.terms)?;
            for ExpansionTerm { term, weight } in added {
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
