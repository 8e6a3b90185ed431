//! The handle of runs.

use std::sync::Arc;

use tokio::sync::Notify;
use uuid::Uuid;
use websvc_engine::Engine;
use websvc_jobs::Jobs;
use websvc_session::Sessions;
use websvc_store::{
    ApiVersion, CancelRunOutcome, CreateRunOutcome, KeyId, NewRun, NewWebhook, RunKind, RunList, RunMetrics,
    RunRecord, Store, StoreError, ThreadContent,
};
use websvc_tasks::TaskError;
use websvc_transport::BoxFuture;
use websvc_types::agent::{AgentEvent, AgentStatusResponse, AgentThreadRun};
use websvc_types::extract::ExtractStatusResponse;
use websvc_validate::{AgentPlan, ExtractPlan, Policy};

use crate::agent::least_credits;
use crate::config::RunsConfig;
use crate::environment::RunTools;
use crate::extract::{StoredExtraction, extract_status, least_extract_credits, max_credits};
use crate::metrics::RunCounts;
use crate::responses;
use crate::stored::{StoredRequest, StoredResult};

/// The runs of a service. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Runs {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) jobs: Jobs,
    pub(crate) tools: RunTools,
    pub(crate) config: RunsConfig,
    /// Wakes the runner when there may be a new run, or a request to cancel one.
    pub(crate) wakeup: Notify,
    pub(crate) counts: RunCounts,
}

/// A run to start.
#[derive(Debug)]
pub struct StartRun {
    /// Team that owns it.
    pub team: String,
    /// Key of the request; `None` for an anonymous request.
    pub key: Option<KeyId>,
    /// Kind of the run.
    pub kind: RunKind,
    /// Version of the API that the client called.
    pub api_version: ApiVersion,
    /// Thread that it continues.
    pub thread: Option<String>,
    /// The request, as JSON.
    pub request: String,
    /// Maximum of credits.
    pub max_credits: u64,
    /// The receiver of its events.
    pub webhook: Option<NewWebhook>,
}

impl Runs {
    /// Creates the handle. No run begins before [`run`](Self::run). The runs share the engine of the jobs, and with it their
    /// part of each pool: each of the two with a part of its own could leave nothing for HTTP callers.
    #[must_use]
    pub fn new(store: Store, jobs: Jobs, sessions: Option<Sessions>, config: RunsConfig) -> Self {
        let engine = jobs.background_engine();
        let inner = Inner {
            tools: RunTools::new(engine, sessions),
            engine: engine.clone(),
            store,
            jobs,
            config,
            wakeup: Notify::new(),
            counts: RunCounts::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &RunsConfig {
        &self.inner.config
    }

    /// Works on runs until it is dropped. The runs that it works on then fail when a process continues with the database.
    pub fn run<'a>(&'a self) -> BoxFuture<'a, std::convert::Infallible> {
        Box::pin(websvc_tasks::run(self.clone()))
    }

