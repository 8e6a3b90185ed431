//! The state of the search by meaning of one index, and the vectors of queries.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use quick_cache::sync::Cache;
use websvc_query::Query;

use super::encoder::SemanticConfig;
use super::quantized::QueryVector;
use super::store::{Rows, VectorStore};
use crate::search::IndexSearcher;
use crate::search_options::{SearchOptions, SearchOutcome, Vertical};

/// The subdirectory of the index with the vectors.
const FOLDER: &str = "vectors";

/// Number of queries whose vectors are cached.
const CACHED_QUERIES: usize = 256;

/// Maximum characters of a query that are encoded.
const QUERY_CHARS: usize = 2_000;

/// The warning of a search whose query could not be encoded.
const FALLBACK_WARNING: &str = "These results were found by words alone, because the model for the search by meaning gave no answer in time.";

/// The query could not be encoded.
struct Fallback;

/// The two sides of a comparison by meaning: the index, its vectors, and the vector of the query.
pub(crate) type MeaningSource<'a> = (&'a Semantic, &'a Rows, &'a QueryVector);

/// Statistics of the search by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SemanticStats {
    /// Pages with vectors.
    pub pages: u64,
    /// Pages that are not encoded yet, as far as the last look at the index has counted them.
    pub waiting: u64,
    /// Vectors.
    pub vectors: u64,
    /// Bytes of the vectors on disk.
    pub bytes: u64,
    /// Searches by meaning and words since the start.
    pub searches: u64,
    /// Searches by words alone since the start, because the encoder failed.
    pub fallbacks: u64,
    /// Batches of passages since the start that the encoder failed to encode.
    pub failures: u64,
    /// True if the index has more vectors than a search compares, so that only candidates of the words are ranked by meaning.
    pub is_beyond_comparison: bool,
}

/// The search by meaning of one index.
#[derive(Debug)]
pub(crate) struct Semantic {
    pub(super) config: SemanticConfig,
    pub(super) store: VectorStore,
    queries: Cache<String, QueryVector>,
    /// The last failure that was logged, so that each is logged once.
    logged: Mutex<Option<String>>,
    searches: AtomicU64,
    fallbacks: AtomicU64,
    pub(super) waiting: AtomicU64,
    pub(super) failures: AtomicU64,
}

impl Semantic {
    /// Creates the state of the index in a directory.
    pub(crate) fn new(index: &Path, config: SemanticConfig) -> Self {
        Self {
            config,
            store: VectorStore::new(index.join(FOLDER)),
            queries: Cache::new(CACHED_QUERIES),
            logged: Mutex::default(),
            searches: AtomicU64::new(0),
            fallbacks: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// Returns the vector of a query. Returns `None` without a failure for a query without words, and in an index without
    /// vectors.
    fn query_vector(&self, query: &Query, options: &SearchOptions) -> Result<Option<QueryVector>, Fallback> {
        let words: Vec<_> = query.words().collect();
        let text: String = words.join(" ").chars().take(QUERY_CHARS).collect();
        if text.trim().is_empty() || options.vertical == Vertical::Images || options.limit == 0 {
            return Ok(None);
        }
        if let Err(error) = self.store.refresh() {
            return self.fall_back(&error);
        }
        if self.store.read().as_ref().is_none_or(|rows| rows.vectors() == 0) {
            return Ok(None);
        }
        self.searches.fetch_add(1, Ordering::Relaxed);
        if let Some(vector) = self.queries.get(&text) {
            return Ok(Some(vector));
        }
        match self.config.encoder.encode_query(&text, options.deadline) {
            Ok(values) => {
                let vector = QueryVector::new(&values);
                if let Some(vector) = &vector {
                    self.queries.insert(text, vector.clone());
                }
                Ok(vector)
            }
            Err(error) => self.fall_back(&error),
        }
    }

    /// Searches by words and meaning. Without a vector of the query, the search is one by words.
    pub(crate) fn search(
        &self,
        searcher: &IndexSearcher<'_>,
        query: &Query,
        options: &SearchOptions,
    ) -> tantivy::Result<SearchOutcome> {
        let (vector, failed) = match self.query_vector(query, options) {
            Ok(vector) => (vector, false),
            Err(Fallback) => (None, true),
        };
        let rows = self.store.read();
        let meaning = rows.as_ref().zip(vector.as_ref());
        let mut outcome =
            searcher.search(query, options, meaning.map(|(rows, query)| (self, rows, query)))?;
        if failed {
            outcome.warnings.push(FALLBACK_WARNING.to_owned());
        }
        Ok(outcome)
    }

    /// Returns statistics.
    pub(crate) fn stats(&self) -> SemanticStats {
        // On failure, those of the last success.
        let _ = self.store.refresh();
        let rows = self.store.read();
        let rows = rows.as_ref();
        SemanticStats {
            pages: rows.map_or(0, |rows| rows.spans.len() as u64),
            waiting: self.waiting.load(Ordering::Relaxed),
            vectors: rows.map_or(0, |rows| u64::from(rows.vectors())),
            bytes: rows.and_then(|rows| rows.files.bytes().ok()).unwrap_or(0),
            searches: self.searches.load(Ordering::Relaxed),
            fallbacks: self.fallbacks.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            is_beyond_comparison: rows.is_some_and(|rows| rows.rows as usize > self.config.max_compared),
        }
    }

    fn fall_back<T>(&self, error: &(dyn std::error::Error + 'static)) -> Result<T, Fallback> {
        self.fallbacks.fetch_add(1, Ordering::Relaxed);
        self.log_once(error, "a search is by words alone: the query could not be encoded");
        Err(Fallback)
    }

    /// Logs a failure unless it was the last one.
    pub(super) fn log_once(&self, error: &(dyn std::error::Error + 'static), what: &str) {
        let mut logged = self.logged.lock();
        let reason = error.to_string();
        if logged.as_ref() != Some(&reason) {
            tracing::warn!(error, "{what}");
            *logged = Some(reason);
        }
    }
}
