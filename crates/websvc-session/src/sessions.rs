//! All sessions of this process.

mod start;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use uuid::Uuid;
use websvc_artifacts::{Artifacts, Retention};
use websvc_engine::{Engine, SessionUse};
use websvc_store::{BrowserSessionRecord, BrowserSessionStatus, Store, StoreError, UsageRetention};
use websvc_transport::spawn_blocking;
use websvc_types::interact::InteractLanguage;
use websvc_types::limits::INTERACT_LIST_MAX;
use websvc_validate::CodePlan;

use crate::active::{ActiveSession, ClientConnection};
use crate::code::{CodeRunner, Language, PageTarget, Program};
use crate::config::SessionsConfig;
use crate::error::SessionError;
use crate::metrics::{OpenSessions, SessionMetrics};
use crate::model::{Execution, NewSession, SessionEnd, SessionView, ViewMode};
use crate::program::ProgramFiles;
use crate::program_run::{Author, run_program};
use crate::prompt_metrics::PromptMetrics;
use crate::registry::{Entry, Registry};
use crate::running::wait_for_all;

/// The sessions of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sessions(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) engine: Engine,
    store: Store,
    artifacts: Artifacts,
    config: SessionsConfig,
    permits: Arc<Semaphore>,
    pub(crate) registry: Registry<ActiveSession>,
    pub(crate) prompt_metrics: PromptMetrics,
    /// The tasks that start sessions and wait for their ends.
    tasks: Mutex<JoinSet<()>>,
    pub(crate) metrics: SessionMetrics,
    /// True once the service shuts down.
    stopping: watch::Sender<bool>,
}

impl Sessions {
    /// Creates the registry. It starts nothing.
    #[must_use]
    pub fn new(engine: Engine, store: Store, artifacts: Artifacts, config: SessionsConfig) -> Self {
        let permits = Arc::new(Semaphore::new(config.max_sessions));
        let (registry, tasks) = (Registry::default(), Mutex::default());
        let stopping = watch::Sender::new(false);
        Self(Arc::new(Inner {
            engine,
            store,
            artifacts,
            config,
            permits,
            registry,
            prompt_metrics: PromptMetrics::default(),
            tasks,
            metrics: SessionMetrics::default(),
            stopping,
        }))
    }

