//! The result of one page of a scrape or crawl target (operations.md, section 3.4).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use websvc_store::{Baseline, BaselineChange, CheckPageStatus};
use websvc_types::Metadata;
use websvc_types::job::JobDocument;
use websvc_types::monitor::{
    MonitorJudgment, MonitorPageDiff, MonitorPageEvent, MonitorPageEventDiff, MonitorPageMetadata,
    MonitorPageSnapshot, MonitorPageStatus,
};
use websvc_validate::PageRules;

use crate::baseline::{PageBaseline, decode, encode};
use crate::compare::{compare, data_object};
use crate::conditions;
use crate::options::ComparisonMode;

/// HTTP statuses of a page that no longer exists.
const REMOVED: [u16; 2] = [404, 410];

/// The fields of a page that the store keeps as one document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PageFields {
    pub(crate) previous_scrape_id: Option<String>,
    pub(crate) current_scrape_id: Option<String>,
    pub(crate) status_code: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) metadata: Option<MonitorPageMetadata>,
    pub(crate) diff: Option<MonitorPageDiff>,
    pub(crate) snapshot: Option<MonitorPageSnapshot>,
    pub(crate) judgment: Option<MonitorJudgment>,
}

/// The result of a page.
#[derive(Debug)]
pub(crate) struct PageResult {
    pub(crate) url: String,
    pub(crate) status: CheckPageStatus,
    pub(crate) fields: PageFields,
    pub(crate) event_diff: Option<MonitorPageEventDiff>,
    pub(crate) baseline: BaselineChange,
}

impl PageResult {
    /// Returns the result of a page that could not be checked. Its baseline stays.
    pub(crate) fn failed(url: String, error: String) -> Self {
        let fields = PageFields { error: Some(error), ..PageFields::default() };
        let status = CheckPageStatus::Error;
        Self { url, status, fields, event_diff: None, baseline: BaselineChange::Keep }
    }

    /// Returns the result of a page that a crawl no longer finds.
    pub(crate) fn missing(url: String, baseline: Option<&Baseline>) -> Self {
        let previous = baseline.and_then(|baseline| decode::<PageBaseline>(&baseline.document));
        let fields = PageFields {
            previous_scrape_id: previous.and_then(|previous| previous.scrape_id),
            ..PageFields::default()
        };
        let status = CheckPageStatus::Removed;
        Self { url, status, fields, event_diff: None, baseline: BaselineChange::Removed }
    }

    /// Compares a scraped page with its baseline. Takes time in proportion to the size of both.
    pub(crate) fn of_document(
        url: String,
        document: JobDocument,
        baseline: Option<&Baseline>,
        mode: ComparisonMode,
        rules: &PageRules,
    ) -> Self {
        let JobDocument { content, warning } = document;
        let metadata = content.metadata.unwrap_or_default();
        let is_back = baseline.is_some_and(|baseline| baseline.is_removed);
        let last = baseline.and_then(|baseline| decode::<PageBaseline>(&baseline.document));
        let previous = last.as_ref().filter(|_| !is_back);
        let mut result = Self {
            url,
            status: CheckPageStatus::Same,
            fields: PageFields {
                previous_scrape_id: previous.and_then(|previous| previous.scrape_id.clone()),
                current_scrape_id: metadata.scrape_id.clone(),
                status_code: metadata.status_code,
                metadata: Some(page_metadata(&metadata)),
                ..PageFields::default()
            },
            event_diff: None,
            baseline: BaselineChange::Keep,
        };
        let status_code = metadata.status_code.unwrap_or(200);
        if status_code >= 400 {
            result.set_http_error(status_code, baseline);
            return result;
        }
        let json = content.json.filter(|json| !json.is_null());
        if mode.has_fields() && json.is_none() {
            let reason = warning.unwrap_or_else(|| "no language model is configured".to_owned());
            result.set_error(format!("no data could be extracted: {reason}"));
            return result;
        }
        let json = json.filter(|_| mode.has_fields());
        let markdown = content.markdown.unwrap_or_default();
        let had_text = previous.is_some_and(|previous| !previous.markdown.trim().is_empty());
        if had_text && markdown.trim().is_empty() {
            // Servers with a fault respond like that, and the text comes back later.
            result.set_error(format!("the page has no text any more, although its status is {status_code}"));
            return result;
        }
        let current = PageBaseline { scrape_id: metadata.scrape_id, markdown, json };
        if is_back {
            // New, and different from its last version.
            result.fields.diff =
                last.and_then(|last| compare(mode, rules, &last, &current)).map(|change| change.diff);
            result.compare_with(None, &current, mode, rules);
        } else {
            result.compare_with(last.as_ref(), &current, mode, rules);
        }
        result
    }

