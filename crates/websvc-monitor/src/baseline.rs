//! The baseline of a page: the content with which the next check compares it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The content of a page at the last check that could read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageBaseline {
    /// ID of the scrape.
    pub(crate) scrape_id: Option<String>,
    pub(crate) markdown: String,
    /// Extracted data, if the target extracts some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<Value>,
}

/// The decision about a search result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultBaseline {
    /// Goal, name and queries for which the decision was made: with others, the result counts as new.
    pub(crate) purpose: String,
    /// True if the result was reported; otherwise it may be judged again.
    pub(crate) is_reported: bool,
    /// True if the result is judged again at the next check.
    pub(crate) is_watched: bool,
}

/// Returns a baseline as the store keeps it.
pub(crate) fn encode(baseline: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(baseline).expect("baselines have only strings and JSON")
}

/// Reads a baseline. One that cannot be read counts as missing: the page is new then.
pub(crate) fn decode<T: for<'de> Deserialize<'de>>(document: &[u8]) -> Option<T> {
    serde_json::from_slice(document).ok()
}
