//! The encoder of texts, and the settings of the search by meaning.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

/// The error of an encoder, as a text for the log without parts of the texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(pub String);

/// An encoder of texts: texts of similar meaning have vectors with a large cosine. All functions may block.
pub trait PassageEncoder: fmt::Debug + Send + Sync {
    /// Returns a text that identifies the model and everything that its vectors depend on. Vectors of another model are
    /// discarded.
    fn identity(&self) -> Result<String, EncodeError>;

    /// Encodes a query.
    fn encode_query(&self, query: &str, deadline: Option<Instant>) -> Result<Vec<f32>, EncodeError>;

    /// Encodes passages of pages; returns one vector for each.
    fn encode_passages(&self, passages: &[String]) -> Result<Vec<Vec<f32>>, EncodeError>;
}

/// Settings of the search by meaning.
#[derive(Debug, Clone)]
pub struct SemanticConfig {
    /// The encoder.
    pub encoder: Arc<dyn PassageEncoder>,
    /// Maximum passages of a page that are encoded; the rest of a longer page is found by its words only.
    pub max_passages: usize,
    /// Maximum number of vectors that every search is compared with. In an index with more, only the candidates of the
    /// words are ranked by their meaning.
    pub max_compared: usize,
    /// Minimum cosine of a page without the words of the query.
    pub min_similarity: f32,
    /// Share of the time of one processor that the background work takes, in percent.
    pub cpu_percent: u32,
    /// True if this process encodes pages in the background. Only a process that may write to the index can.
    pub encodes: bool,
    /// The turn of the indexes that share these settings: one of them encodes at a time, and keeps the turn for its pause.
    pub turn: Arc<Mutex<()>>,
}

impl SemanticConfig {
    /// Returns the defaults for an encoder.
    #[must_use]
    pub fn new(encoder: Arc<dyn PassageEncoder>) -> Self {
        Self {
            encoder,
            max_passages: 4,
            max_compared: 100_000,
            min_similarity: 0.3,
            cpu_percent: 50,
            encodes: false,
            turn: Arc::default(),
        }
    }
}
