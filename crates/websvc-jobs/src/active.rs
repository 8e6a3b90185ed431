//! A job that is worked on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::crawl::CrawlScope;
use websvc_engine::{PolicyError, team_policy};
use websvc_scrape::FilePublisher;
use websvc_store::{DEFAULT_TEAM, JobLease, JobRecord, StoreError, Team};
use websvc_validate::{Checked, Policy, Rejection, ScrapePlan, check_crawl, check_scrape_options};

use crate::crawl_links::CrawlState;
use crate::credits::TeamCache;
use crate::hosts::{HostReadiness, HostTable, pace_key};
use crate::jobs::Inner;
use crate::request::JobRequest;

/// URLs of a job that are lent at one time at most, beside those that are worked on: enough to find one whose host is
/// ready behind those of hosts that are not.
const MOST_LENT: usize = 256;

/// So often a job waits for credits that other requests of its team hold, before it is ended.
const MOST_SHORTAGES: u32 = 120;

/// How long to wait for credits.
const SHORTAGE: Duration = Duration::from_millis(500);

/// Context shared by every page of a job.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) record: JobRecord,
    pub(crate) request: JobRequest,
    pub(crate) plan: ScrapePlan,
    /// Whose it is, as it was a moment ago.
    pub(crate) team: TeamCache,
    pub(crate) files: FilePublisher,
    /// A crawl; `None` for a batch.
    pub(crate) crawling: Option<Arc<CrawlState>>,
}

/// Why a job cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobStartError {
    /// The request can no longer be executed; its owner gets the reason.
    #[error("{0}")]
    Refused(String),
    /// There is no room for its path patterns until other jobs end.
    #[error("{0}")]
    Exhausted(String),
    /// The store failed, which says nothing of the job.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<PolicyError> for JobStartError {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Store(error) => Self::Store(error),
            PolicyError::Values(_) => Self::Refused(error.to_string()),
        }
    }
}

impl JobContext {
    /// Reads what a job was asked for, by the rules of its team as they are now. Blocks.
    ///
    /// # Errors
    /// [`JobStartError`]
    pub(crate) fn of(inner: &Inner, record: JobRecord) -> Result<Self, JobStartError> {
        let request: JobRequest = serde_json::from_str(&record.request)
            .map_err(|error| JobStartError::Refused(error.to_string()))?;
        let team = team(inner, &record)?;
        let path_patterns = inner.engine.path_patterns().of_team(&record.team);
        let policy = Policy { path_patterns, ..team_policy(&inner.store, team.as_ref())? };
        let (plan, crawling) = plan(inner, &record, &request, &policy)?;
        let files = match &request.base_url {
            Some(base_url) => {
                // As for any request: files of nobody's team have no owner.
                let owner = record.key.as_ref().map_or("", |_| record.team.as_str());
                let kept = inner.artifacts.for_team(owner, websvc_artifacts::Retention::Stored);
                FilePublisher::storing(kept, base_url.clone())
            }
            None => FilePublisher::inline(),
        };
        Ok(Self { record, request, plan, team: TeamCache::default(), files, crawling })
    }

    /// Returns the pause between two of its pages.
    fn delay(&self) -> Option<Duration> {
        self.crawling.as_ref().and_then(|crawling| crawling.site.plan().delay())
    }

    /// Returns how many of its pages may be worked on at one time.
    fn max_concurrency(&self) -> usize {
        // Who saves a profile has it alone.
        let alone = self.plan.profile().map(|_| 1).or(self.delay().map(|_| 1));
        alone.or(self.request.max_concurrency).unwrap_or(usize::MAX)
    }
}

/// Returns how the pages of a job are got and, for a crawl, what it has met. Blocks.
fn plan(
    inner: &Inner,
    record: &JobRecord,
    request: &JobRequest,
    policy: &Policy,
) -> Result<(ScrapePlan, Option<Arc<CrawlState>>), JobStartError> {
    let refused = |rejection: Rejection| match rejection {
        Rejection::Exhausted { message } => JobStartError::Exhausted(message),
        rejection => JobStartError::Refused(format!("the options are not allowed any more: {rejection}")),
    };
    let Some(crawl) = &request.crawl else {
        let checked = check_scrape_options(request.options.clone(), policy).map_err(refused)?;
        return Ok((checked.plan, None));
    };
    let Checked { plan, warnings: _told_at_the_start } =
        check_crawl((**crawl).clone(), policy).map_err(refused)?;
    let known = inner.store.job_urls(record.number)?;
    let scrape = plan.scrape().clone();
    let site = CrawlScope::new(plan);
    if let Some(led_to) = record.led_to.as_deref().and_then(|url| Url::parse(url).ok()) {
        site.follow_start_redirect(&led_to);
    }
    Ok((scrape, Some(Arc::new(CrawlState::new(site, &known)))))
}

