//! The combination of the scores of words and meaning.
//!
//! The score of a page is its score for the words, relative to the best candidate, plus a weight for each standard deviation
//! by which its best passage is more similar to the query than a typical one. A sum of normalized scores keeps how much better
//! a page is, which a combination of ranks loses.

use tantivy::DocAddress;
use websvc_query::Sort;

use super::nearest::nearest;
use super::query::MeaningSource;
use super::scores::Similarities;
use crate::candidate::{Candidate, best_first};
use crate::compiled::Compiled;
use crate::feedback::score_words;
use crate::rank::QueryStatistics;
use crate::search_options::{SearchOptions, Vertical};
use crate::sub_index::SubIndexSearcher;

/// Weight of a standard deviation of the similarity, relative to the best score of the words. Measured with the collections
/// of `examples/relevance.rs`; from 0.15 to 0.4 their results differ by less than 0.01.
const WEIGHT: f32 = 0.3;

/// Number of candidates that are ranked by their meaning if the query is not compared with all vectors.
const RESCORED_CANDIDATES: usize = 100;

/// The meaning of a query, in one state of the vectors.
pub(crate) struct Meaning<'a> {
    similarities: Similarities<'a>,
    min_similarity: f32,
}

impl<'a> Meaning<'a> {
    /// Compares a query with the vectors of an index. Returns `None` if only its words count: for images, in the order of
    /// dates, for a query of operators and phrases only, and for a short query with a text such as `1.2.3`, which means
    /// itself.
    pub(crate) fn new(
        (semantic, rows, query): MeaningSource<'a>,
        compiled: &Compiled,
        statistics: &QueryStatistics,
        options: &SearchOptions,
    ) -> tantivy::Result<Option<Self>> {
        let is_literal = statistics.is_keyword_query() && !statistics.runs.is_empty();
        let by_words = options.vertical == Vertical::Images || options.sort == Sort::Date;
        if by_words || is_literal || compiled.plain_words == 0 {
            return Ok(None);
        }
        let similarities = Similarities::new(rows, query, semantic.config.max_compared)?;
        let min_similarity = semantic.config.min_similarity;
        Ok(similarities.map(|similarities| Self { similarities, min_similarity }))
    }

    /// Returns the number of candidates of the words that are ranked at least.
    pub(crate) fn min_depth(&self, depth: usize) -> usize {
        if self.similarities.is_complete() { depth } else { depth.max(RESCORED_CANDIDATES) }
    }

    /// Adds the pages with the most similar passages to the candidates, with their scores for the words. Returns true if
    /// there may be more of them.
    pub(crate) fn add_nearest(
        &self,
        view: &SubIndexSearcher,
        compiled: &Compiled,
        statistics: &QueryStatistics,
        (depth, found): (usize, &mut Vec<Candidate>),
    ) -> tantivy::Result<bool> {
        if !self.similarities.is_complete() {
            return Ok(false);
        }
        let near = nearest(view, compiled, &self.similarities, (depth, self.min_similarity))?;
        let has_more = near.len() >= depth;
        let mut known: Vec<DocAddress> = found.iter().map(|candidate| candidate.address).collect();
        known.sort_unstable();
        let new = near.into_iter().filter(|address| known.binary_search(address).is_err());
        let mut new: Vec<Candidate> = new.map(|address| Candidate::new(address, 0.0)).collect();
        score_words(view, statistics, &mut new)?;
        found.append(&mut new);
        Ok(has_more)
    }

    /// Combines the scores of candidates for the words with their similarities, and sorts them best first.
    pub(crate) fn combine(
        &self,
        view: &SubIndexSearcher,
        candidates: &mut [Candidate],
    ) -> tantivy::Result<()> {
        let mut scores = Vec::with_capacity(candidates.len());
        for candidate in &*candidates {
            let segment = view.searcher.segment_reader(candidate.address.segment_ord);
            let key = segment.fast_fields().u64("fingerprint")?.first(candidate.address.doc_id);
            let cosine = self.similarities.cosine(key.unwrap_or_default())?;
            scores.push(cosine.map(|cosine| self.similarities.standard_score(cosine)));
        }
        // A page that is not encoded yet counts as similar as the other candidates on average.
        let known = || scores.iter().flatten();
        let typical = known().sum::<f32>() / known().count().max(1) as f32;
        let best = candidates.iter().map(|candidate| candidate.score).fold(f32::MIN_POSITIVE, f32::max);
        for (candidate, score) in candidates.iter_mut().zip(scores) {
            candidate.score = candidate.score / best + WEIGHT * score.unwrap_or(typical);
        }
        best_first(candidates);
        Ok(())
    }
}
