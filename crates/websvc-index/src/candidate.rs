//! The documents that may become hits.

use std::ops::Range;

use tantivy::DocAddress;
use tantivy::directory::OwnedBytes;

use crate::sub_index::SubIndexSearcher;

/// A document that may become a hit.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) address: DocAddress,
    pub(crate) score: f32,
    /// True if the candidate is about as relevant as the best one: it has all words of a keyword query, or a score
    /// close to the best for a longer query.
    pub(crate) is_close: bool,
    /// Range of its word positions in the result of [`crate::rank::read_positions`].
    pub(crate) positions: Range<usize>,
    /// Its display document, after it was read.
    display_doc: Option<OwnedBytes>,
}

impl Candidate {
    pub(crate) fn new(address: DocAddress, score: f32) -> Self {
        Self { address, score, is_close: true, positions: 0..0, display_doc: None }
    }

    /// Returns the bytes of its display document, which are read once and shared.
    pub(crate) fn display_doc(&mut self, view: &SubIndexSearcher) -> tantivy::Result<OwnedBytes> {
        let bytes = match self.display_doc.take() {
            Some(bytes) => bytes,
            None => view.display_doc(self.address)?,
        };
        Ok(self.display_doc.insert(bytes).clone())
    }
}

/// Sorts candidates by score.
pub(crate) fn best_first(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.address.cmp(&b.address)));
}