    /// Returns whether sessions can be started: whether they are not switched off.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.0.config.max_sessions > 0
    }

    /// Checks that code in a language can be run.
    ///
    /// # Errors
    /// [`SessionError::Language`].
    pub fn check_language(&self, language: InteractLanguage) -> Result<(), SessionError> {
        self.runner(language).map(|_| ())
    }

    /// Returns the program that runs code in a language, and the language as it names it.
    pub(crate) fn runner(
        &self,
        language: InteractLanguage,
    ) -> Result<(&dyn CodeRunner, Language), SessionError> {
        let unavailable = |reason| SessionError::Language { language, reason };
        let Some(runner) = &self.0.config.runner else {
            return Err(unavailable("this installation has no program that runs code"));
        };
        let language = runner.language(language).map_err(unavailable)?;
        Ok((runner.as_ref(), language))
    }

    /// Returns the credits that a session holds: for its whole time to live, without prompts.
    #[must_use]
    pub fn credits_to_hold(&self, ttl: Duration) -> u64 {
        self.0.engine.session_bill(ttl, SessionUse::Code).total()
    }

    /// Returns whether a session runs, or starts, in this process.
    #[must_use]
    pub fn contains(&self, id: Uuid) -> bool {
        self.0.registry.find(&id.to_string()).is_some()
    }

    /// Returns whether the active session that a scrape has opened runs in this process.
    #[must_use]
    pub fn contains_session_of(&self, scrape: Uuid) -> bool {
        let scrape = scrape.to_string();
        self.0.registry.all_active().iter().any(|session| session.record.scrape.as_ref() == Some(&scrape))
    }

    /// Returns the metrics of the sessions of this process.
    #[must_use]
    pub fn metrics(&self) -> &SessionMetrics {
        &self.0.metrics
    }

    /// Returns the number of sessions of this process, and of their connections.
    #[must_use]
    pub fn open(&self) -> OpenSessions {
        let active = self.0.registry.all_active();
        let connections = active.iter().map(|session| session.connections());
        let (clients, viewers) =
            connections.fold((0, 0), |(clients, viewers), (more, seen)| (clients + more, viewers + seen));
        OpenSessions { active: active.len(), clients, viewers }
    }

    /// Returns the credits that an active session would cost if it ended now; `None` for others.
    #[must_use]
    pub fn credits_so_far(&self, session: &SessionView) -> Option<u64> {
        let active = self.0.registry.active(&session.record.id)?;
        Some(self.0.engine.session_bill(active.created.elapsed(), active.usage()).total())
    }

    /// Starts a session. If the caller is gone, the session starts nevertheless and ends unused.
    ///
    /// # Errors
    /// [`SessionError`]; then the session does not exist.
    pub async fn create(&self, session: NewSession) -> Result<SessionView, SessionError> {
        let inner = Arc::clone(&self.0);
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.spawn(async move {
            // The caller may be gone.
            match Box::pin(Arc::clone(&inner).create(session)).await {
                Ok((view, running)) => {
                    inner.metrics.started.add(1);
                    let _ = sender.send(Ok(view));
                    running.run().await;
                }
                Err(error) => {
                    inner.metrics.count_failure(&error);
                    drop(sender.send(Err(error)));
                }
            }
        });
        receiver.await.unwrap_or(Err(SessionError::Stopping))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Returns a session of a team.
    ///
    /// # Errors
    /// [`SessionError::NotFound`], also for a session of another team; [`SessionError::Store`].
    pub async fn find(&self, team: &str, id: Uuid) -> Result<SessionView, SessionError> {
        let id = id.to_string();
        let found = self.read(move |store| store.browser_session(&id)).await?;
        self.own(team, found).ok_or(SessionError::NotFound)
    }

    /// Returns the session that a scrape of a team has opened, if there is one.
    ///
    /// # Errors
    /// [`SessionError::Store`].
    pub async fn find_of_scrape(
        &self,
        team: &str,
        scrape: Uuid,
    ) -> Result<Option<SessionView>, SessionError> {
        let scrape = scrape.to_string();
        let found = self.read(move |store| store.browser_session_of_scrape(&scrape)).await?;
        Ok(self.own(team, found))
    }

    /// Returns a session if it belongs to a team.
    fn own(&self, team: &str, found: Option<BrowserSessionRecord>) -> Option<SessionView> {
        found.filter(|record| record.team == team).map(|record| self.view(record))
    }

    /// Returns the sessions of a team, the newest first.
    ///
    /// # Errors
    /// [`SessionError::Store`].
    pub async fn list(
        &self,
        team: &str,
        status: Option<BrowserSessionStatus>,
    ) -> Result<Vec<SessionView>, SessionError> {
        let team = team.to_owned();
        let records = self
            .read(move |store| store.browser_sessions(&team, status, INTERACT_LIST_MAX, store.now_ms()))
            .await?;
        Ok(records.into_iter().map(|record| self.view(record)).collect())
    }

    fn view(&self, mut record: BrowserSessionRecord) -> SessionView {
        let is_active = record.status == BrowserSessionStatus::Active;
        let session = self.0.registry.active(&record.id).filter(|_| is_active);
        if let Some(session) = &session {
            let idle_ms = u64::try_from(session.idle_for().as_millis()).unwrap_or(u64::MAX);
            record.active_at_ms = record.active_at_ms.max(self.0.store.now_ms().saturating_sub(idle_ms));
        }
        SessionView { record, urls: session.map(|session| session.urls.clone()) }
    }

    /// Runs code in a session, after the requests that came before. The URLs of its files begin with `base_url`; without
    /// it, the code has no files.
    ///
    /// # Errors
    /// [`SessionError`]; code that fails is not an error.
    pub async fn execute(
        &self,
        session: &SessionView,
        code: CodePlan,
        base_url: Option<&str>,
    ) -> Result<Execution, SessionError> {
        let CodePlan { code, language, timeout: limit } = code;
        let (runner, program_language) = self.runner(language)?;
        let active = self.active(session)?;
        let program = Program { language: program_language, code, timeout: limit };
        let author = Author::Client(self.files(&active, base_url));
        let running = async {
            let _turn = active.take_turn().await?;
            run_program(&active, runner, program, author).await
        };
        let outcome = active.work(running).await?;
        self.0.metrics.count_program(language, &outcome);
        self.record_use(&active).await;
        Ok(Execution::limited(outcome))
    }

    /// Records in the store that the client used a session.
    pub(crate) async fn record_use(&self, active: &ActiveSession) {
        let id = active.record.id.clone();
        if let Err(error) = self.read(move |store| store.touch_browser_session(&id, store.now_ms())).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the use of a browser session is not recorded"
            );
        }
    }

    /// Returns the store of the files of a program; `None` if it may not store any.
    fn files(&self, session: &ActiveSession, base_url: Option<&str>) -> ProgramFiles {
        match session.retention {
            UsageRetention::Whole => {
                let artifacts = self.0.artifacts.for_team(&session.record.team, Retention::Stored);
                base_url.map(|base_url| (artifacts, base_url.to_owned()))
            }
            // An artifact has an owner, and an anonymous request has none.
            UsageRetention::Zero | UsageRetention::Anonymous => None,
        }
    }

    /// Connects a client over the DevTools protocol.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] also for a wrong token.
    pub async fn connect(&self, id: Uuid, token: &str) -> Result<ClientConnection, SessionError> {
        let session = self.admitted(id, |session| session.admits_control(token)).await?;
        session.connect().await
    }

    /// Connects a viewer to the current page of a session. Returns what its token permits.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] also for a wrong token.
    pub async fn watch(
        &self,
        id: Uuid,
        token: &str,
    ) -> Result<(ClientConnection, PageTarget, ViewMode), SessionError> {
        let session = self.admitted(id, |session| session.admits_view(token)).await?;
        let mode = if session.admits_control(token) { ViewMode::Interactive } else { ViewMode::ReadOnly };
        let (connection, page) = session.watch().await?;
        Ok((connection, page, mode))
    }

    /// Returns a session to a viewer.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] also for a wrong token.
    pub async fn find_for_viewer(&self, id: Uuid, token: &str) -> Result<SessionView, SessionError> {
        let session = self.admitted(id, |session| session.admits_view(token)).await?;
        Ok(self.view(session.record.clone()))
    }

    async fn admitted(
        &self,
        id: Uuid,
        admits: impl Fn(&ActiveSession) -> bool,
    ) -> Result<Arc<ActiveSession>, SessionError> {
        let id = id.to_string();
        match self.0.registry.active(&id) {
            Some(session) if admits(&session) => Ok(session),
            Some(_) => Err(SessionError::NotFound),
            None => {
                let record = self.read(move |store| store.browser_session(&id)).await?;
                match record.ok_or(SessionError::NotFound)?.status {
                    BrowserSessionStatus::Active => Err(SessionError::OnOtherReplica),
                    BrowserSessionStatus::Destroyed => Err(SessionError::Ended),
                }
            }
        }
    }

    /// Ends a session: saves its profile, stops its browser and charges for it.
    ///
    /// # Errors
    /// [`SessionError::OnOtherReplica`], and [`SessionError::Unavailable`] while the session starts.
    pub async fn end(&self, session: &SessionView) -> Result<SessionEnd, SessionError> {
        match self.active(session) {
            Ok(active) => Ok(active.end().await),
            Err(SessionError::Ended) => {
                let BrowserSessionRecord { created_at_ms, active_at_ms, destroyed_at_ms, .. } =
                    session.record;
                let ended_at_ms = destroyed_at_ms.unwrap_or(active_at_ms);
                let duration = Duration::from_millis(ended_at_ms.saturating_sub(created_at_ms));
                Ok(SessionEnd { duration, credits: None })
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn active(&self, session: &SessionView) -> Result<Arc<ActiveSession>, SessionError> {
        match session.record.status {
            BrowserSessionStatus::Destroyed => Err(SessionError::Ended),
            BrowserSessionStatus::Active if !session.record.is_own => Err(SessionError::OnOtherReplica),
            BrowserSessionStatus::Active => match self.0.registry.find(&session.record.id) {
                Some(Entry::Active(active)) => Ok(active),
                Some(Entry::Starting) => {
                    Err(SessionError::Unavailable { reason: "the session is starting".to_owned() })
                }
                None => Err(SessionError::Ended),
            },
        }
    }

    /// Ends all sessions, for the shutdown of the service. New ones are refused from now on.
    pub async fn shut_down(&self) {
        self.0.permits.close();
        self.0.stopping.send_replace(true);
        loop {
            // Taken out, because the lock is not held while they end.
            let tasks = std::mem::take(&mut *self.0.tasks.lock());
            if tasks.is_empty() {
                return;
            }
            wait_for_all(tasks).await;
        }
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SessionError> {
        self.0.with_store(work).await
    }
}

impl Inner {
    pub(crate) async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let store = self.store.clone();
        let working = spawn_blocking(move || work(&store)).await;
        working.map_err(|_: JoinError| SessionError::Stopping)?.map_err(SessionError::Store)
    }

    /// Waits until the service shuts down.
    pub(crate) async fn stopped(&self) {
        // Cannot fail: `self` owns the sender.
        let _ = self.stopping.subscribe().wait_for(|is_stopping| *is_stopping).await;
    }
}