    /// Starts a run: it is stored, and begins when there is a free place.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn start(&self, start: StartRun) -> Result<CreateRunOutcome, TaskError> {
        let StartRun { team, key, kind, api_version, thread, request, max_credits, webhook } = start;
        let id = Uuid::new_v4().to_string();
        let new_thread = match kind {
            RunKind::Agent => Uuid::new_v4().to_string(),
            RunKind::Extract => id.clone(),
        };
        let run =
            NewRun { id, team, key, kind, api_version, thread, new_thread, request, max_credits, webhook };
        let outcome = self
            .with_store(move |store, config| store.create_run(&run, &config.limits, store.now_ms()))
            .await?;
        self.inner.wakeup.notify_one();
        Ok(outcome)
    }

    /// Returns a run of a team.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn find(&self, team: &str, kind: RunKind, id: &str) -> Result<Option<RunRecord>, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        self.with_store(move |store, _| store.run(&team, kind, &id, store.now_ms())).await
    }

    /// Returns the status of an agent run for its client.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn agent_status(&self, record: RunRecord) -> Result<AgentStatusResponse, TaskError> {
        let result = self.result(&record).await?;
        let stored = StoredRequest::decode(&record.request).ok_or(TaskError::OtherVersion)?;
        Ok(responses::status(&record, &stored, result, self.inner.config.limits.retention))
    }

    /// Returns the status of an extraction for its client.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn extract_status(&self, record: RunRecord) -> Result<ExtractStatusResponse, TaskError> {
        let number = record.number;
        let result = match record.status.is_finished() {
            true => self.with_store(move |store, _| store.run_result(number)).await?,
            false => None,
        };
        let result = match result {
            Some(result) => Some(StoredExtraction::decode(&result.0).ok_or(TaskError::OtherVersion)?),
            None => None,
        };
        Ok(extract_status(&record, result, self.inner.config.limits.retention))
    }

    /// Returns the credits that a team must have for the start of a run.
    #[must_use]
    pub fn least_agent_credits(&self, plan: &AgentPlan) -> u64 {
        least_credits(&self.inner.config, plan)
    }

    /// Returns the credits that a team must have for the start of an extraction.
    #[must_use]
    pub fn least_extract_credits(&self, plan: &ExtractPlan) -> u64 {
        least_extract_credits(&self.inner.engine, plan)
    }

    /// Returns the maximum credits of an extraction.
    #[must_use]
    pub fn max_extract_credits(&self, plan: &ExtractPlan, policy: &Policy) -> u64 {
        max_credits(&self.inner.engine, plan, policy)
    }

    /// Returns the result of an agent run; `None` if it has none yet.
    pub(crate) async fn result(&self, record: &RunRecord) -> Result<Option<StoredResult>, TaskError> {
        if !record.status.is_finished() {
            return Ok(None);
        }
        let number = record.number;
        let Some(result) = self.with_store(move |store, _| store.run_result(number)).await? else {
            return Ok(None);
        };
        StoredResult::decode(&result.0).map(Some).ok_or(TaskError::OtherVersion)
    }

    /// Asks to cancel a run of a team. It ends within seconds.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn cancel(&self, team: &str, kind: RunKind, id: &str) -> Result<CancelRunOutcome, TaskError> {
        let (team, id) = (team.to_owned(), id.to_owned());
        let outcome = self
            .with_store(move |store, _| store.request_run_cancel(&team, kind, &id, store.now_ms()))
            .await?;
        self.inner.wakeup.notify_one();
        Ok(outcome)
    }

    /// Returns the newest runs of a team that were created before a time, in milliseconds since the Unix epoch: at most `max`
    /// whose requests have at most `max_bytes` together, but always one if there is one.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn list(
        &self,
        team: &str,
        kind: RunKind,
        before_ms: u64,
        max: u64,
        max_bytes: u64,
    ) -> Result<RunList, TaskError> {
        let team = team.to_owned();
        self.with_store(move |store, _| store.runs(&team, kind, before_ms, max, max_bytes, store.now_ms()))
            .await
    }

    /// Returns the last runs of a thread of a team, the oldest first; empty if there is no such thread. Returns at most `max`
    /// runs whose content to read has at most `max_bytes` together, but always one if there is one.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn thread(
        &self,
        team: &str,
        thread: &str,
        content: ThreadContent,
        max: u64,
        max_bytes: u64,
    ) -> Result<Vec<RunRecord>, TaskError> {
        let (team, thread) = (team.to_owned(), thread.to_owned());
        self.with_store(move |store, _| {
            store.thread_runs(&team, &thread, content, max, max_bytes, store.now_ms())
        })
        .await
    }

    /// Returns a run of a thread for its client, with its data if the content has the results.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn thread_run(
        &self,
        record: &RunRecord,
        content: ThreadContent,
    ) -> Result<AgentThreadRun, TaskError> {
        let result = match content {
            ThreadContent::Requests => None,
            ThreadContent::RequestsAndResults => self.result(record).await?,
        };
        let stored = StoredRequest::decode(&record.request).ok_or(TaskError::OtherVersion)?;
        Ok(responses::thread_run(record, &stored, result))
    }

    /// Returns the events of a run.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn events(&self, run: i64) -> Result<Vec<AgentEvent>, TaskError> {
        let events = self.with_store(move |store, _| store.run_events(run)).await?;
        events
            .iter()
            .map(|event| serde_json::from_str(event).map_err(|_error| TaskError::OtherVersion))
            .collect()
    }

    /// Returns the content of a snapshot of a run.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn snapshot(&self, run: i64, id: &str) -> Result<Option<String>, TaskError> {
        let id = id.to_owned();
        let content = self.with_store(move |store, _| store.run_snapshot(run, &id)).await?;
        content.map(|json| String::from_utf8(json).map_err(|_error| TaskError::OtherVersion)).transpose()
    }

    /// Returns the numbers of runs of all teams.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn metrics(&self) -> Result<RunMetrics, TaskError> {
        self.with_store(|store, _| store.run_metrics()).await
    }

    /// Returns the counts of the runs that this process has ended since its start.
    #[must_use]
    pub fn counts(&self) -> &RunCounts {
        &self.inner.counts
    }

    /// Runs an access to the store on the blocking pool.
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store, &RunsConfig) -> Result<T, StoreError> + Send + 'static,
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
