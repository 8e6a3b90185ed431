//! The outcome of scraping one page of a job, and what it says of the host.

use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::{Bill, Engine, EngineError, PageOutcome, page_content};
use websvc_scrape::{Page, ScrapeError};
use websvc_store::ListEntry;
use websvc_types::ErrorCode;
use websvc_types::job::JobDocument;

use super::{HostSignal, NoResponse, ScrapeOutcome, failed};
use crate::active::JobContext;

/// A caller that gives a page less time than this learns nothing of its host when that time runs out.
const LATE: Duration = Duration::from_secs(30);

/// Scrapes a page of a job.
pub(super) async fn get(
    engine: &Engine,
    work: &JobContext,
    url: &Url,
    started: Instant,
    entry: Option<&ListEntry>,
) -> ScrapeOutcome {
    let deadline = started + work.plan.timeout();
    let PageOutcome { page, bill } =
        engine.scrape(url, &work.plan, &work.record.team, &work.files, deadline).await;
    match page {
        Ok(page) => to_outcome(page, bill, started.elapsed(), entry),
        Err(error) => {
            let code = code(&error);
            let end = failed(code, error.to_string());
            ScrapeOutcome {
                end,
                bill,
                status: code.status(),
                elapsed: Some(started.elapsed()),
                said: host_signal(&error, work.plan.timeout()),
                leads: None,
                reached: None,
            }
        }
    }
}

/// Returns the outcome of a scraped page; its document is made here, once.
fn to_outcome(mut page: Page, bill: Bill, took: Duration, entry: Option<&ListEntry>) -> ScrapeOutcome {
    let is_cached = page.metadata.cached_at.is_some();
    let status = page.metadata.status_code;
    let said = match status {
        _ if is_cached => HostSignal::NotContacted,
        Some(429 | 503) => HostSignal::Overloaded(page.retry_after),
        _ => HostSignal::Healthy,
    };
    // Where it was not measured apart, all of the time counts.
    let elapsed = if page.elapsed.is_zero() { took } else { page.elapsed };
    let leads = page.out_links.take();
    let reached = page.metadata.url.as_deref().and_then(|url| Url::parse(url).ok());
    let warnings = std::mem::take(&mut page.warnings);
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    let mut document = JobDocument { content: page_content(page), warning };
    if let Some(entry) = entry {
        super::copies::set_entry(&mut document, entry);
    }
    let end = super::copies::document_end(&document);
    ScrapeOutcome { end, bill, status: 200, elapsed: (!is_cached).then_some(elapsed), said, leads, reached }
}

/// Returns what an error says of the host that had so much time.
fn host_signal(error: &EngineError, timeout: Duration) -> HostSignal {
    let EngineError::Page(error) = error else { return HostSignal::NotContacted };
    match error {
        ScrapeError::Blocked { status, .. } if status.as_u16() == 429 => HostSignal::Overloaded(None),
        ScrapeError::Blocked { .. } => HostSignal::Healthy,
        error if error.is_unreachable() => HostSignal::Silence(NoResponse::Unreachable),
        // A host is not given up for everybody because somebody has no patience.
        error if error.is_host_timeout() && timeout >= LATE => HostSignal::Silence(NoResponse::TimedOut),
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
