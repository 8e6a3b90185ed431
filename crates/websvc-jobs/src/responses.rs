//! Wire responses about jobs.

use jiff::Timestamp;
use websvc_notify::webhook::redact_url;
use websvc_store::{DeadLetter, JobError, JobKind, JobRecord, JobState};
use websvc_types::counted;
use websvc_types::job::{
    JobDocument, JobErrorsResponse, JobFailure, JobStatus, JobStatusResponse, WebhookDeadLetter,
};

use crate::request::JobRequest;

/// Returns the status of a job, with a page of its documents and the URL of the next page.
#[must_use]
pub fn job_status(record: &JobRecord, data: Vec<JobDocument>, next: Option<String>) -> JobStatusResponse {
    let mut warnings = serde_json::from_str::<JobRequest>(&record.request)
        .map(|request| request.warnings)
        .unwrap_or_default();
    warnings.extend(skip_warnings(record));
    let duration_ms = record.finished_at_ms.map(|end| end.saturating_sub(record.created_at_ms));
    JobStatusResponse {
        success: true,
        status: status(record.state),
        completed: record.documents,
        total: total(record.urls, record.page_limit),
        credits_used: record.credits,
        expires_at: timestamp(record.expires_at_ms),
        next,
        data,
        created_at: timestamp(record.created_at_ms),
        completed_at: record.finished_at_ms.map(timestamp),
        duration: duration_ms.map(|ms| ms as f64 / 1_000.0),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        error: record.error.clone(),
    }
}

/// Returns the maximum of documents that a job can have: a job may have found more URLs than its limit allows.
fn total(urls: u64, limit: Option<u64>) -> u64 {
    limit.map_or(urls, |limit| urls.min(limit))
}

/// Returns warnings about pages that a job does not contain.
fn skip_warnings(record: &JobRecord) -> Vec<String> {
    let mut warnings = Vec::new();
    if record.skipped > 0 {
        let skipped = counted(record.skipped, "more page was", "more pages were");
        warnings.push(format!("{skipped} skipped: the job reached its URL limit"));
    }
    if record.blocked > 0 {
        warnings
            .push(format!("robots.txt disallows {} of the pages: see the errors of the job", record.blocked));
    }
    let has_only_start = (record.documents, record.urls) == (1, 1) && record.page_limit != Some(1);
    if record.kind == JobKind::Crawl && record.state == JobState::Completed && has_only_start {
        warnings.push(
            "no other pages were found: set crawlEntireDomain to follow links outside the directory of the start \
             URL, and allowSubdomains or allowExternalLinks to follow links to other hosts"
                .to_owned(),
        );
    }
    warnings
}

fn status(state: JobState) -> JobStatus {
    match state {
        JobState::Running => JobStatus::Scraping,
        JobState::Completed => JobStatus::Completed,
        JobState::Cancelled => JobStatus::Cancelled,
        JobState::Failed => JobStatus::Failed,
    }
}

/// Returns the URLs of a job that have no document, with the reasons.
#[must_use]
pub fn job_errors(id: &str, errors: Vec<JobError>) -> JobErrorsResponse {
    let (blocked, failed): (Vec<JobError>, Vec<JobError>) =
        errors.into_iter().partition(|error| error.is_blocked);
    let failure = |error: JobError| JobFailure {
        id: format!("{id}-{}", error.position),
        timestamp: timestamp(error.ended_at_ms),
        url: error.url,
        code: error.code,
        error: error.error,
    };
    JobErrorsResponse {
        success: true,
        errors: failed.into_iter().map(failure).collect(),
        robots_blocked: blocked.into_iter().map(|error| error.url).collect(),
    }
}

/// Returns a dead letter, with the secrets of its webhook URL redacted.
#[must_use]
pub fn dead_letter(letter: DeadLetter) -> WebhookDeadLetter {
    let DeadLetter {
        id,
        team: _,
        source_id,
        source,
        event,
        url,
        attempts,
        status,
        error,
        created_at_ms,
        last_attempt_at_ms,
        expires_at_ms,
    } = letter;
    WebhookDeadLetter {
        id,
        job_id: source_id,
        event: event.wire_name(source).to_owned(),
        url: redact_url(&url),
        attempts,
        last_status: status,
        last_error: error,
        created_at: timestamp(created_at_ms),
        last_attempt_at: timestamp(last_attempt_at_ms),
        expires_at: timestamp(expires_at_ms),
    }
}

/// Returns a time in ISO 8601, with milliseconds.
#[must_use]
pub fn timestamp(unix_ms: u64) -> String {
    let at = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    at.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_at_most_the_limit() {
        assert_eq!([total(263, Some(150)), total(20, Some(150)), total(263, None)], [150, 20, 263]);
    }

    #[test]
    fn timestamp_is_iso_8601_with_milliseconds() {
        assert_eq!(timestamp(1_764_000_000_123), "2025-11-24T16:00:00.123Z");
    }
}
