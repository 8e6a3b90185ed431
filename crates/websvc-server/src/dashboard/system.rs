//! The state of the service for the page "System" of the dashboard.

use std::time::{Duration, Instant};

use http::StatusCode;
use serde::Serialize;
use url::Url;
use websvc_engine::{Engine, ServerIndexStats, SourceMetrics};
use websvc_scrape::threat::Classifier;
use websvc_stage::Distribution;
use websvc_store::{CacheSize, JobOverview, JobState, Retention};
use websvc_types::index::CrawlProgressRequest;
use websvc_types::status::ReadinessResponse;

use super::run_on_store;
use crate::admission::AdmissionMetrics;
use crate::crawl_progress::CrawlProgressEntry;
use crate::handler;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct System {
    version: &'static str,
    /// Milliseconds since the Unix epoch, like `now`.
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
    #[serde(rename = "inWork")]
    in_flight: usize,
    #[serde(rename = "waiting")]
    queued: usize,
    admitted: u64,
    #[serde(rename = "refused")]
    rejected: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceHealth {
    name: String,
    /// Requests with a response, with or without results.
    answered: u64,
    /// Requests without a response.
    #[serde(rename = "unanswered")]
    unavailable: u64,
    #[serde(rename = "givenUp")]
    cancelled: u64,
    /// `None` before the first request.
    mean_ms: Option<f64>,
    /// The upper bound of the histogram bucket with the 95th percentile; `None` in the last bucket, which has none.
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
    /// `None` if the index is on a server, which does not count them.
    images: Option<u64>,
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrawlState {
    team: Option<String>,
    /// The kind of the job; `None` for an external crawl that fills the index of this service.
    job: Option<&'static str>,
    /// The state of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(flatten)]
    progress: CrawlProgressRequest,
    elapsed_ms: u64,
    /// The time since the last report.
    silent_ms: u64,
}

/// The maximum number of listed jobs, like that of external crawls.
const MAX_JOBS: u64 = 64;

/// The time that the view waits for the size of an index on a server.
const SERVER_TIMEOUT: Duration = Duration::from_secs(2);

/// The time after its end for which a job is listed, like an external crawl.
const LISTED_AFTER_END_MS: u64 = 600_000;

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
    #[serde(rename = "running")]
    is_running: bool,
    pages: u64,
    waiting: u64,
    #[serde(rename = "freePlaces")]
    free_permits: usize,
    memory_bytes: u64,
    opened: u64,
    failed: u64,
    crashed: u64,
    warning: Option<&'static str>,
}

#[derive(Serialize)]
struct ThreatState {
    /// `None` without a scanner; then only the lists of the teams apply.
    scanner: Option<&'static str>,
    scanned: u64,
    #[serde(rename = "remembered")]
    cached: u64,
    failed: u64,
    blocked: u64,
}

/// `GET /dashboard/system`.
pub(super) async fn system(context: &RequestContext<'_>) -> Result<HttpResponse, ApiError> {
    let store = context.state.store.clone();
    let now_ms = store.now_ms();
    let size = run_on_store(move || store.cache_size()).await?;
    let engine = &context.state.engine;
    let index = index_size(engine).await?;
    let (_, readiness) = handler::readiness(context).await;
    let mut crawls = jobs(context).await?;
    crawls.extend(external_crawls(context));
    let system = System {
        version: env!("CARGO_PKG_VERSION"),
        started_at: context.state.started_at_ms,
        now: now_ms,
        readiness,
        requests: requests(&context.state.admission.metrics()),
        sources: engine.source_metrics().into_iter().map(|metrics| source(metrics, now_ms)).collect(),
        index,
        crawls,
        cache: cache(context, size),
        browser: browser(context).await,
        threat: threat(engine.threat()),
    };
    Ok(json(StatusCode::OK, &system))
}

/// Returns the size of the index, here or on a server; `None` if there is none, or the server does not respond.
async fn index_size(engine: &Engine) -> Result<Option<IndexSize>, ApiError> {
    if let Some(server) = engine.index_server() {
        // The view is refreshed every few seconds. The state of the server is in the list of sources.
        let stats = tokio::time::timeout(SERVER_TIMEOUT, server.stats(None)).await;
        return Ok(stats.ok().and_then(Result::ok).map(
            |ServerIndexStats { documents, bytes, segments: _ }| IndexSize { documents, images: None, bytes },
        ));
    }
    let stats = engine.index().map(|index| index.stats()).transpose();
    let stats = stats.map_err(|error| ApiError::internal(&error, "the index could not be read"))?;
    Ok(stats.map(|stats| IndexSize {
        documents: stats.documents,
        images: Some(stats.images),
        bytes: stats.bytes,
    }))
}

fn requests(metrics: &AdmissionMetrics) -> RequestState {
    RequestState {
        in_flight: metrics.in_flight,
        queued: metrics.queued,
        admitted: metrics.admitted,
        rejected: metrics.rejected_rate + metrics.rejected_concurrency + metrics.rejected_overload,
    }
}

fn source(metrics: SourceMetrics, now_ms: u64) -> SourceHealth {
    let Distribution { counts, total_us, .. } = &metrics.latencies;
    let total = counts.last().copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    let mean_ms = (total > 0).then(|| *total_us as f64 / 1000.0 / total as f64);
    let last_failure = metrics.last_failure.map(|(at, failure)| {
        let age_ms = u64::try_from(at.elapsed().unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
        LastFailure { at: now_ms.saturating_sub(age_ms), reason: failure.name() }
    });
    SourceHealth {
        name: metrics.name,
        answered: metrics.results + metrics.empty,
        unavailable: metrics.unavailable.iter().map(|(_, count)| count).sum(),
        cancelled: metrics.cancelled,
        mean_ms,
        p95_below_ms: p95(&metrics.latencies),
        last_failure,
    }
}

/// Returns the upper bound of the bucket with the 95th percentile, in milliseconds.
fn p95(Distribution { bounds_us, counts, .. }: &Distribution) -> Option<u64> {
    let total = counts.last().copied().filter(|total| *total > 0)?;
    let index = counts.iter().position(|count| count.saturating_mul(100) >= total.saturating_mul(95))?;
    bounds_us.get(index).map(|bound| bound / 1_000)
}

/// Returns the jobs of all teams, without those of teams with zero data retention, and without the names of anonymous
/// teams.
async fn jobs(context: &RequestContext<'_>) -> Result<Vec<CrawlState>, ApiError> {
    let now_ms = context.state.store.now_ms();
    let recent = context.state.jobs.recent(now_ms.saturating_sub(LISTED_AFTER_END_MS), MAX_JOBS).await;
    let recent = recent.map_err(|error| ApiError::internal(&error, "the jobs could not be read"))?;
    let store = context.state.store.clone();
    let teams = run_on_store(move || store.list_teams()).await?;
    let jobs = recent.into_iter().filter_map(|job| {
        // Without authentication, the default team may not exist.
        let team = teams.iter().find(|team| team.name == job.team);
        let is_anonymous = match team {
            Some(team) if team.zdr == Retention::Forced => return None,
            Some(team) => team.anon == Retention::Forced,
            None => false,
        };
        Some(job_state(job, is_anonymous, now_ms))
    });
    Ok(jobs.collect())
}

fn job_state(job: JobOverview, is_anonymous: bool, now_ms: u64) -> CrawlState {
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

fn external_crawls(context: &RequestContext<'_>) -> Vec<CrawlState> {
    let now = Instant::now();
    let ms_since =
        |time: Instant| u64::try_from(now.saturating_duration_since(time).as_millis()).unwrap_or(u64::MAX);
    let state = |CrawlProgressEntry { team, progress, started, updated }| CrawlState {
        team,
        job: None,
        state: None,
        // The time of an ended crawl stops at its last report.
        elapsed_ms: if progress.ended { ms_since(started) - ms_since(updated) } else { ms_since(started) },
        silent_ms: ms_since(updated),
        progress,
    };
    context.state.crawl_progress.list(now).into_iter().map(state).collect()
}

fn cache(context: &RequestContext<'_>, size: CacheSize) -> CacheState {
    let scraper = context.state.engine.scraper();
    let metrics = scraper.cache_metrics();
    CacheState {
        pages: size.pages,
        bytes: size.bytes,
        max_bytes: scraper.cache_limits().max_bytes,
        hits: metrics.hits.get() + metrics.hits_in_memory.get(),
        misses: metrics.misses.get(),
        is_full: scraper.is_cache_full(),
    }
}

async fn browser(context: &RequestContext<'_>) -> Option<BrowserState> {
    let browser = context.state.engine.scraper().browser()?;
    let status = browser.status().await;
    let metrics = browser.metrics();
    Some(BrowserState {
        is_running: status.process.is_some(),
        pages: browser.open_pages(),
        waiting: metrics.waiting(),
        free_permits: status.free_permits,
        memory_bytes: status.memory_bytes,
        opened: metrics.opened.get(),
        failed: metrics.failed.total(),
        crashed: metrics.crashed.get(),
        warning: status.warning,
    })
}

fn threat(classifier: &Classifier) -> ThreatState {
    let metrics = classifier.metrics();
    ThreatState {
        scanner: classifier.scanner_name(),
        scanned: metrics.scanned.get(),
        cached: metrics.cached.get(),
        failed: metrics.failed.total(),
        blocked: metrics.blocked.total(),
    }
}

#[cfg(test)]
mod tests {
    use websvc_store::JobKind;

    use super::*;

    #[test]
    fn job_is_listed_with_its_hosts_and_without_the_name_of_an_anonymous_team() {
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
        let listed = serde_json::to_value(job_state(job.clone(), false, 5_000)).unwrap();
        let expected = serde_json::json!({
            "team": "tea", "job": "batch", "state": "running", "id": "1", "hosts": ["a.test", "b.test"], "pages": 3,
            "failed": 1, "skipped": 2, "waiting": 4, "ended": false, "elapsedMs": 4_000, "silentMs": 0,
        });
        assert_eq!(listed, expected);
        let ended = JobOverview { state: JobState::Failed, finished_at_ms: Some(3_000), ..job };
        let listed = serde_json::to_value(job_state(ended, true, 5_000)).unwrap();
        assert_eq!(
            (&listed["team"], &listed["state"], &listed["ended"]),
            (&().into(), &"failed".into(), &true.into())
        );
        assert_eq!(listed["elapsedMs"], 2_000);
    }

    #[test]
    fn p95_is_the_upper_bound_of_its_bucket() {
        let check = |counts: [u64; 3], expected: Option<u64>| {
            let latencies = Distribution { bounds_us: &[1_000, 5_000], counts: counts.to_vec(), total_us: 0 };
            assert_eq!(p95(&latencies), expected, "{counts:?}");
        };
        check([0, 0, 0], None);
        check([95, 100, 100], Some(1));
        check([94, 95, 100], Some(5));
        check([0, 0, 3], None);
    }
}
