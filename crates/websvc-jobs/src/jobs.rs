//! The handle on jobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::Notify;
use url::Url;
use websvc_artifacts::Artifacts;
use websvc_engine::Engine;
use websvc_store::{
    CancelJobOutcome, CreateJobOutcome, DeadLetterFilter, DeadLetterPage, JobDocumentPage, JobError, JobKind,
    JobOverview, JobRecord, JobUrl, NewJob, Store, StoreError, WebhookStats,
};
use websvc_transport::Client;

use crate::completion_batch::CompletionBatcher;
use crate::config::JobsConfig;
use crate::in_flight::InFlight;
use crate::robots::Robots;
use crate::watch::{JobWatcher, JobWatchers};
use crate::webhook::{Counters, WebhookMetrics};

/// Why jobs could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The store failed.
    #[error("the jobs could not be read or changed")]
    Store(#[from] StoreError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// The pages of jobs that are not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenPageCounts {
    /// Those that are worked on.
    pub in_work: u64,
    /// Those that wait.
    pub waiting: u64,
}

/// Jobs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Jobs {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    /// It has a share of the pools only.
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) artifacts: Artifacts,
    pub(crate) config: JobsConfig,
    pub(crate) robots: Robots,
    /// That there are other jobs than there were.
    pub(crate) changed: Notify,
    pub(crate) charged: ChargedCredits,
    pub(crate) watched: JobWatchers,
    pub(crate) ends: CompletionBatcher,
    pub(crate) in_work: InFlight,
    /// That there may be events to deliver.
    pub(crate) happened: Notify,
    /// That there may be events that nobody wants any more.
    pub(crate) abandoned: AtomicBool,
    pub(crate) deliveries: Counters,
}

/// Credits charged for pages since the start, by kind of job.
#[derive(Debug, Default)]
pub(crate) struct ChargedCredits {
    batch: AtomicU64,
    crawl: AtomicU64,
}

impl ChargedCredits {
    pub(crate) fn add(&self, kind: JobKind, credits: u64) {
        self.of(kind).fetch_add(credits, Ordering::Relaxed);
    }

    fn of(&self, kind: JobKind) -> &AtomicU64 {
        match kind {
            JobKind::Batch => &self.batch,
            JobKind::Crawl => &self.crawl,
        }
    }
}

impl Jobs {
    /// Makes the handle; nothing is worked on before [`run`](Self::run).
    #[must_use]
    pub fn new(engine: &Engine, store: Store, artifacts: Artifacts, config: JobsConfig) -> Self {
        let engine = engine.with_background_limits(config.share);
        let changed = Notify::new();
        Self {
            inner: Arc::new(Inner {
                engine,
                store,
                artifacts,
                config,
                robots: Robots::default(),
                changed,
                charged: ChargedCredits::default(),
                watched: JobWatchers::default(),
                ends: CompletionBatcher::default(),
                in_work: InFlight::default(),
                happened: Notify::new(),
                abandoned: AtomicBool::new(false),
                deliveries: Counters::default(),
            }),
        }
    }

    /// Returns the bounds.
    #[must_use]
    pub fn config(&self) -> &JobsConfig {
        &self.inner.config
    }

    /// Returns the credits that were charged for pages of jobs of a kind, since this handle was made.
    #[must_use]
    pub fn charged(&self, kind: JobKind) -> u64 {
        self.inner.charged.of(kind).load(Ordering::Relaxed)
    }

