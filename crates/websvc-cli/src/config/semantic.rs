//! `[semantic]`: the search by meaning in the embedded index.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::Deserialize;

/// `[semantic]`: the model of the search by meaning. Without `model` and `url`, pages are found by their words alone.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Semantic {
    /// Directory of a model that runs in this process.
    pub(crate) model: Option<PathBuf>,
    /// Base URL of an OpenAI-compatible endpoint with embeddings, in place of `model`.
    pub(crate) url: Option<String>,
    /// Name of the model of the endpoint.
    pub(crate) url_model: Option<String>,
    pub(crate) api_key: Option<String>,
    /// Headers of every request to the endpoint.
    pub(crate) headers: BTreeMap<String, String>,
    /// Maximum time for a batch of passages at the endpoint.
    pub(crate) timeout_ms: NonZeroU64,
    /// Maximum time for the query of a search at the endpoint.
    pub(crate) query_timeout_ms: NonZeroU64,
    /// Maximum number of concurrent requests to the endpoint.
    pub(crate) concurrency: usize,
    /// Text before each query.
    pub(crate) query_prefix: String,
    /// Text before each passage.
    pub(crate) passage_prefix: String,
    /// Maximum number of passages of a page.
    pub(crate) passages: usize,
    /// Maximum number of vectors that every search is compared with.
    pub(crate) max_compared: usize,
    /// Minimum cosine of a page without the words of the query.
    pub(crate) min_similarity: f32,
    /// Share of a processor for encoding in the background, in percent.
    pub(crate) cpu_percent: u32,
}

impl Default for Semantic {
    fn default() -> Self {
        let ms = |ms| NonZeroU64::new(ms).unwrap_or(NonZeroU64::MIN);
        Self {
            model: None,
            url: None,
            url_model: None,
            api_key: None,
            headers: BTreeMap::new(),
            timeout_ms: ms(30_000),
            query_timeout_ms: ms(1_000),
            concurrency: 4,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            passages: 4,
            max_compared: 100_000,
            min_similarity: 0.3,
            cpu_percent: 50,
        }
    }
}
