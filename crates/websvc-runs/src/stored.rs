//! The requests and results of agent runs, as the store keeps them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use websvc_types::agent::AgentRequest;

/// The request of an agent run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRequest {
    /// The request, with the fields that it inherited from its thread. It has no webhook: that may contain secrets, and is
    /// stored only in its own table.
    pub request: AgentRequest,
    /// Problems that did not fail the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl StoredRequest {
    /// Returns the request as JSON.
    #[must_use]
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("a request was read from JSON")
    }

    /// Reads a stored request; `None` if another version of the program stored it.
    #[must_use]
    pub fn decode(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }
}

/// The result of an agent run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredResult {
    pub(crate) stop_reason: String,
    /// The data of a run that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
    /// The data of another run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial_schema_valid: Option<bool>,
}

impl StoredResult {
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("a result is JSON")
    }

    pub(crate) fn decode(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }
}
