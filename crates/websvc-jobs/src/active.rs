//! A job in memory: its context, and the URLs that are leased to this process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;
use websvc_engine::{PolicyError, team_policy};
use websvc_scrape::{FilePublisher, Scraper, tls_policy};
use websvc_store::{JobLease, JobRecord, NewHosts, StoreError, Team, TeamShare};
use websvc_tasks::is_anonymous;
use websvc_validate::{Checked, Policy, Rejection, ScrapePlan, check_request};

use crate::config::JobsConfig;
use crate::crawl_links::CrawlState;
use crate::crawl_scope::CrawlScope;
use crate::hosts::{HostReadiness, HostTable, pace_key};
use crate::jobs::Inner;
use crate::request::JobRequest;
use crate::robots::RobotsReader;
use crate::team_cache::TeamCache;

/// Maximum of leased URLs of a job that are queued in memory: enough to find one whose host is ready behind those of
/// hosts that are not.
const MAX_QUEUED: usize = 256;

/// Number of queued URLs with hosts that are not ready from which on the hosts are too few.
const ENOUGH_QUEUED: usize = 16;

/// How often a job waits for credits that other requests of its team hold, before it fails.
const MAX_SHORTAGES: u32 = 120;

/// Delay before a page that lacked credits is tried again.
const SHORTAGE_DELAY: Duration = Duration::from_millis(500);

/// Context shared by every page of a job.
#[derive(Debug)]
pub(crate) struct JobContext {
    pub(crate) record: JobRecord,
    pub(crate) request: JobRequest,
    pub(crate) plan: ScrapePlan,
    /// The team that owns the job.
    pub(crate) team: TeamCache,
    pub(crate) files: FilePublisher,
    /// State of a crawl; `None` for a batch.
    pub(crate) crawl: Option<Arc<CrawlState>>,
}

/// The reason why a job cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JobStartError {
    /// The request can no longer be executed. The job fails with this reason.
    #[error("{0}")]
    Refused(String),
    /// Its path patterns do not fit into memory until other jobs end.
    #[error("{0}")]
    Exhausted(String),
    /// The store failed. The job itself may be valid.
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
    /// Reads and checks the request of a job against the current policy of its team. Blocks.
    ///
    /// # Errors
    /// [`JobStartError`]
    pub(crate) fn load(inner: &Inner, record: JobRecord) -> Result<Self, JobStartError> {
        let request: JobRequest = serde_json::from_str(&record.request)
            .map_err(|error| JobStartError::Refused(error.to_string()))?;
        let team = team(inner, &record)?;
        let path_patterns = inner.engine.path_patterns().for_team(&record.team);
        let policy = Policy { path_patterns, ..team_policy(&inner.store, team.as_ref())? };
        let (plan, crawl) = plan(inner, &record, &request, &policy)?;
        let files = match &request.base_url {
            Some(base_url) => {
                // As for any request: files of anonymous requests have no owner.
                let owner = record.key.as_ref().map_or("", |_| record.team.as_str());
                let artifacts = inner.artifacts.for_team(owner, websvc_artifacts::Retention::Stored);
                FilePublisher::storing(artifacts, base_url.clone())
            }
            None => FilePublisher::inline(),
        };
        let cached = TeamCache::default();
        if let Some(team) = team {
            cached.set(&Arc::new(team));
        }
        Ok(Self { record, request, plan, team: cached, files, crawl })
    }

    /// Returns the way in which it reads robots.txt files.
    pub(crate) fn robots_reader(&self, scraper: &Scraper) -> RobotsReader {
        let agent = self.crawl.as_ref().and_then(|crawl| crawl.scope.plan().robots_agent.as_deref());
        RobotsReader {
            agent: agent.unwrap_or_else(|| scraper.robots_user_agent()).into(),
            tls: tls_policy(&self.plan),
        }
    }

    /// Returns the requested delay between two of its pages.
    fn delay(&self) -> Option<Duration> {
        self.crawl.as_ref().and_then(|crawl| crawl.scope.plan().delay)
    }

    /// Returns the maximum of concurrent pages of its team in this process, which has a share of the limit of the team; `None`
    /// if the team has no limit.
    pub(crate) fn team_concurrency(&self, config: &JobsConfig, share: TeamShare) -> Option<usize> {
        let limit = self.team.last().and_then(|team| team.concurrency).or(config.team_concurrency);
        limit.map(|limit| share.part_of(limit) as usize)
    }

    /// Returns whether several replicas may work on it at the same time. Each of them would allow itself the limits that the
    /// request sets for the whole job.
    pub(crate) fn may_spread(&self) -> bool {
        self.max_concurrency() == usize::MAX
    }

    /// Returns the maximum of its concurrent pages.
    fn max_concurrency(&self) -> usize {
        // A browser profile is saved by one page at a time.
        let sequential = self.plan.profile.as_ref().map(|_| 1).or(self.delay().map(|_| 1));
        sequential.or(self.request.max_concurrency).unwrap_or(usize::MAX)
    }
}

