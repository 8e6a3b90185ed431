//! Payloads of the events of a monitor: the item in `data` of a webhook event (operations.md, section 3.8).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;

use super::check::{MonitorCheckStatus, MonitorCheckSummary};
use super::page::MonitorJudgment;
use super::page_status::MonitorPageStatus;

/// Item in `data` of the event `monitor.page`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorPageEvent {
    /// ID of the monitor.
    pub monitor_id: String,
    /// ID of the check.
    pub check_id: String,
    /// URL of the page.
    pub url: String,
    /// Result of the comparison with the last check.
    pub status: MonitorPageStatus,
    /// ID of the scrape that the page was compared with. Null if there is none.
    pub previous_scrape_id: Option<String>,
    /// ID of the scrape of this check. Null if there is none.
    pub current_scrape_id: Option<String>,
    /// Reason why the page could not be checked. Null if there is none.
    pub error: Option<String>,
    /// True if the changes matter. Null unless the page changed and was judged.
    pub is_meaningful: Option<bool>,
    /// Judgment of the changes. Null if they were not judged.
    pub judgment: Option<MonitorJudgment>,
    /// Changes of the page. Null unless it changed.
    pub diff: Option<MonitorPageEventDiff>,
}

/// Changes of a page in an event.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct MonitorPageEventDiff {
    /// Unified diff of the markdown. Absent if only extracted data is compared.
    pub text: Option<String>,
    /// Changed fields of the extracted data by path, each with `previous` and `current`. Absent if no data is
    /// extracted.
    pub json: Option<Map<String, Value>>,
}

/// Item in `data` of the event `monitor.check.completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MonitorCheckEvent {
    /// ID of the monitor.
    pub monitor_id: String,
    /// ID of the check.
    pub check_id: String,
    /// State of the check.
    pub status: MonitorCheckStatus,
    /// Pages of the check by status.
    pub summary: MonitorCheckSummary,
}

impl MonitorPageEvent {
    /// Returns the value of `success` of the event.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status != MonitorPageStatus::Error
    }
}

impl MonitorCheckEvent {
    /// Returns the value of `success` of the event.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.status == MonitorCheckStatus::Completed
    }
}