    fn compare_with(
        &mut self,
        previous: Option<&PageBaseline>,
        current: &PageBaseline,
        mode: ComparisonMode,
        rules: &PageRules,
    ) {
        self.fields.snapshot =
            current.json.as_ref().map(|json| MonitorPageSnapshot { json: data_object(json) });
        match previous {
            None => self.status = CheckPageStatus::New,
            Some(previous) => {
                if let Some(change) = compare(mode, rules, previous, current) {
                    if !conditions::hold(&rules.conditions, previous, current, &change) {
                        // The version stays, so that changes add up until the conditions hold.
                        self.fields.metadata.get_or_insert_default().conditions_met = Some(false);
                        return;
                    }
                    self.status = CheckPageStatus::Changed;
                    self.fields.diff = Some(change.diff);
                    self.event_diff = Some(change.event_diff);
                }
            }
        }
        self.baseline = BaselineChange::Replace(encode(current));
    }

    /// Sets the result of a page that answered with an error. One that existed and answers 404 or 410 is removed; while
    /// it stays away, it is the same. Every other error keeps the baseline.
    fn set_http_error(&mut self, status_code: u16, baseline: Option<&Baseline>) {
        match baseline {
            Some(baseline) if REMOVED.contains(&status_code) => {
                if !baseline.is_removed {
                    self.status = CheckPageStatus::Removed;
                    self.baseline = BaselineChange::Removed;
                }
            }
            Some(_) | None => self.set_error(format!("the host answered with status {status_code}")),
        }
    }

    fn set_error(&mut self, error: String) {
        self.status = CheckPageStatus::Error;
        self.fields.error = Some(error);
    }

    /// Returns the text that shows the changes to the judge; `None` if the page did not change.
    pub(crate) fn changes_text(&self) -> Option<String> {
        let diff = self.event_diff.as_ref()?;
        let fields = diff.json.as_ref().filter(|fields| !fields.is_empty());
        let fields = fields.map(|fields| format!("Changed fields:\n{:#}\n", Value::Object(fields.clone())));
        Some([fields, diff.text.clone()].into_iter().flatten().collect::<Vec<_>>().join("\n"))
    }

    /// Returns the data of the event of the page.
    pub(crate) fn event(&self, monitor: &str, check: &str) -> MonitorPageEvent {
        let judgment = self.fields.judgment.clone();
        let is_changed = self.status == CheckPageStatus::Changed;
        MonitorPageEvent {
            monitor_id: monitor.to_owned(),
            check_id: check.to_owned(),
            url: self.url.clone(),
            status: page_status(self.status),
            previous_scrape_id: self.fields.previous_scrape_id.clone(),
            current_scrape_id: self.fields.current_scrape_id.clone(),
            error: self.fields.error.clone(),
            is_meaningful: judgment.as_ref().filter(|_| is_changed).map(|judgment| judgment.meaningful),
            judgment,
            diff: self.event_diff.clone(),
        }
    }
}

/// Returns the status of a page on the wire.
pub(crate) fn page_status(status: CheckPageStatus) -> MonitorPageStatus {
    match status {
        CheckPageStatus::Same => MonitorPageStatus::Same,
        CheckPageStatus::New => MonitorPageStatus::New,
        CheckPageStatus::Changed => MonitorPageStatus::Changed,
        CheckPageStatus::Removed => MonitorPageStatus::Removed,
        CheckPageStatus::Error => MonitorPageStatus::Error,
    }
}