/// Returns the scrape plan for the pages of a job and, for a crawl, its state with the URLs that it has seen. Blocks.
fn plan(
    inner: &Inner,
    record: &JobRecord,
    request: &JobRequest,
    policy: &Policy,
) -> Result<(ScrapePlan, Option<Arc<CrawlState>>), JobStartError> {
    let refused = |rejection: Rejection| match rejection {
        Rejection::Exhausted { message } => JobStartError::Exhausted(message),
        rejection => JobStartError::Refused(format!("the options are no longer allowed: {rejection}")),
    };
    let Some(crawl) = &request.crawl else {
        let checked = check_request(&request.options, policy).map_err(refused)?;
        return Ok((checked.plan, None));
    };
    let Checked { plan, warnings: _sent_when_created } = check_request(&**crawl, policy).map_err(refused)?;
    let seen = inner.store.job_urls(record.number)?;
    let scrape = plan.scrape.clone();
    let scope = CrawlScope::new(plan);
    if let Some(target) = record.start_redirect.as_deref().and_then(|url| Url::parse(url).ok()) {
        scope.follow_start_redirect(&target);
    }
    Ok((scrape, Some(Arc::new(CrawlState::new(scope, &seen)))))
}

/// Returns the team of a job; `None` for an anonymous job.
///
/// # Errors
/// [`JobStartError`]
pub(crate) fn team(inner: &Inner, record: &JobRecord) -> Result<Option<Team>, JobStartError> {
    if is_anonymous(&record.team, record.key.as_ref()) {
        return Ok(None);
    }
    let team = inner.store.team(&record.team)?;
    team.map(Some).ok_or_else(|| JobStartError::Refused("its team was deleted".to_owned()))
}

/// A running job, with the queue of its leased URLs.
#[derive(Debug)]
pub(crate) struct ActiveJob {
    pub(crate) context: Arc<JobContext>,
    /// Leased URLs that are not in flight, with the pace keys of their hosts.
    queue: VecDeque<(String, JobLease)>,
    /// Pages in flight.
    pub(crate) in_flight: usize,
    /// True if the last lease returned nothing, and no more URLs are expected.
    store_exhausted: bool,
    /// True if the store may have more URLs than the lease in flight sees.
    more_since_lease: bool,
    /// No page starts before this time.
    ready_at: Option<Instant>,
    /// How often in a row a page lacked credits while no other page of the job was in flight.
    shortages: u32,
}

/// The contact of a page with its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostContact {
    /// A request was sent.
    Contacted,
    /// The page came from the cache, or was not fetched at all.
    NotContacted,
}

/// A hint whether more URLs may be leased than before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum MoreWork {
    /// URLs were found, or the page limit of the job leaves capacity again.
    #[default]
    Perhaps,
    /// A lease ended with a document, and nothing else changed.
    No,
}

/// The next step of a job.
#[derive(Debug)]
pub(crate) enum NextStep {
    /// Start this page, with the pace key of its host.
    Page(String, JobLease),
    /// Start nothing before this time.
    At(Instant),
    /// Start nothing until a page ends.
    Later,
    /// Lease more URLs.
    LeaseMore,
}

