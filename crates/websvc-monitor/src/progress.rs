//! The progress of a check, as the store keeps it.

use serde::{Deserialize, Serialize};
use websvc_types::monitor::{MonitorTargetKind, MonitorTargetResult};

/// The progress of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckProgress {
    /// The targets in their order; empty before the start.
    #[serde(default)]
    pub(crate) targets: Vec<TargetProgress>,
    /// Credits of searches and judgments. Those of pages are counted by their jobs.
    #[serde(default)]
    pub(crate) credits: u64,
    /// Number of events of pages that were stored for the webhook.
    #[serde(default)]
    pub(crate) page_events: u64,
}

/// The progress of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TargetProgress {
    /// The result on the wire.
    pub(crate) result: MonitorTargetResult,
    /// ID of the batch or the crawl that scrapes its pages. It is stored before the job is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) job: Option<String>,
    /// Number of documents of the job whose results are stored.
    #[serde(default)]
    pub(crate) documents: u64,
    /// Found results of a search target that are not stored yet, the next one first; `None` before the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) results: Option<Vec<FoundResult>>,
    #[serde(default)]
    pub(crate) is_done: bool,
}

/// A result of the searches of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoundResult {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) published_at: Option<String>,
    /// The queries that found it.
    pub(crate) queries: Vec<String>,
}

impl TargetProgress {
    pub(crate) fn new(id: &str, kind: MonitorTargetKind) -> Self {
        Self {
            result: MonitorTargetResult::new(id, kind),
            job: None,
            documents: 0,
            results: None,
            is_done: false,
        }
    }
}

impl CheckProgress {
    /// Reads a stored progress. One that cannot be read starts again, which stores no page twice.
    pub(crate) fn decode(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// Returns the progress as the store keeps it.
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("the progress has only strings and numbers")
    }
}