/// Returns whose job it is; `None` where nobody was asked for a key.
///
/// # Errors
/// [`JobStartError`]
pub(crate) fn team(inner: &Inner, record: &JobRecord) -> Result<Option<Team>, JobStartError> {
    if is_anonymous(record) {
        return Ok(None);
    }
    let team = inner.store.team(&record.team)?;
    team.map(Some).ok_or_else(|| JobStartError::Refused("its team is gone".to_owned()))
}

/// Returns whether nobody was asked for a key when the job began.
pub(crate) fn is_anonymous(record: &JobRecord) -> bool {
    record.key.is_none() && record.team == DEFAULT_TEAM
}

/// A job with the URLs that are leased to this process and wait.
#[derive(Debug)]
pub(crate) struct ActiveJob {
    pub(crate) work: Arc<JobContext>,
    queue: VecDeque<(String, JobLease)>,
    pub(crate) running: usize,
    /// The store had no more, and nothing happened since.
    pub(crate) is_dry: bool,
    /// Not before, because its pages have pauses between them.
    ready_at: Option<Instant>,
    /// How often in a row a page had to wait for credits while none of the others was under way.
    shortages: u32,
}

/// Contact with a host during a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostContact {
    /// Its host.
    Host,
    /// Nobody: it came from the cache, or was not fetched at all.
    Nobody,
}

/// Hint whether more URLs can be leased than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MoreWork {
    /// Something was found, or the limit of the job has room again.
    Perhaps,
    /// A document took the place of a lease, and nothing else happened.
    No,
}

/// Next step of a job.
#[derive(Debug)]
pub(crate) enum NextStep {
    /// With this page, of this host.
    Page(String, JobLease),
    /// Not before.
    At(Instant),
    /// When a page that is under way is done.
    Later,
    /// With what the store has.
    LeaseMore,
}

impl ActiveJob {
    pub(crate) fn new(work: JobContext) -> Self {
        Self {
            work: Arc::new(work),
            queue: VecDeque::new(),
            running: 0,
            is_dry: false,
            ready_at: None,
            shortages: 0,
        }
    }

    /// Takes in what the store leased.
    pub(crate) fn add_leases(&mut self, leases: Vec<JobLease>) {
        self.is_dry = leases.is_empty();
        let with_host = |lease: JobLease| {
            // Of a copy no host is asked, so that it waits for none.
            let url = Url::parse(&lease.url.url).ok().filter(|_| !lease.is_copy());
            (url.map(|url| pace_key(&url)).unwrap_or_default(), lease)
        };
        self.queue.extend(leases.into_iter().map(with_host));
    }

    /// Notes that a page is done, whether its host was asked for it, and whether the store may have more to lend since.
    pub(crate) fn finished(&mut self, now: Instant, asked: HostContact, more: MoreWork) {
        self.running = self.running.saturating_sub(1);
        self.shortages = 0;
        if more == MoreWork::Perhaps || self.queue.is_empty() {
            self.is_dry = false;
        }
        if asked == HostContact::Host {
            self.ready_at = self.work.delay().map(|delay| now + delay);
        }
    }

    /// Takes a page back for which too few credits are left while others hold some; tells whether to wait for them.
    pub(crate) fn park_for_credits(&mut self, host: String, lease: JobLease, now: Instant) -> bool {
        self.running = self.running.saturating_sub(1);
        if self.running == 0 {
            self.shortages += 1;
        }
        self.ready_at = Some(now + SHORTAGE);
        self.queue.push_front((host, lease));
        self.shortages <= MOST_SHORTAGES
    }

    /// Returns the first page whose host may be asked.
    pub(crate) fn next(&mut self, hosts: &HostTable, per_host: usize, now: Instant) -> NextStep {
        if self.running >= self.work.max_concurrency() {
            return NextStep::Later;
        }
        if let Some(ready_at) = self.ready_at.filter(|ready_at| *ready_at > now) {
            return NextStep::At(ready_at);
        }
        let mut at: Option<Instant> = None;
        for place in 0..self.queue.len() {
            match hosts.readiness(&self.queue[place].0, per_host, now) {
                HostReadiness::Now => {
                    let Some((host, lease)) = self.queue.remove(place) else { break };
                    return NextStep::Page(host, lease);
                }
                HostReadiness::At(ready_at) => at = Some(at.map_or(ready_at, |at| at.min(ready_at))),
                HostReadiness::Busy => {}
            }
        }
        match at {
            _ if self.queue.len() < MOST_LENT && !self.is_dry => NextStep::LeaseMore,
            Some(at) => NextStep::At(at),
            None => NextStep::Later,
        }
    }
}