fn page_metadata(metadata: &Metadata) -> MonitorPageMetadata {
    MonitorPageMetadata {
        title: metadata.title.clone(),
        content_type: metadata.content_type.clone(),
        num_pages: metadata.num_pages.map(u64::from),
        proxy_used: metadata.proxy_used.and_then(|proxy| match serde_json::to_value(proxy) {
            Ok(Value::String(name)) => Some(name),
            Ok(_) | Err(_) => None,
        }),
        credits_used: metadata.credits_used,
        ..MonitorPageMetadata::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(status: u16, markdown: &str, json: &Value) -> JobDocument {
        serde_json::from_value(json!({
            "markdown": markdown,
            "json": json,
            "metadata": { "statusCode": status, "scrapeId": "now", "title": "Tea" },
        }))
        .unwrap()
    }

    fn baseline(markdown: &str, is_removed: bool) -> Baseline {
        let previous =
            PageBaseline { scrape_id: Some("before".to_owned()), markdown: markdown.to_owned(), json: None };
        Baseline { document: encode(&previous), is_removed, updated_at_ms: 0 }
    }

    #[track_caller]
    fn check(
        status: u16,
        baseline: Option<&Baseline>,
        expected: CheckPageStatus,
        is_replaced: bool,
    ) -> PageResult {
        let document = document(status, "a", &Value::Null);
        let result = PageResult::of_document(
            "http://a.test/".to_owned(),
            document,
            baseline,
            ComparisonMode::Markdown,
            &PageRules::default(),
        );
        assert_eq!(result.status, expected);
        assert_eq!(matches!(result.baseline, BaselineChange::Replace(_)), is_replaced);
        result
    }

    #[test]
    fn status_follows_the_baseline() {
        check(200, None, CheckPageStatus::New, true);
        check(200, Some(&baseline("a", false)), CheckPageStatus::Same, true);
        let changed = check(200, Some(&baseline("b", false)), CheckPageStatus::Changed, true);
        assert_eq!(changed.fields.previous_scrape_id.as_deref(), Some("before"));
        assert!(changed.changes_text().unwrap().contains("-b\n"));
        check(200, Some(&baseline("a", true)), CheckPageStatus::New, true);
    }

    #[test]
    fn missing_page_is_removed_once_and_other_errors_keep_the_baseline() {
        let removed = check(404, Some(&baseline("a", false)), CheckPageStatus::Removed, false);
        assert!(matches!(removed.baseline, BaselineChange::Removed));
        let still_removed = check(410, Some(&baseline("a", true)), CheckPageStatus::Same, false);
        assert!(matches!(still_removed.baseline, BaselineChange::Keep));
        for (status, baseline) in [(404, None), (500, Some(&baseline("a", false))), (403, None)] {
            let failed = check(status, baseline, CheckPageStatus::Error, false);
            assert!(failed.fields.error.unwrap().contains(&status.to_string()));
            assert!(matches!(failed.baseline, BaselineChange::Keep));
        }
    }

    #[test]
    fn empty_page_keeps_the_baseline_and_one_that_is_back_shows_what_differs() {
        let result = |markdown: &str, baseline: &Baseline| {
            let document = document(200, markdown, &Value::Null);
            let url = "http://a.test/".to_owned();
            PageResult::of_document(
                url,
                document,
                Some(baseline),
                ComparisonMode::Markdown,
                &PageRules::default(),
            )
        };
        let empty = result(" \n", &baseline("a", false));
        assert_eq!(empty.status, CheckPageStatus::Error);
        assert!(matches!(empty.baseline, BaselineChange::Keep));
        assert!(empty.fields.error.unwrap().contains("no text any more"));
        assert_eq!(result("", &baseline("", false)).status, CheckPageStatus::Same);
        let back = result("b", &baseline("a", true));
        assert_eq!((back.status, back.event_diff.is_none()), (CheckPageStatus::New, true));
        assert!(back.fields.diff.is_some());
        assert_eq!(result("a", &baseline("a", true)).fields.diff, None);
    }

    #[test]
    fn page_without_the_requested_data_has_an_error() {
        let url = || "http://a.test/".to_owned();
        let result = PageResult::of_document(
            url(),
            document(200, "a", &Value::Null),
            None,
            ComparisonMode::Fields,
            &PageRules::default(),
        );
        assert_eq!(result.status, CheckPageStatus::Error);
        let result = PageResult::of_document(
            url(),
            document(200, "a", &json!([1])),
            None,
            ComparisonMode::Fields,
            &PageRules::default(),
        );
        assert_eq!(result.status, CheckPageStatus::New);
        assert_eq!(Value::Object(result.fields.snapshot.unwrap().json), json!({ "value": [1] }));
    }

    #[test]
    fn event_has_a_verdict_only_for_judged_changes() {
        let mut changed = check(200, Some(&baseline("b", false)), CheckPageStatus::Changed, true);
        assert_eq!(changed.event("m", "c").is_meaningful, None);
        changed.fields.judgment = Some(MonitorJudgment {
            meaningful: false,
            confidence: websvc_types::monitor::MonitorConfidence::High,
            reason: "a typo".to_owned(),
            meaningful_changes: Vec::new(),
            fields: Vec::new(),
        });
        let event = changed.event("m", "c");
        assert_eq!((event.is_meaningful, event.check_id.as_str()), (Some(false), "c"));
        assert!(event.diff.unwrap().text.is_some());
    }
}
