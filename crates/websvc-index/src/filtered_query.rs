//! A query whose documents have to pass a check that costs more than scoring them.
//!
//! The engine evaluates a conjunction document by document, and scores what is left. For a phrase of frequent words that
//! reads the positions of nearly every document. Here documents are scored first, and only those that would be among the
//! best are checked; whole blocks of documents that cannot be are not even scored.

use tantivy::query::{
    BooleanQuery, ConstScoreQuery, EnableScoring, Explanation, Occur, Query, Scorer, Weight,
};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, Term};

/// Matches what both queries match, with the scores of `ranked`.
#[derive(Debug)]
pub(crate) struct FilteredQuery {
    pub(crate) ranked: Box<dyn Query>,
    pub(crate) check: Box<dyn Query>,
}

impl Clone for FilteredQuery {
    fn clone(&self) -> Self {
        Self { ranked: self.ranked.box_clone(), check: self.check.box_clone() }
    }
}

impl Query for FilteredQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let check = ConstScoreQuery::new(self.check.box_clone(), 0.0);
        let both =
            BooleanQuery::new(vec![(Occur::Must, self.ranked.box_clone()), (Occur::Must, Box::new(check))]);
        Ok(Box::new(FilteredWeight {
            ranked: self.ranked.weight(scoring)?,
            check: self.check.weight(EnableScoring::Disabled {
                schema: scoring.schema(),
                searcher_opt: scoring.searcher(),
            })?,
            both: both.weight(scoring)?,
        }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.ranked.query_terms(visitor);
        self.check.query_terms(visitor);
    }
}

struct FilteredWeight {
    ranked: Box<dyn Weight>,
    check: Box<dyn Weight>,
    /// Combined weight, for collectors that need more than the best documents.
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
        let (begun, mut check) = self.check.scorer_danger(reader, 0, 1.0)?;
        // No document before this one passes.
        let mut next = match begun {
            SeekDangerResult::Found => 0,
            SeekDangerResult::SeekLowerBound(next) => next,
        };
        let mut threshold = threshold;
        self.ranked.for_each_pruning(threshold, reader, &mut |document, score| {
            if document >= next {
                match check.seek_danger(document) {
                    SeekDangerResult::Found => threshold = callback(document, score),
                    SeekDangerResult::SeekLowerBound(bound) => next = bound,
                }
            }
            threshold
        })
    }
}
