//! Pages of a check, with their diffs and judgments (operations.md, sections 3.4 to 3.7).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

use super::check::MonitorCheck;
use super::page_status::MonitorPageStatus;

/// Check of a monitor, and its pages.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorCheckDetail {
    /// The check, at the top level of the object.
    #[serde(flatten)]
    pub check: MonitorCheck,
    /// Pages of the check, in the order in which they were done.
    pub pages: Vec<MonitorCheckPage>,
    /// URL of the next pages. Absent unless further pages are done.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub next: Option<String>,
}

/// Page of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheckPage {
    /// ID of the page in this check.
    pub id: String,
    /// ID of the target.
    pub target_id: String,
    /// URL of the page, as requested.
    pub url: String,
    /// Result of the comparison with the last check.
    pub status: MonitorPageStatus,
    /// ID of the scrape that the page was compared with. Null if there is none.
    pub previous_scrape_id: Option<String>,
    /// ID of the scrape of this check. Null if there is none.
    pub current_scrape_id: Option<String>,
    /// HTTP status of the page. Null if there was no response.
    pub status_code: Option<u16>,
    /// Reason why the page could not be checked. Null if there is none.
    pub error: Option<String>,
    /// Further information about the page. Null if there is none.
    pub metadata: Option<MonitorPageMetadata>,
    /// Changes of the page. Null unless it changed.
    pub diff: Option<MonitorPageDiff>,
    /// Extracted data of the page. Absent unless the target extracts data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "MonitorPageSnapshot"))]
    pub snapshot: Option<MonitorPageSnapshot>,
    /// Judgment of the changes. Null if they were not judged.
    pub judgment: Option<MonitorJudgment>,
    /// Time when the page was done, ISO 8601.
    pub created_at: String,
}

/// Further information about a page of a check: of a scraped page, or of a search result.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MonitorPageMetadata {
    /// Title of the page.
    pub title: Option<String>,
    /// Media type of the page.
    pub content_type: Option<String>,
    /// Number of pages of a document.
    pub num_pages: Option<u64>,
    /// Proxy that the page was fetched with.
    pub proxy_used: Option<String>,
    /// Credits of the page.
    pub credits_used: Option<u64>,
    /// False if the page differs from its last version, and the conditions of the target do not hold.
    pub conditions_met: Option<bool>,
    /// State of a search result.
    pub search_status: Option<MonitorSearchStatus>,
    /// Queries that found a search result.
    pub matched_queries: Option<Vec<String>>,
    /// Subject of a search result.
    pub concept: Option<String>,
    /// Reason for the state of a search result.
    pub rationale: Option<String>,
    /// Time when a search result was published.
    pub published_at: Option<String>,
    /// Key of the event that a search result reports.
    pub event_key: Option<String>,
    /// True if a search result was judged in this check.
    pub judged_this_run: Option<bool>,
}

/// States of a search result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MonitorSearchStatus {
    /// The result is new, and meaningful or not judged.
    Alert,
    /// The result was reported before.
    AlreadySeen,
    /// The result is not meaningful yet, and is judged again.
    Watching,
    /// The result is not meaningful.
    Ignored,
    /// The result could not be scraped or judged, and is tried again.
    Skipped,
}

/// Changes of a page.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MonitorPageDiff {
    /// Unified diff of the markdown. Absent if only extracted data is compared.
    pub text: Option<String>,
    /// Parsed diff of the markdown, with `files`; or, if extracted data is compared, the changed fields by path, each
    /// with `previous` and `current`.
    pub json: Option<Map<String, Value>>,
}

/// Extracted data of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MonitorPageSnapshot {
    /// The data. A value that is not an object is in the field `value`.
    pub json: Map<String, Value>,
}

/// Judgment of the changes of a page by the goal of the monitor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorJudgment {
    /// True if the changes matter.
    pub meaningful: bool,
    /// Confidence of the judgment.
    pub confidence: MonitorConfidence,
    /// Reason of the judgment.
    pub reason: String,
    /// Changes that matter.
    pub meaningful_changes: Vec<MeaningfulChange>,
    /// Always empty. An official client requires it.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// Confidence of a judgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MonitorConfidence {
    /// High.
    High,
    /// Medium.
    Medium,
    /// Low, or there is no judgment.
    Low,
}

/// Change that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct MeaningfulChange {
    /// Kind of the change.
    #[serde(rename = "type")]
    pub kind: MeaningfulChangeKind,
    /// Content before. Null if it was added.
    pub before: Option<String>,
    /// Content after. Null if it was removed.
    pub after: Option<String>,
    /// Reason why the change matters.
    pub reason: String,
}

/// Kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MeaningfulChangeKind {
    /// Content was added.
    Added,
    /// Content was removed.
    Removed,
    /// Content was changed.
    Changed,
}
