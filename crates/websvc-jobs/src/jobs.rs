//! The handle of jobs.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use url::Url;
use websvc_artifacts::Artifacts;
use websvc_engine::Engine;
use websvc_store::{
    CancelJobOutcome, CompletionOutcome, CompressedCompletion, CreateJobOutcome, DeadLetterFilter,
    DeadLetterPage, JobDocumentPage, JobError, JobKind, JobOverview, JobRecord, JobUrl, NewJob, Store,
    StoreError, WebhookAttempt, WebhookStats,
};
use websvc_tasks::TaskError;
use websvc_transport::Client;

use crate::config::JobsConfig;
use crate::group_commit::GroupCommit;
use crate::in_flight::InFlight;
use crate::robots::Robots;
use crate::watch::{JobWatcher, JobWatchers};
use crate::webhook::WebhookMetrics;

/// Interval at which the jobs of a shared store are read: other replicas create, cancel and hand over jobs.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Counts of the pages of jobs that are not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenPageCounts {
    /// Pages in flight.
    pub in_flight: u64,
    /// Queued pages.
    pub queued: u64,
}

/// The jobs of a service. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Jobs {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    /// The engine with background limits.
    pub(crate) background_engine: Engine,
    /// The same engine, for pages whose versions are stored with them.
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
    pub(crate) config: JobsConfig,
    pub(crate) robots: Robots,
    /// Wakes the job scheduler when jobs were created, extended or cancelled.
    pub(crate) scheduler_wakeup: Notify,
    pub(crate) charged: ChargedCredits,
    pub(crate) watchers: JobWatchers,
    /// The completions of pages, by job on a server: at most one for each page in flight.
    pub(crate) completions: GroupCommit<CompressedCompletion, CompletionOutcome>,
    pub(crate) in_flight: InFlight,
    /// The outcomes of attempts to deliver events.
    pub(crate) webhook_attempts: GroupCommit<WebhookAttempt, ()>,
    /// Wakes the webhook scheduler when there may be events to deliver.
    pub(crate) webhook_wakeup: Notify,
    /// True if a job was cancelled whose pending events are to be dropped.
    pub(crate) has_abandoned_events: AtomicBool,
    pub(crate) webhook_metrics: WebhookMetrics,
    /// True if this process has joined the replicas for the next run.
    pub(crate) is_prepared: AtomicBool,
}

/// Credits charged for pages since the start, by kind of job.
#[derive(Debug, Default)]
pub(crate) struct ChargedCredits {
    batch: AtomicU64,
    crawl: AtomicU64,
}

impl ChargedCredits {
    pub(crate) fn add(&self, kind: JobKind, credits: u64) {
        self.counter(kind).fetch_add(credits, Ordering::Relaxed);
    }

    fn counter(&self, kind: JobKind) -> &AtomicU64 {
        match kind {
            JobKind::Batch => &self.batch,
            JobKind::Crawl => &self.crawl,
        }
    }
}

impl Jobs {
    /// Creates the handle. Jobs make no progress before [`run`](Self::run).
    #[must_use]
    pub fn new(engine: &Engine, store: Store, artifacts: Artifacts, config: JobsConfig) -> Self {
        let background_engine = engine.with_background_limits(config.background_limits);
        let poll = store.is_shared().then_some(POLL_INTERVAL);
        Self {
            inner: Arc::new(Inner {
                engine: background_engine.with_snapshots_in_pages(),
                background_engine,
                store,
                artifacts,
                config,
                robots: Robots::default(),
                scheduler_wakeup: Notify::new(),
                charged: ChargedCredits::default(),
                watchers: JobWatchers::new(poll),
                completions: GroupCommit::default(),
                webhook_attempts: GroupCommit::default(),
                in_flight: InFlight::default(),
                webhook_wakeup: Notify::new(),
                has_abandoned_events: AtomicBool::new(false),
                webhook_metrics: WebhookMetrics::default(),
                is_prepared: AtomicBool::new(false),
            }),
        }
    }

    /// Returns the engine for background work. Other background work uses it to share the limits of jobs.
    #[must_use]
    pub fn background_engine(&self) -> &Engine {
        &self.inner.background_engine
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &JobsConfig {
        &self.inner.config
    }

    /// Returns the credits charged for pages of jobs of a kind, since this handle was created.
    #[must_use]
    pub fn charged(&self, kind: JobKind) -> u64 {
        self.inner.charged.counter(kind).load(Ordering::Relaxed)
    }

    /// Creates a job.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn create(&self, job: NewJob) -> Result<CreateJobOutcome, TaskError> {
        let created = self
            .with_store(move |store, config| store.create_job(&job, &config.limits, store.now_ms()))
            .await?;
        self.inner.scheduler_wakeup.notify_one();
        self.inner.webhook_wakeup.notify_one();
        Ok(created)
    }

