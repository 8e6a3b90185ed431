//! A wrapper for excluded queries.
//!
//! Tantivy may seek an excluded query to a document before its current one, which the phrase scorer does not allow (it
//! asserts in debug builds). The wrapper only seeks the inner query forward.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

/// A query that matches the same documents as the inner query.
#[derive(Debug)]
pub(crate) struct ExclusionQuery(pub(crate) Box<dyn Query>);

impl Clone for ExclusionQuery {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for ExclusionQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(ExclusionWeight(self.0.weight(scoring)?)))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

struct ExclusionWeight(Box<dyn Weight>);

impl Weight for ExclusionWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(ExclusionScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(reader, doc)
    }
}

/// A scorer that never seeks backwards. It uses the default `seek_danger` of the trait, which calls [`DocSet::seek`].
struct ExclusionScorer(Box<dyn Scorer>);

impl DocSet for ExclusionScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.0.doc() >= target { self.0.doc() } else { self.0.seek(target) }
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for ExclusionScorer {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
