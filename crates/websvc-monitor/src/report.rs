//! The report of a check, from which messages to people are made.

use uuid::Uuid;
use websvc_notify::{
    CheckReport, CheckStatus as ReportStatus, FieldChange, Judgment, PageCounts, PageReport,
};
use websvc_store::{
    CheckPageRecord, CheckPageStatus, CheckRecord, CheckStatus, CheckSummary, Store, StoreError,
};
use websvc_types::monitor::{MonitorJudgment, MonitorPageDiff, MonitorPageStatus};

use crate::notification::Deliveries;
use crate::page::{PageFields, page_status};
use crate::time::from_ms;

/// Maximum number of pages of each status in a report. Messages show fewer.
const MAX_PAGES: u64 = 20;
/// Maximum size of the pages of each status in the report of one message, in bytes.
pub(crate) const MAX_PAGES_BYTES: u64 = 4 * 1024 * 1024;

/// Statuses of pages that people want to know of, the most important first.
const REPORTED: [CheckPageStatus; 4] =
    [CheckPageStatus::Changed, CheckPageStatus::New, CheckPageStatus::Removed, CheckPageStatus::Error];

/// Returns the report of a check that has ended, with the first pages of each status up to a size in bytes, at least one;
/// `None` for a check that is not finished. Blocks.
pub(crate) fn check_report(
    store: &Store,
    record: &CheckRecord,
    name: &str,
    max_bytes: u64,
) -> Result<Option<CheckReport>, StoreError> {
    let (Some(status), Some(finished_at_ms)) = (report_status(record.status), record.finished_at_ms) else {
        return Ok(None);
    };
    let (Ok(monitor_id), Ok(check_id)) = (Uuid::parse_str(&record.monitor_id), Uuid::parse_str(&record.id))
    else {
        return Ok(None);
    };
    let mut pages = Vec::new();
    for status in REPORTED {
        let found = store.check_pages(record.number, Some(status), 0, MAX_PAGES, max_bytes)?;
        pages.extend(found.pages.into_iter().map(page_report));
    }
    let summary = record.summary;
    Ok(Some(CheckReport {
        monitor_id,
        monitor_name: name.to_owned(),
        check_id,
        status,
        finished_at: from_ms(finished_at_ms),
        counts: PageCounts {
            new: summary.new,
            changed: summary.changed,
            removed: summary.removed,
            error: summary.error,
            same: summary.same,
        },
        pages,
        error: record.error.clone(),
        dashboard_url: None,
    }))
}

/// Returns the statuses of pages that a check found and that people are notified of: changed pages only if the model did
/// not judge that none of them matters (operations.md, section 3.8). The end of a check stores the result; before, this
/// reads judgments until one matters. Blocks.
pub(crate) fn found_statuses(
    store: &Store,
    record: &CheckRecord,
) -> Result<Vec<MonitorPageStatus>, StoreError> {
    if let Some(found) = Deliveries::decode(&record.notifications).found {
        return Ok(found);
    }
    let mut found = unjudged_statuses(record.summary);
    if record.summary.changed > 0 && !has_meaningful_change(store, record)? {
        found.retain(|status| *status != MonitorPageStatus::Changed);
    }
    Ok(found)
}

/// Returns the statuses of pages that a check without a judge found and that people are notified of.
pub(crate) fn unjudged_statuses(summary: CheckSummary) -> Vec<MonitorPageStatus> {
    let CheckSummary { total: _, same: _, changed, new, removed, error } = summary;
    let counts = [
        (changed, MonitorPageStatus::Changed),
        (new, MonitorPageStatus::New),
        (removed, MonitorPageStatus::Removed),
        (error, MonitorPageStatus::Error),
    ];
    counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, status)| status).collect()
}

/// Returns whether a changed page of a check matters, or was not judged. Blocks.
fn has_meaningful_change(store: &Store, record: &CheckRecord) -> Result<bool, StoreError> {
    let mut read = 0;
    while read < record.summary.changed {
        let status = Some(CheckPageStatus::Changed);
        let found = store.check_pages(record.number, status, read, MAX_PAGES, MAX_PAGES_BYTES)?;
        if found.pages.is_empty() {
            // The pages were deleted meanwhile.
            break;
        }
        read += found.pages.len() as u64;
        let is_meaningless = |page: PageReport| page.judgment.is_some_and(|judgment| !judgment.is_meaningful);
        if !found.pages.into_iter().map(page_report).all(is_meaningless) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn report_status(status: CheckStatus) -> Option<ReportStatus> {
    match status {
        CheckStatus::Queued | CheckStatus::Running => None,
        CheckStatus::Completed => Some(ReportStatus::Completed),
        CheckStatus::Partial => Some(ReportStatus::Partial),
        CheckStatus::Failed => Some(ReportStatus::Failed),
        CheckStatus::SkippedOverlap => Some(ReportStatus::SkippedOverlap),
        CheckStatus::SkippedNoCredits => Some(ReportStatus::SkippedNoCredits),
    }
}

fn page_report(record: CheckPageRecord) -> PageReport {
    let fields: PageFields = serde_json::from_slice(&record.document).unwrap_or_default();
    let diff = fields.diff.unwrap_or_default();
    PageReport {
        url: record.url,
        title: fields.metadata.and_then(|metadata| metadata.title),
        status: page_status(record.status),
        judgment: fields.judgment.map(judgment),
        fields: changed_fields(&diff),
        diff: diff.text,
        error: fields.error,
    }
}

/// Returns the changed fields of a diff. That of a text alone has the parsed text there.
fn changed_fields(diff: &MonitorPageDiff) -> Vec<FieldChange> {
    let fields = diff.json.iter().flatten().filter_map(|(path, change)| {
        let (previous, current) = (change.get("previous")?, change.get("current")?);
        Some(FieldChange { path: path.clone(), previous: previous.clone(), current: current.clone() })
    });
    fields.collect()
}

fn judgment(judgment: MonitorJudgment) -> Judgment {
    let MonitorJudgment { meaningful, confidence: _, reason, meaningful_changes, fields: _ } = judgment;
    Judgment { is_meaningful: meaningful, reason, changes: meaningful_changes }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn fields_are_read_from_the_diff_of_data_only() {
        let diff = |json: Value| MonitorPageDiff { text: None, json: json.as_object().cloned() };
        let fields = changed_fields(&diff(json!({ "a.b": { "previous": 1, "current": 2 } })));
        assert_eq!((fields[0].path.as_str(), &fields[0].current), ("a.b", &json!(2)));
        assert!(changed_fields(&diff(json!({ "files": [] }))).is_empty());
    }
}
