//! A query with a filter that costs more than scoring.
//!
//! Tantivy evaluates a conjunction document by document and scores the matches. For a phrase of frequent words, this
//! reads the positions of nearly every document. A [`FilteredQuery`] scores documents first and only filters those that
//! would be among the best; whole blocks of documents with lower maximum scores are skipped.

use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EnableScoring, Explanation, Occur, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, Term};

/// A query that matches the documents of both queries, with the scores of `ranked`.
#[derive(Debug)]
pub(crate) struct FilteredQuery {
    pub(crate) ranked: Box<dyn Query>,
    pub(crate) filter: Box<dyn Query>,
}

impl Clone for FilteredQuery {
    fn clone(&self) -> Self {
        Self { ranked: self.ranked.box_clone(), filter: self.filter.box_clone() }
    }
}

impl Query for FilteredQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let filter = ConstScoreQuery::new(self.filter.box_clone(), 0.0);
        let both =
            BooleanQuery::new(vec![(Occur::Must, self.ranked.box_clone()), (Occur::Must, Box::new(filter))]);
        Ok(Box::new(FilteredWeight {
            ranked: self.ranked.weight(scoring)?,
            filter: self.filter.weight(EnableScoring::Disabled {
                schema: scoring.schema(),
                searcher_opt: scoring.searcher(),
            })?,
            both: both.weight(scoring)?,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.ranked.query_terms(visitor);
        self.filter.query_terms(visitor);
    }
}

struct FilteredWeight {
    ranked: Box<dyn Weight>,
    filter: Box<dyn Weight>,
    /// Weight of the conjunction, for collectors that need more than the best documents.
    both: Box<dyn Weight>,
}

impl Weight for FilteredWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.both.scorer(reader, boost)
    }

    fn explain(&self, reader: &SegmentReader, document: DocId) -> tantivy::Result<Explanation> {
        self.both.explain(reader, document)
    }

    fn for_each_pruning(
        &self,
        threshold: Score,
        reader: &SegmentReader,
        callback: &mut dyn FnMut(DocId, Score) -> Score,
    ) -> tantivy::Result<()> {
        let (first, mut filter) = self.filter.scorer_danger(reader, 0, 1.0)?;
        // Lower bound of the next document that passes the filter.
        let mut next = match first {
            SeekDangerResult::Found => 0,
            SeekDangerResult::SeekLowerBound(next) => next,
        };
        let mut threshold = threshold;
        self.ranked.for_each_pruning(threshold, reader, &mut |document, score| {
            if document >= next {
                match filter.seek_danger(document) {
                    SeekDangerResult::Found => threshold = callback(document, score),
                    SeekDangerResult::SeekLowerBound(bound) => next = bound,
                }
            }
            threshold
        })
    }
}