impl ActiveJob {
    pub(crate) fn new(context: JobContext) -> Self {
        Self {
            context: Arc::new(context),
            queue: VecDeque::new(),
            in_flight: 0,
            store_exhausted: false,
            more_since_lease: false,
            ready_at: None,
            shortages: 0,
        }
    }

    /// Records that a lease of more URLs starts. Returns the hosts that it should take: more if enough URLs are queued, and
    /// none of their hosts is ready.
    pub(crate) fn start_lease(&mut self) -> NewHosts {
        self.more_since_lease = false;
        if self.queue.len() < ENOUGH_QUEUED { NewHosts::IfNeeded } else { NewHosts::Wanted }
    }

    /// Adds leased URLs to the queue. Those that may be what ended the process come last, and take turns.
    pub(crate) fn add_leases(&mut self, mut leases: Vec<JobLease>) {
        leases.sort_by_key(JobLease::interruptions);
        self.store_exhausted = leases.is_empty() && !self.more_since_lease;
        let with_host = |lease: JobLease| {
            // A copy needs no request, so it waits for no host.
            let url = Url::parse(&lease.url.url).ok().filter(|_| !lease.is_copy());
            (url.map(|url| pace_key(&url)).unwrap_or_default(), lease)
        };
        self.queue.extend(leases.into_iter().map(with_host));
    }

    /// Records that the store may have more URLs to lease.
    pub(crate) fn expect_more(&mut self) {
        self.store_exhausted = false;
        self.more_since_lease = true;
    }

    /// Returns whether it has no leases.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.queue.is_empty()
    }

    /// Returns the hosts of the leased URLs that are queued. Copies have none.
    pub(crate) fn queued_hosts(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().map(|(host, _)| host.as_str()).filter(|host| !host.is_empty())
    }

    /// Records the end of a page.
    pub(crate) fn page_finished(&mut self, now: Instant, contact: HostContact, more: MoreWork) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.shortages = 0;
        if more == MoreWork::Perhaps || self.queue.is_empty() {
            self.expect_more();
        }
        if contact == HostContact::Contacted {
            self.ready_at = self.context.delay().map(|delay| now + delay);
        }
    }

    /// Returns a page to the queue that lacked credits while other requests hold some. Returns whether the job
    /// continues to wait for them.
    pub(crate) fn park_for_credits(&mut self, host: String, lease: JobLease, now: Instant) -> bool {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.shortages += 1;
        }
        self.ready_at = Some(now + SHORTAGE_DELAY);
        self.put_back(host, lease);
        self.shortages <= MAX_SHORTAGES
    }

    /// Returns a page to the front of the queue.
    pub(crate) fn put_back(&mut self, host: String, lease: JobLease) {
        self.queue.push_front((host, lease));
    }

    /// Returns the next step: the first page whose host is ready, if there is one.
    pub(crate) fn next(&mut self, hosts: &HostTable, max_per_host: usize, now: Instant) -> NextStep {
        if self.in_flight >= self.context.max_concurrency() {
            return NextStep::Later;
        }
        if let Some(ready_at) = self.ready_at.filter(|ready_at| *ready_at > now) {
            return NextStep::At(ready_at);
        }
        let mut at: Option<Instant> = None;
        for index in 0..self.queue.len() {
            match hosts.readiness(&self.queue[index].0, max_per_host, now) {
                HostReadiness::Now => {
                    let Some((host, lease)) = self.queue.remove(index) else { break };
                    return NextStep::Page(host, lease);
                }
                HostReadiness::At(ready_at) => at = Some(at.map_or(ready_at, |at| at.min(ready_at))),
                HostReadiness::Busy => {}
            }
        }
        match at {
            _ if self.queue.len() < MAX_QUEUED && !self.store_exhausted => NextStep::LeaseMore,
            Some(at) => NextStep::At(at),
            None => NextStep::Later,
        }
    }
}
