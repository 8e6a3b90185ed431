//! `[llm]`: the endpoints of language models.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// `[llm]`: an OpenAI-compatible endpoint, and others for when it fails. Without `base_url` there is none.
#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Llm {
    /// Base URL, which usually ends in `/v1`. Its query is a part of every request.
    pub(crate) base_url: Option<String>,
    pub(crate) api_key: Option<String>,
    /// Headers of every request.
    pub(crate) headers: BTreeMap<String, String>,
    /// Model that generates text.
    pub(crate) model: Option<String>,
    /// Models of single features.
    pub(crate) models: BTreeMap<String, String>,
    /// Model that reranks texts.
    pub(crate) rerank_model: Option<String>,
    /// `reasoning_effort` of requests.
    pub(crate) reasoning_effort: Option<String>,
    /// Temperature, 0 to 2.
    pub(crate) temperature: f64,
    pub(crate) seed: Option<u32>,
    /// Additional parameters of the body of completions.
    pub(crate) extra_body: toml::Table,
    pub(crate) timeout_ms: u64,
    pub(crate) concurrency: usize,
    pub(crate) max_input_chars: usize,
    /// Context of the server, in tokens.
    pub(crate) context_tokens: Option<u32>,
    /// Upper bound for the length of any response, in tokens.
    pub(crate) max_output_tokens: Option<u32>,
    /// `[[llm.fallback]]`: the endpoints after this one, with the same keys, except for this one.
    pub(crate) fallback: Vec<Self>,
    /// Several formats of a page share one request.
    pub(crate) combine: bool,
}

impl Llm {
    /// The names of the keys of one endpoint.
    pub(super) const KEYS: &'static [&'static str] = &[
        "base_url",
        "api_key",
        "headers",
        "model",
        "models",
        "rerank_model",
        "reasoning_effort",
        "temperature",
        "seed",
        "extra_body",
        "timeout_ms",
        "concurrency",
        "max_input_chars",
        "context_tokens",
        "max_output_tokens",
        "combine",
    ];
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            headers: BTreeMap::new(),
            model: None,
            models: BTreeMap::new(),
            rerank_model: None,
            reasoning_effort: None,
            temperature: 0.0,
            seed: None,
            extra_body: toml::Table::new(),
            timeout_ms: 120_000,
            concurrency: 4,
            max_input_chars: 48_000,
            context_tokens: None,
            max_output_tokens: None,
            fallback: Vec::new(),
            combine: false,
        }
    }
}

impl fmt::Debug for Llm {
    /// Omits the key, the headers, the additional parameters, and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm").field("model", &self.model).finish_non_exhaustive()
    }
}
