//! How the service is: what the page of that name shows.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use http::StatusCode;
use serde::Serialize;
use url::Url;
use websvc_browser::BrowserMetrics;
use websvc_engine::{LATENCY_BOUNDS_MS, SourceMetrics};
use websvc_store::{CacheSize, JobOverview, JobState, Retention};
use websvc_threat::ThreatMetrics;
use websvc_types::index::CrawlProgressRequest;
use websvc_types::status::ReadinessResponse;

use super::stored;
use crate::admission::AdmissionMetrics;
use crate::crawl_progress::CrawlProgressEntry;
use crate::handler;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct System {
    version: &'static str,
    /// Milliseconds since the Unix epoch, as the time below.
    started_at: u64,
    now: u64,
    readiness: ReadinessResponse,
    requests: RequestState,
    sources: Vec<SourceHealth>,
    index: Option<IndexSize>,
    crawls: Vec<CrawlState>,
    cache: CacheState,
    browser: Option<BrowserState>,
    threat: ThreatState,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestState {
    in_work: usize,
    waiting: usize,
    admitted: u64,
    refused: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceHealth {
    name: String,
    /// Questions that were answered, with results or without.
    answered: u64,
    unanswered: u64,
    given_up: u64,
    /// Milliseconds; `None` before the first question.
    mean_ms: Option<f64>,
    /// The bound below which 95 of 100 questions were; `None` when it is above the highest one.
    p95_below_ms: Option<u64>,
    last_failure: Option<LastFailure>,
}

#[derive(Serialize)]
struct LastFailure {
    at: u64,
    reason: &'static str,
}

#[derive(Serialize)]
struct IndexSize {
    documents: u64,
    images: u64,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrawlState {
    team: Option<String>,
    /// Kind of the job; `None` for a crawl elsewhere that fills the index of this service.
    job: Option<&'static str>,
    /// How a job ended, or that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(flatten)]
    progress: CrawlProgressRequest,
    elapsed_ms: u64,
    silent_ms: u64,
}

/// So many jobs are shown, as crawls elsewhere are.
const MOST_JOBS: u64 = 64;

/// A job that ended is shown for so long, as a crawl elsewhere is.
const SHOWN_AFTER_END_MS: u64 = 600_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CacheState {
    pages: u64,
    bytes: u64,
    max_bytes: u64,
    hits: u64,
    misses: u64,
    is_full: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BrowserState {
    running: bool,
    pages: u64,
    waiting: u64,
    free_places: usize,
    memory_bytes: u64,
    opened: u64,
    failed: u64,
    crashed: u64,
    warning: Option<&'static str>,
}

#[derive(Serialize)]
struct ThreatState {
    /// `None` when nobody is asked: the lists of the teams alone decide.
    scanner: Option<&'static str>,
    scanned: u64,
    remembered: u64,
    failed: u64,
    blocked: u64,
}

/// `GET /dashboard/system`.
pub(super) async fn system(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let store = context.store.clone();
    let size = stored(move || store.cache_size()).await?;
    let index = context
        .engine
        .index()
        .map(|index| index.stats())
        .transpose()
        .map_err(|error| ApiError::internal(&error, "the index could not be read"))?;
    let (_, readiness) = handler::readiness(context).await;
    let mut crawls = jobs(context).await?;
    crawls.extend(crawls_elsewhere(context));
    let system = System {
        version: env!("CARGO_PKG_VERSION"),
        started_at: context.serving_since_ms,
        now: unix_ms(SystemTime::now()),
        readiness,
        requests: requests(&context.admission.figures()),
        sources: context.engine.source_figures().into_iter().map(source).collect(),
        index: index.map(|stats| IndexSize {
            documents: stats.documents,
            images: stats.images,
            bytes: stats.bytes,
        }),
        crawls,
        cache: cache(context, size),
        browser: browser(context).await,
        threat: threat(&context.engine.threat().metrics()),
    };
    Ok(json(StatusCode::OK, &system))
}

fn requests(figures: &AdmissionMetrics) -> RequestState {
    RequestState {
        in_work: figures.in_work,
        waiting: figures.waiting,
        admitted: figures.admitted,
        refused: figures.refused_rate + figures.refused_concurrency + figures.refused_overload,
    }
}

fn source(figures: SourceMetrics) -> SourceHealth {
    let total = figures.took.last().copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a mean for a person to read")]
    let mean_ms = (total > 0).then(|| figures.total_us as f64 / 1000.0 / total as f64);
    let last_failure =
        figures.last_failure.map(|(at, failure)| LastFailure { at: unix_ms(at), reason: failure.name() });
    SourceHealth {
        name: figures.name,
        answered: figures.results + figures.none,
        unanswered: figures.unavailable.iter().map(|(_, count)| count).sum(),
        given_up: figures.given_up,
        mean_ms,
        p95_below_ms: p95(&figures.took),
        last_failure,
    }
}

/// Returns the bound below which 95 of 100 questions were answered, of counts that are summed up.
fn p95(took: &[u64]) -> Option<u64> {
    let total = took.last().copied().filter(|total| *total > 0)?;
    let at = took.iter().position(|count| count.saturating_mul(100) >= total.saturating_mul(95))?;
    LATENCY_BOUNDS_MS.get(at).copied()
}

/// Returns the jobs of the service, of all teams of whom something may be kept, and named unless they are anonymous.
async fn jobs(context: &RequestContext<'_>) -> Result<Vec<CrawlState>, ApiError> {
    let now_ms = unix_ms(SystemTime::now());
    let recent = context.jobs.recent(now_ms.saturating_sub(SHOWN_AFTER_END_MS), MOST_JOBS).await;
    let recent = recent.map_err(|error| ApiError::internal(&error, "the jobs could not be read"))?;
    let store = context.store.clone();
    let teams = stored(move || store.list_teams()).await?;
    let shown = recent.into_iter().filter_map(|job| {
        // Where nobody is asked for a key there is no such team.
        let team = teams.iter().find(|team| team.name == job.team);
        let is_anonymous = match team {
            Some(team) if team.zdr == Retention::Forced => return None,
            Some(team) => team.anon == Retention::Forced,
            None => false,
        };
        Some(of_job(job, is_anonymous, now_ms))
    });
    Ok(shown.collect())
}

fn of_job(job: JobOverview, is_anonymous: bool, now_ms: u64) -> CrawlState {
    let JobOverview {
        id,
        team,
        kind,
        state,
        created_at_ms,
        finished_at_ms,
        documents,
        failed,
        blocked,
        open,
        urls,
    } = job;
    let hosts = urls.iter().filter_map(|url| Url::parse(url).ok()?.host_str().map(str::to_owned));
    let mut hosts: Vec<String> = hosts.collect();
    hosts.sort_unstable();
    hosts.dedup();
    CrawlState {
        team: (!is_anonymous).then_some(team),
        job: Some(kind.as_str()),
        state: Some(state.as_str()),
        elapsed_ms: finished_at_ms.unwrap_or(now_ms).saturating_sub(created_at_ms),
        silent_ms: 0,
        progress: CrawlProgressRequest {
            id,
            hosts,
            pages: documents,
            failed,
            skipped: blocked,
            waiting: open,
            ended: state != JobState::Running,
        },
    }
}

fn crawls_elsewhere(context: &RequestContext<'_>) -> Vec<CrawlState> {
    let now = Instant::now();
    let since =
        |then: Instant| u64::try_from(now.saturating_duration_since(then).as_millis()).unwrap_or(u64::MAX);
    let state = |CrawlProgressEntry { team, progress, begun, heard }| CrawlState {
        team,
        job: None,
        state: None,
        // A crawl that has ended takes no more time.
        elapsed_ms: if progress.ended { since(begun) - since(heard) } else { since(begun) },
        silent_ms: since(heard),
        progress,
    };
    context.crawls.list(now).into_iter().map(state).collect()
}

fn cache(context: &RequestContext<'_>, size: CacheSize) -> CacheState {
    let scraper = context.engine.scraper();
    let report = scraper.cache_metrics();
    CacheState {
        pages: size.pages,
        bytes: size.bytes,
        max_bytes: scraper.cache_limits().max_bytes,
        hits: report.hits + report.hits_in_memory,
        misses: report.misses,
        is_full: report.is_full,
    }
}

async fn browser(context: &RequestContext<'_>) -> Option<BrowserState> {
    let browser = context.engine.scraper().browser()?;
    let status = browser.status().await;
    let BrowserMetrics { open, waiting, opened, failed, crashed, .. } = browser.metrics().await;
    Some(BrowserState {
        running: status.process.is_some(),
        pages: open,
        waiting,
        free_places: status.free_permits,
        memory_bytes: status.memory_bytes,
        opened,
        failed: failed.iter().map(|(_, count)| count).sum(),
        crashed,
        warning: status.warning,
    })
}

fn threat(figures: &ThreatMetrics) -> ThreatState {
    let sum = |counts: &[(&'static str, u64)]| counts.iter().map(|(_, count)| count).sum();
    ThreatState {
        scanner: Some(figures.scanner).filter(|name| *name != "none"),
        scanned: figures.scanned,
        remembered: figures.cached,
        failed: sum(&figures.failed),
        blocked: sum(&figures.blocked),
    }
}

fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use websvc_store::JobKind;

    use super::*;

    #[test]
    fn job_is_shown_with_its_hosts_and_without_the_name_of_an_anonymous_team() {
        let job = JobOverview {
            id: "1".to_owned(),
            team: "tea".to_owned(),
            kind: JobKind::Batch,
            state: JobState::Running,
            created_at_ms: 1_000,
            finished_at_ms: None,
            documents: 3,
            failed: 1,
            blocked: 2,
            open: 4,
            urls: ["http://b.test/", "http://a.test/x", "http://a.test/y"].map(str::to_owned).to_vec(),
        };
        let shown = serde_json::to_value(of_job(job.clone(), false, 5_000)).unwrap();
        let expected = serde_json::json!({
            "team": "tea", "job": "batch", "state": "running", "id": "1", "hosts": ["a.test", "b.test"], "pages": 3,
            "failed": 1, "skipped": 2, "waiting": 4, "ended": false, "elapsedMs": 4_000, "silentMs": 0,
        });
        assert_eq!(shown, expected);
        let ended = JobOverview { state: JobState::Failed, finished_at_ms: Some(3_000), ..job };
        let shown = serde_json::to_value(of_job(ended, true, 5_000)).unwrap();
        assert_eq!(
            (&shown["team"], &shown["state"], &shown["ended"]),
            (&().into(), &"failed".into(), &true.into())
        );
        assert_eq!(shown["elapsedMs"], 2_000);
    }

    #[test]
    fn the_95th_of_100_is_within_a_bound() {
        let check = |took: &[u64], expected: Option<u64>| assert_eq!(p95(took), expected, "{took:?}");
        check(&[0; 12], None);
        check(&[95, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100], Some(1));
        check(&[94, 95, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100], Some(5));
        check(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], None);
    }
}
