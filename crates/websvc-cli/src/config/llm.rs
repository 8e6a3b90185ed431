//! `[llm]`: the endpoint of language models.

use std::fmt;

use serde::Deserialize;

/// `[llm]`: an OpenAI-compatible endpoint. Without `base_url` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Llm {
    /// Base URL, which usually ends in `/v1`.
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<String>,
    /// Model that generates text.
    pub(crate) model: Option<String>,
    /// Model that reranks texts.
    pub(crate) rerank_model: Option<String>,
    /// `reasoning_effort` of requests.
    pub(crate) reasoning_effort: Option<String>,
    pub(crate) timeout_ms: u64,
    pub(crate) concurrency: usize,
    pub(crate) max_input_chars: usize,
    /// Several formats of a page share one request.
    pub(crate) combine: bool,
}

impl Llm {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "base_url",
        "api_key",
        "model",
        "rerank_model",
        "reasoning_effort",
        "timeout_ms",
        "concurrency",
        "max_input_chars",
        "combine",
    ];
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            model: None,
            rerank_model: None,
            reasoning_effort: None,
            timeout_ms: 120_000,
            concurrency: 4,
            max_input_chars: 48_000,
            combine: false,
        }
    }
}

impl fmt::Debug for Llm {
    /// Omits the key, and the URL, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm").field("model", &self.model).finish_non_exhaustive()
    }
}
