//! Jobs as clients are told of them.

use jiff::Timestamp;
use websvc_store::{DeadLetter, JobError, JobKind, JobRecord, JobState};
use websvc_types::job::{
    JobDocument, JobErrorsResponse, JobFailure, JobStatus, JobStatusResponse, WebhookDeadLetter,
};
use websvc_webhook::redact_url;

use crate::request::JobRequest;

/// Returns how a job stands, with some of its documents and the URL of those after them.
#[must_use]
pub fn job_status(record: &JobRecord, data: Vec<JobDocument>, next: Option<String>) -> JobStatusResponse {
    let mut warnings = serde_json::from_str::<JobRequest>(&record.request)
        .map(|request| request.warnings)
        .unwrap_or_default();
    warnings.extend(skip_warnings(record));
    let millis = record.finished_at_ms.map(|end| end.saturating_sub(record.created_at_ms));
    JobStatusResponse {
        success: true,
        status: phase(record.state),
        completed: record.documents,
        total: total(record.urls, record.page_limit),
        credits_used: record.credits,
        expires_at: timestamp(record.expires_at_ms),
        next,
        data,
        created_at: timestamp(record.created_at_ms),
        completed_at: record.finished_at_ms.map(timestamp),
        duration: millis.map(|millis| millis as f64 / 1_000.0),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
        error: record.error.clone(),
    }
}

/// Returns how many documents a job comes to at most: more pages may be known than its limit lets it have.
fn total(urls: u64, limit: Option<u64>) -> u64 {
    limit.map_or(urls, |limit| urls.min(limit))
}

/// Returns what a job left out, in words.
fn skip_warnings(record: &JobRecord) -> Vec<String> {
    let mut warnings = Vec::new();
    if record.left_out > 0 {
        warnings
            .push(format!("{} further pages found no room in the job and were left out", record.left_out));
    }
    if record.blocked > 0 {
        warnings.push(format!("robots.txt forbids {} of the pages, which errors names", record.blocked));
    }
    let is_alone = (record.documents, record.urls) == (1, 1) && record.page_limit != Some(1);
    if record.kind == JobKind::Crawl && record.state == JobState::Completed && is_alone {
        warnings.push(
            "no other pages were found: links that lead out of the directory of the start are followed with \
             crawlEntireDomain, those to other hosts with allowSubdomains or allowExternalLinks"
                .to_owned(),
        );
    }
    warnings
}

fn phase(state: JobState) -> JobStatus {
    match state {
        JobState::Running => JobStatus::Scraping,
        JobState::Completed => JobStatus::Completed,
        JobState::Cancelled => JobStatus::Cancelled,
        JobState::Failed => JobStatus::Failed,
    }
}

/// Returns the URLs of a job of which there is no document.
#[must_use]
pub fn job_errors(id: &str, found: Vec<JobError>) -> JobErrorsResponse {
    let (blocked, amiss): (Vec<JobError>, Vec<JobError>) =
        found.into_iter().partition(|error| error.is_blocked);
    let failure = |error: JobError| JobFailure {
        id: format!("{id}-{}", error.place),
        timestamp: timestamp(error.ended_at_ms),
        url: error.url,
        code: error.code,
        error: error.error,
    };
    JobErrorsResponse {
        success: true,
        errors: amiss.into_iter().map(failure).collect(),
        robots_blocked: blocked.into_iter().map(|error| error.url).collect(),
    }
}

/// Returns an event that could not be delivered, with no more of its URL than anybody may see.
#[must_use]
pub fn dead_letter(letter: DeadLetter) -> WebhookDeadLetter {
    let DeadLetter {
        id,
        team: _,
        job,
        kind,
        event,
        url,
        attempts,
        status,
        error,
        created_at_ms,
        tried_at_ms,
        forget_at_ms,
    } = letter;
    WebhookDeadLetter {
        id,
        job_id: job,
        event: event.full_name(kind).to_owned(),
        url: redact_url(&url),
        attempts,
        last_status: status,
        last_error: error,
        created_at: timestamp(created_at_ms),
        last_attempt_at: timestamp(tried_at_ms),
        expires_at: timestamp(forget_at_ms),
    }
}

/// Returns a time in ISO 8601, to the millisecond.
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
    fn times_are_those_of_iso_8601() {
        assert_eq!(timestamp(1_764_000_000_123), "2025-11-24T16:00:00.123Z");
    }
}
