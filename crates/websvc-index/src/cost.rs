//! What a search costs, for callers that must not be held up.

use websvc_query::{Node, Operator, Query};

use crate::index::Index;
use crate::search::{KEYWORDS, SearchOptions, Vertical};

/// With more documents the lists of frequent words alone take too long.
const QUICK_DOCUMENTS: u64 = 20_000;

/// Every hit has its text read and compared with the others.
const QUICK_HITS: usize = 20;

impl Index {
    /// Tells whether a search takes less than the half millisecond that an async thread may be held, so that handing
    /// it to another thread would cost more than it. Long questions, images and `related:` look at the texts of many
    /// pages and are never quick.
    #[must_use]
    pub fn is_quick(&self, query: &Query, options: &SearchOptions) -> bool {
        self.document_count() <= QUICK_DOCUMENTS
            && options.limit <= QUICK_HITS
            && options.vertical != Vertical::Images
            && query.words().count() <= KEYWORDS
            && !query.root().is_some_and(asks_for_related)
    }
}

fn asks_for_related(node: &Node) -> bool {
    match node {
        Node::And(children) | Node::Or(children) => children.iter().any(asks_for_related),
        Node::Not(child) => asks_for_related(child),
        Node::Operator(operator) => matches!(operator, Operator::Related(_)),
        Node::Word(_) | Node::Phrase(_) => false,
    }
}