    /// Begins a job.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn create(&self, job: NewJob) -> Result<CreateJobOutcome, JobsError> {
        let created =
            self.with_store(move |store, config| store.create_job(&job, &config.limits, now_ms())).await?;
        self.inner.changed.notify_one();
        self.inner.happened.notify_one();
        Ok(created)
    }

    /// Adds URLs to a job of a team that runs, of a list of `listed` URLs as sent, and returns how many were added; `None`
    /// when none of this name runs.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn extend(
        &self,
        team: &str,
        id: &str,
        urls: Vec<JobUrl>,
        listed: u64,
    ) -> Result<Option<u64>, JobsError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let added = self
            .with_store(move |store, config| {
                store.extend_job(&team, &id, &urls, listed, &config.limits, now_ms())
            })
            .await?;
        self.inner.changed.notify_one();
        Ok(added)
    }

    /// Cancels a job of a team, and drops its events that wait.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn cancel(&self, team: &str, kind: JobKind, id: &str) -> Result<CancelJobOutcome, JobsError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let (cancelled, job) = self
            .with_store(move |store, config| {
                let cancelled = store.cancel_job(&team, kind, &id, &config.limits, now_ms())?;
                Ok((cancelled, store.job(&team, kind, &id, now_ms())?))
            })
            .await?;
        self.inner.changed.notify_one();
        if let Some(job) = job {
            self.inner.watched.notify(job.number);
        }
        if cancelled == CancelJobOutcome::Cancelled {
            // There may be many events: who delivers drops them, and no request waits for it.
            self.inner.abandoned.store(true, Ordering::Relaxed);
            self.inner.happened.notify_one();
        }
        Ok(cancelled)
    }

    /// Returns a job of a team.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn job(&self, team: &str, kind: JobKind, id: &str) -> Result<Option<JobRecord>, JobsError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        self.with_store(move |store, _| store.job(&team, kind, &id, now_ms())).await
    }

    /// Returns the jobs of a team that run, the oldest first.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn running(&self, team: &str, kind: JobKind) -> Result<Vec<JobRecord>, JobsError> {
        let team = team.to_owned();
        self.with_store(move |store, _| store.running_jobs(Some((&team, kind)))).await
    }

    /// Returns the jobs of all teams that run or ended at `since_ms` or later: see [`Store::recent_jobs`].
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn recent(&self, since_ms: u64, most: u64) -> Result<Vec<JobOverview>, JobsError> {
        self.with_store(move |store, _| store.recent_jobs(since_ms, most)).await
    }

    /// Begins to hear of a job, by its number.
    #[must_use]
    pub fn watch(&self, job: i64) -> JobWatcher {
        self.inner.watched.watch(job)
    }

    /// Returns documents of a job: see [`Store::job_documents`].
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn documents(
        &self,
        job: i64,
        skip: u64,
        most: u64,
        max_bytes: u64,
    ) -> Result<JobDocumentPage, JobsError> {
        self.with_store(move |store, _| store.job_documents(job, skip, most, max_bytes)).await
    }

    /// Returns up to `most` URLs of a job of which there is no document.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn errors(&self, job: i64, most: usize) -> Result<Vec<JobError>, JobsError> {
        self.with_store(move |store, _| store.job_errors(job, most)).await
    }

    /// Returns the pages of jobs that are not done, of one team or of all.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn pages(&self, team: Option<&str>) -> Result<OpenPageCounts, JobsError> {
        let in_work = self.inner.in_work.count(team);
        let team = team.map(str::to_owned);
        let open = self.with_store(move |store, _| store.open_job_pages(team.as_deref())).await?;
        Ok(OpenPageCounts { in_work: in_work.min(open), waiting: open.saturating_sub(in_work) })
    }

    /// Tells whether a URL names an address to which no event is sent. What a name stands for is known only when it is
    /// connected to.
    #[must_use]
    pub fn is_forbidden_target(&self, url: &Url) -> bool {
        self.client().refuses(url)
    }

    /// Returns what became of events since this handle was made.
    #[must_use]
    pub fn webhook_counts(&self) -> WebhookMetrics {
        self.inner.deliveries.counts()
    }

    /// Returns how many events wait, and how many are dead letters.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn webhook_figures(&self) -> Result<WebhookStats, JobsError> {
        self.with_store(|store, _| store.webhook_figures()).await
    }

    /// Returns dead letters after the first `skip`, at most `most` of them.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn dead_letters(
        &self,
        which: DeadLetterFilter,
        skip: u64,
        most: u64,
    ) -> Result<DeadLetterPage, JobsError> {
        self.with_store(move |store, _| store.dead_letters(&which, skip, most)).await
    }

    /// Lets dead letters be tried anew, and returns how many.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn retry_dead_letters(&self, which: DeadLetterFilter) -> Result<u64, JobsError> {
        let count = self.with_store(move |store, _| store.retry_dead_letters(&which, now_ms())).await?;
        self.inner.happened.notify_one();
        Ok(count)
    }

    /// Forgets dead letters, and returns how many.
    ///
    /// # Errors
    /// [`JobsError`]
    pub async fn delete_dead_letters(&self, which: DeadLetterFilter) -> Result<u64, JobsError> {
        self.with_store(move |store, _| store.delete_dead_letters(&which)).await
    }

    /// Returns the guarded client.
    pub(crate) fn client(&self) -> &Client {
        self.inner.engine.scraper().client()
    }

    /// Does something with the store where it holds nobody up.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &JobsConfig) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, JobsError> {
        self.blocking(move |inner| Ok(work(&inner.store, &inner.config)?)).await
    }

    /// Does what blocks where it holds nobody up.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, JobsError> + Send + 'static,
    ) -> Result<T, JobsError> {
        let inner = Arc::clone(&self.inner);
        match tokio::task::spawn_blocking(move || work(&inner)).await {
            Ok(done) => done,
            Err(stopped) if stopped.is_panic() => std::panic::resume_unwind(stopped.into_panic()),
            Err(_stopped) => Err(JobsError::Stopping),
        }
    }
}

/// Returns the time in milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
