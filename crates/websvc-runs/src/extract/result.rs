//! The result of an extraction, as the store keeps it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use websvc_types::extract::ExtractUrl;

/// The result of an extraction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredExtraction {
    /// The data of an extraction that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
    /// The pages that state the values, by the path of the field, if the request wants them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sources: Option<BTreeMap<String, Vec<String>>>,
    /// The pages, if the request wants them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url_trace: Option<Vec<ExtractUrl>>,
    pub(crate) tokens: u64,
    /// Problems that did not fail it, with those of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

impl StoredExtraction {
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("a result is JSON")
    }

    /// Reads a stored result. That of an extraction that was interrupted has other fields, and becomes an empty one.
    pub(crate) fn decode(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}
