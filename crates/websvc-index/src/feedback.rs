//! Pseudo-relevance feedback: candidates are scored again with the words that the best candidates share.
//!
//! A long query rarely has all the words of a relevant document. Rocchio's method assumes that the first few candidates
//! are relevant, and adds their typical words to the query with a small weight. Only the candidates are scored again,
//! because a second search would cost as much as the first and hardly find better documents.

use std::iter::once;

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Term};

use crate::analysis::Language;
use crate::candidate::{Candidate, best_first};
use crate::display_doc::{DecodedBlock, DisplayDoc};
use crate::lexicon::{Counts, Lexicon, StemId};
use crate::rank::{QueryStatistics, SATURATION, inverse_document_frequency};
use crate::semantic::Meaning;
use crate::snippet;
use crate::sub_index::SubIndexSearcher;

/// Number of the best candidates that are assumed to be relevant.
///
/// Each is weighted by the difference of its score to that of the next candidate after them. So if one candidate is far
/// better than the others, its words dominate.
const RELEVANT_CANDIDATES: usize = 10;

/// Maximum words that are added to the query.
const MAX_EXPANSION_TERMS: usize = 10;

/// Minimum number of relevant candidates with an added word. A word of only one page is not typical.
const MIN_SHARED: usize = 2;

/// Weight of all added words together, relative to the weight of the query.
const WEIGHT: f32 = 0.4;

/// The parameters of BM25, as in tantivy.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Relevance feedback for the candidates of a search.
pub(crate) struct RelevanceFeedback<'a> {
    pub(crate) view: &'a SubIndexSearcher,
    pub(crate) statistics: &'a QueryStatistics,
    /// Positions of the words of the query, see [`crate::rank::read_positions`].
    pub(crate) positions: &'a [(u32, u16)],
}

/// A word with its weight.
struct ExpansionTerm {
    term: Term,
    weight: f32,
}

impl RelevanceFeedback<'_> {
    /// Scores ranked candidates again and sorts them best first. With a meaning of the query, the candidates that are best by
    /// words and meaning are assumed to be relevant.
    pub(crate) fn rescore(
        &self,
        meaning: Option<&Meaning<'_>>,
        candidates: &mut [Candidate],
    ) -> tantivy::Result<()> {
        let added = match meaning {
            None => self.typical_words(candidates)?,
            Some(meaning) => {
                let mut combined = candidates.to_vec();
                meaning.combine(self.view, &mut combined)?;
                self.typical_words(&mut combined)?
            }
        };
        let added_weight = added.iter().map(|word| word.weight).sum::<f32>();
        if added_weight <= 0.0 {
            return Ok(());
        }
        let scale = WEIGHT * self.statistics.total_idf() / added_weight;
        add_scores(self.view, self.statistics, (&added, scale), candidates)?;
        best_first(candidates);
        Ok(())
    }

    /// Returns the words that distinguish the best candidates from the rest of the index.
    fn typical_words(&self, candidates: &mut [Candidate]) -> tantivy::Result<Vec<ExpansionTerm>> {
        let (relevant, others) = candidates.split_at_mut(candidates.len().min(RELEVANT_CANDIDATES));
        let floor = others.first().or(relevant.last()).map_or(0.0, |candidate| candidate.score);
        let total =
            relevant.iter().map(|candidate| candidate.score - floor).sum::<f32>().max(f32::MIN_POSITIVE);
        let lexicon = self.view.generation.vocabulary.lexicon.current();
        let mut shared: Vec<(StemId, f32)> = Vec::new();
        for candidate in relevant {
            let share = (candidate.score - floor) / total;
            let counts = self.words_of(candidate, &lexicon)?;
            shared.extend(counts.iter().map(|&(id, count)| (id, share * count * (K1 + 1.0) / (count + K1))));
        }
        // A stable sort, because sums of floats depend on the order.
        shared.sort_by_key(|&(id, _)| id);
        let mut added = Vec::new();
        for run in shared.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() >= MIN_SHARED) {
            let term = |text: &str| Term::from_field_text(self.view.fields.terms, text);
            let (text, documents) =
                lexicon.stem(run[0].0, |text| self.view.searcher.doc_freq(&term(text)))?;
            let idf = inverse_document_frequency(documents, self.statistics.documents);
            let weight = run.iter().map(|&(_, weight)| weight).sum::<f32>() * idf;
            added.push((text, weight));
        }
        // Words with equal weights are in alphabetical order.
        added.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        added.truncate(MAX_EXPANSION_TERMS);
        let word = |(text, weight): (Box<str>, f32)| {
            let term = Term::from_field_text(self.view.fields.terms, &text);
            ExpansionTerm { term, weight }
        };
        Ok(added.into_iter().map(word).collect())
    }

    /// Counts the words of the block of a page that matches the query best, and of its title.
    fn words_of(&self, candidate: &mut Candidate, lexicon: &Lexicon) -> tantivy::Result<Counts> {
        let bytes = candidate.display_doc(self.view)?;
        let Some(doc) = DisplayDoc::decode(&bytes) else {
            return Ok(Counts::default());
        };
        let positions = &self.positions[candidate.positions.clone()];
        let best = snippet::best_body_window(&doc, positions, &self.statistics.words);
        let position = best.map_or(0, |(first, _)| first);
        let part = (candidate.address, doc.block_start(position).unwrap_or_default());
        if let Some(counts) = lexicon.cached_counts(part) {
            return Ok(counts);
        }
        let block = doc.block_at(position);
        let texts = once(doc.header.title).chain(block.iter().flat_map(DecodedBlock::passages));
        Ok(lexicon.count(part, texts, Language::from_code(doc.header.language)))
    }
}

/// Adds the BM25 scores for the words of the query to the scores of candidates, which no query of tantivy has scored.
pub(crate) fn score_words(
    view: &SubIndexSearcher,
    statistics: &QueryStatistics,
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    let terms = statistics.words.iter().flat_map(|word| word.terms.iter().map(|term| (term, word.idf)));
    let terms = terms.map(|(term, weight)| ExpansionTerm { term: term.clone(), weight });
    add_scores(view, statistics, (&terms.collect::<Vec<_>>(), 1.0), candidates)
}

/// Adds the BM25 scores for words to the scores of candidates.
fn add_scores(
    view: &SubIndexSearcher,
    statistics: &QueryStatistics,
    (words, scale): (&[ExpansionTerm], f32),
    candidates: &mut [Candidate],
) -> tantivy::Result<()> {
    let mean_length = statistics.mean_length();
    let mut order: Vec<&mut Candidate> = candidates.iter_mut().collect();
    order.sort_unstable_by_key(|candidate| candidate.address);
    for group in order.chunk_by_mut(|a, b| a.address.segment_ord == b.address.segment_ord) {
        let segment = view.searcher.segment_reader(group[0].address.segment_ord);
        let lengths = segment.get_fieldnorms_reader(view.fields.terms)?;
        let index = segment.inverted_index(view.fields.terms)?;
        for ExpansionTerm { term, weight } in words {
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
