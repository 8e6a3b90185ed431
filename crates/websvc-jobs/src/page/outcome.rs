//! The scrape of one page of a job, and the state of the host that its result shows.

use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::{Bill, Engine, EngineError, IndexingFailure, PageOutcome, page_content};
use websvc_scrape::{Page, ScrapeError};
use websvc_store::ListEntry;
use websvc_types::ErrorCode;
use websvc_types::job::JobDocument;

use super::{ScrapeOutcome, failed};
use crate::active::JobContext;
use crate::hosts::{HostSignal, NoResponse};

/// Minimum time limit of a page whose timeout counts as a failure of its host.
const MIN_HOST_TIMEOUT: Duration = Duration::from_secs(30);

/// Scrapes a page of a job.
pub(super) async fn scrape(
    engine: &Engine,
    context: &JobContext,
    url: &Url,
    started: Instant,
    entry: Option<&ListEntry>,
) -> ScrapeOutcome {
    let deadline = started + context.plan.timeout;
    let PageOutcome { page, bill, indexing_failure } =
        engine.scrape(url, &context.plan, &context.record.team, &context.files, deadline).await;
    match page {
        Ok(page) => ScrapeOutcome {
            may_be_stored: indexing_failure != Some(IndexingFailure::Database),
            ..to_outcome(page, bill, started.elapsed(), entry)
        },
        Err(error) => {
            let code = code(&error);
            ScrapeOutcome {
                outcome: failed(code, error.to_string()),
                bill,
                status: code.status(),
                elapsed: Some(started.elapsed()),
                signal: host_signal(&error, context.plan.timeout),
                out_links: None,
                final_url: None,
                snapshot: None,
                may_be_stored: true,
            }
        }
    }
}

/// Returns the outcome of a scraped page, with its document as JSON.
fn to_outcome(mut page: Page, bill: Bill, elapsed: Duration, entry: Option<&ListEntry>) -> ScrapeOutcome {
    let is_cached = page.metadata.cached_at.is_some();
    let status = page.metadata.status_code;
    let signal = match status {
        _ if is_cached => HostSignal::NotContacted,
        Some(429 | 503) => HostSignal::Overloaded(page.retry_after),
        _ => HostSignal::Healthy,
    };
    // Without a measured network time, the whole time counts.
    let elapsed = if page.elapsed.is_zero() { elapsed } else { page.elapsed };
    let out_links = page.out_links.take();
    let snapshot = page.snapshot.take();
    let final_url = page.metadata.url.as_deref().and_then(|url| Url::parse(url).ok());
    let warnings = std::mem::take(&mut page.warnings);
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    let mut document = JobDocument { content: page_content(page), warning };
    if let Some(entry) = entry {
        super::copies::set_entry(&mut document, entry);
    }
    let outcome = super::copies::document_outcome(&document);
    let elapsed = (!is_cached).then_some(elapsed);
    ScrapeOutcome {
        outcome,
        bill,
        status: 200,
        elapsed,
        signal,
        out_links,
        final_url,
        snapshot,
        may_be_stored: true,
    }
}

/// Returns the state of the host after a scrape with this time limit failed.
fn host_signal(error: &EngineError, timeout: Duration) -> HostSignal {
    let EngineError::Page(error) = error else { return HostSignal::NotContacted };
    match error {
        ScrapeError::Blocked { status, .. } if status.as_u16() == 429 => HostSignal::Overloaded(None),
        ScrapeError::Blocked { .. } => HostSignal::Healthy,
        error if error.is_unreachable() => HostSignal::Unresponsive(NoResponse::Unreachable),
        // A job with a short time limit must not open the circuit breaker for the jobs of others.
        error if error.is_host_timeout() && timeout >= MIN_HOST_TIMEOUT => {
            HostSignal::Unresponsive(NoResponse::TimedOut)
        }
        _ => HostSignal::NotContacted,
    }
}

fn code(error: &EngineError) -> ErrorCode {
    match error {
        EngineError::Page(error) | EngineError::Profile(error) => error.code(),
        EngineError::NotSupported { code, .. } | EngineError::CacheMiss { code, .. } => *code,
        EngineError::Timeout { .. } => ErrorCode::ScrapeTimeout,
        _ => ErrorCode::UnknownError,
    }
}