    /// Adds URLs to a running job of a team, from a list that has `list_len` URLs as sent. Returns how many were added;
    /// `None` if no such job runs.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn extend(
        &self,
        team: &str,
        id: &str,
        urls: Vec<JobUrl>,
        list_len: u64,
    ) -> Result<Option<u64>, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let added = self
            .with_store(move |store, config| {
                store.extend_job(&team, &id, &urls, list_len, &config.limits, store.now_ms())
            })
            .await?;
        self.inner.scheduler_wakeup.notify_one();
        Ok(added)
    }

    /// Cancels a job of a team, and drops its pending events.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn cancel(&self, team: &str, kind: JobKind, id: &str) -> Result<CancelJobOutcome, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let (outcome, job) = self
            .with_store(move |store, config| {
                let outcome = store.cancel_job(&team, kind, &id, &config.limits, store.now_ms())?;
                Ok((outcome, store.job(&team, kind, &id, store.now_ms())?))
            })
            .await?;
        self.inner.scheduler_wakeup.notify_one();
        if let Some(job) = job {
            self.inner.watchers.notify(job.number);
        }
        if outcome == CancelJobOutcome::Cancelled {
            // There may be many events, so the webhook scheduler drops them while the request returns.
            self.inner.has_abandoned_events.store(true, Ordering::Relaxed);
            self.inner.webhook_wakeup.notify_one();
        }
        Ok(outcome)
    }

    /// Returns a job of a team.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn job(&self, team: &str, kind: JobKind, id: &str) -> Result<Option<JobRecord>, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        self.with_store(move |store, _| store.job(&team, kind, &id, store.now_ms())).await
    }

    /// Returns the running jobs of a team, the oldest first.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn running(&self, team: &str, kind: JobKind) -> Result<Vec<JobRecord>, TaskError> {
        let team = team.to_owned();
        self.with_store(move |store, _| store.running_jobs(Some((&team, kind)))).await
    }

    /// Returns the jobs of all teams that run, or ended at `since_ms` or later: see [`Store::recent_jobs`].
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn recent(&self, since_ms: u64, max: u64) -> Result<Vec<JobOverview>, TaskError> {
        self.with_store(move |store, _| store.recent_jobs(since_ms, max)).await
    }

    /// Subscribes to the changes of a job, by its number.
    #[must_use]
    pub fn watch(&self, job: i64) -> JobWatcher {
        self.inner.watchers.watch(job)
    }

    /// Returns documents of a job: see [`Store::job_documents`].
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn documents(
        &self,
        job: i64,
        skip: u64,
        max: u64,
        max_bytes: u64,
    ) -> Result<JobDocumentPage, TaskError> {
        self.with_store(move |store, _| store.job_documents(job, skip, max, max_bytes)).await
    }

    /// Returns up to `max` URLs of a job that ended without a document.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn errors(&self, job: i64, max: usize) -> Result<Vec<JobError>, TaskError> {
        self.with_store(move |store, _| store.job_errors(job, max)).await
    }

    /// Lets the store delete an ended job soon, because its documents are no longer needed.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn expire(&self, job: i64) -> Result<(), TaskError> {
        self.with_store(move |store, _| store.expire_job(job, store.now_ms())).await
    }

    /// Wakes the delivery of webhook events, after events were stored that do not belong to a job.
    pub fn notify_webhooks(&self) {
        self.inner.webhook_wakeup.notify_one();
    }

    /// Returns the number of pages that are not done, of the jobs of one team or of all.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn pages(&self, team: Option<&str>) -> Result<OpenPageCounts, TaskError> {
        let in_flight = self.inner.in_flight.count(team);
        let team = team.map(str::to_owned);
        let open = self.with_store(move |store, _| store.open_job_pages(team.as_deref())).await?;
        Ok(OpenPageCounts { in_flight: in_flight.min(open), queued: open.saturating_sub(in_flight) })
    }

    /// Returns the numbers of pages in flight in this process, of the teams that have some.
    #[must_use]
    pub fn pages_in_flight_by_team(&self) -> HashMap<String, u64> {
        self.inner.in_flight.by_team()
    }

    /// Returns whether the host of a URL is an IP address to which no events may be sent. Host names are resolved and
    /// checked only when an event is sent.
    #[must_use]
    pub fn is_forbidden_target(&self, url: &Url) -> bool {
        self.client().refuses(url)
    }

    /// Returns the counters of webhook events since this handle was created.
    #[must_use]
    pub fn webhook_metrics(&self) -> &WebhookMetrics {
        &self.inner.webhook_metrics
    }

    /// Returns the number of pending events and of dead letters.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn webhook_stats(&self) -> Result<WebhookStats, TaskError> {
        self.with_store(|store, _| store.webhook_stats()).await
    }

    /// Returns up to `max` dead letters after the first `skip`.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn dead_letters(
        &self,
        filter: DeadLetterFilter,
        skip: u64,
        max: u64,
    ) -> Result<DeadLetterPage, TaskError> {
        self.with_store(move |store, _| store.dead_letters(&filter, skip, max)).await
    }

    /// Makes dead letters pending again, and returns how many.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn retry_dead_letters(&self, filter: DeadLetterFilter) -> Result<u64, TaskError> {
        let count =
            self.with_store(move |store, _| store.retry_dead_letters(&filter, store.now_ms())).await?;
        self.inner.webhook_wakeup.notify_one();
        Ok(count)
    }

    /// Deletes dead letters, and returns how many.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn delete_dead_letters(&self, filter: DeadLetterFilter) -> Result<u64, TaskError> {
        self.with_store(move |store, _| store.delete_dead_letters(&filter)).await
    }

    /// Returns the guarded client.
    pub(crate) fn client(&self) -> &Client {
        self.inner.engine.scraper().client()
    }

    /// Runs an access to the store on the blocking pool.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &JobsConfig) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, TaskError> {
        self.run_blocking(move |inner| Ok(work(&inner.store, &inner.config)?)).await
    }

    /// Runs blocking work on the blocking pool.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, TaskError> + Send + 'static,
    ) -> Result<T, TaskError> {
        websvc_tasks::run_blocking(&self.inner, work).await
    }
}
