//! The request of an extraction as the store keeps it, and its status for its client.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use websvc_jobs::timestamp;
use websvc_store::{RunRecord, RunStatus};
use websvc_types::extract::{DEPRECATION, ExtractRequest, ExtractStatus, ExtractStatusResponse, REPLACEMENT};

use super::StoredExtraction;

/// The request of an extraction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredExtractRequest {
    /// The request. It has no webhook: that may contain secrets, and is stored only in its own table.
    pub request: ExtractRequest,
    /// Problems that did not fail the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl StoredExtractRequest {
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

/// Returns the status of an extraction for its client.
pub(crate) fn extract_status(
    record: &RunRecord,
    result: Option<StoredExtraction>,
    retention: Duration,
) -> ExtractStatusResponse {
    let StoredExtraction { data, sources, url_trace, tokens, warnings } = result.unwrap_or_default();
    let retention_ms = u64::try_from(retention.as_millis()).unwrap_or(u64::MAX);
    let expires_at_ms = record.expires_at_ms.unwrap_or(record.created_at_ms.saturating_add(retention_ms));
    let is_finished = record.status.is_finished();
    let status = match record.status {
        RunStatus::Queued | RunStatus::Running => ExtractStatus::Processing,
        RunStatus::Succeeded => ExtractStatus::Completed,
        RunStatus::Cancelled => ExtractStatus::Cancelled,
        RunStatus::Failed | RunStatus::Refused | RunStatus::CreditLimitReached => ExtractStatus::Failed,
    };
    ExtractStatusResponse {
        success: matches!(status, ExtractStatus::Processing | ExtractStatus::Completed),
        id: record.id.clone(),
        status,
        data: data.filter(|_| status == ExtractStatus::Completed),
        error: record.error.clone(),
        expires_at: timestamp(expires_at_ms),
        sources,
        url_trace,
        tokens_used: is_finished.then_some(tokens),
        credits_used: is_finished.then_some(record.credits),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        warnings: vec![DEPRECATION.to_owned()],
        replacement: REPLACEMENT.to_owned(),
    }
}
