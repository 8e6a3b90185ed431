//! The browser as a whole: who may open a page, in which process, and when a process ends.

mod idle;
mod shared;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use websvc_transport::{BoxFuture, Client, Proxy};

use crate::ca_certificates;
use crate::chores::Chores;
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::executable;
use crate::metrics::{BrowserMetrics, Counters};
use crate::page::visit::{PageVisit, visit};
use crate::page::{BrowserContext, WarmPage};
use crate::process::{BrowserProcess, PageSlotGuard};
use crate::profile;
use crate::rendered_page::RenderedPage;
use crate::request::RenderRequest;
use crate::sandbox::{NO_SANDBOX, Sandbox};
use crate::user_agent::UserAgent;
use crate::watchdog::{Bounds, Watchdog};

use idle::reap_idle_process;
use shared::{CurrentProcess, Shared, StartSummary};

/// Pages that a request gets as long as they crash before anything has come.
const ATTEMPTS: u32 = 3;

/// A headless Chromium that is started when a page needs it. Clones share it.
#[derive(Clone)]
pub struct Browser(Arc<Shared>);

/// How a browser is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserStatus {
    /// Pages that could be opened now without waiting.
    pub free_places: usize,
    /// The number of Chromium's first process, if it runs here.
    pub process: Option<i32>,
    /// Pages open in it.
    pub pages: usize,
    /// The memory of all its processes, in bytes; 0 where it is not known.
    pub memory_bytes: u64,
    /// Something that whoever runs the service should know.
    pub warning: Option<&'static str>,
}

/// Whether a browser can be had, as far as that is known without starting one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserHealth {
    /// Why there is none: it is not installed, or the last start failed. In public words.
    pub failure: Option<String>,
    /// What whoever runs the service should know.
    pub warnings: Vec<&'static str>,
}

impl Browser {
    /// Makes a browser whose connections `client` makes. Nothing is started yet.
    #[must_use]
    pub fn new(config: BrowserConfig, client: Client) -> Self {
        let places = Arc::new(Semaphore::new(config.concurrency.max(1)));
        let bounds = Bounds { page: config.page_memory_bytes, total: config.max_memory_bytes };
        Self(Arc::new(Shared {
            config,
            client,
            places,
            current: Mutex::default(),
            chores: Chores::default(),
            watchdog: Arc::new(Watchdog::new(bounds)),
            known: std::sync::Mutex::default(),
            counters: Counters::default(),
            stops: AtomicU64::new(0),
        }))
    }

    /// Tells whether there is something that can be started or connected to: an executable, or a remote browser.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.0.config.remote.is_some() || self.executable().is_ok()
    }

    /// Returns the executable that would be started.
    ///
    /// # Errors
    /// [`BrowserError::Missing`] when there is none.
    pub fn executable(&self) -> Result<PathBuf, BrowserError> {
        executable::find(self.0.config.path.as_deref())
    }

    /// Opens a page in a context of its own, does what the request says, and puts it away.
    ///
    /// Pages beyond the bound wait in order of arrival, within the deadline. Dropping the future closes the page.
    ///
    /// # Errors
    /// [`BrowserError`]; a page that crashes, or whose Chromium ends, fails with [`BrowserError::Crashed`] once something
    /// of it has come. Before, that is not its fault, and it is opened again, in another Chromium if need be.
    pub fn render<'a>(
        &'a self,
        request: &'a RenderRequest,
    ) -> BoxFuture<'a, Result<RenderedPage, BrowserError>> {
        Box::pin(async move {
            let outcome = self.open_page(request).await;
            if let Err(error) = &outcome {
                self.0.counters.failed(error);
            }
            outcome
        })
    }

    async fn open_page(&self, request: &RenderRequest) -> Result<RenderedPage, BrowserError> {
        let scheme = request.url.scheme();
        if !matches!(scheme, "http" | "https") {
            return Err(BrowserError::ForbiddenScheme { scheme: scheme.to_owned() });
        }
        let shared = &self.0;
        let began = Instant::now();
        let waiting = shared.counters.waiting();
        let place = timeout_at(request.deadline, Arc::clone(&shared.places).acquire_owned()).await;
        drop(waiting);
        let Ok(place) = place else { return Err(BrowserError::Busy { waited: began.elapsed() }) };
        let place = place.expect("the semaphore is never closed");
        shared.counters.opened(began.elapsed());
        let stops = self.stop_generation();
        let mut attempts = 1;
        loop {
            let (visit, lease) = self.visit(request, stops).await?;
            let is_missed = !visit.has_begun && matches!(visit.outcome, Err(BrowserError::Crashed));
            if !is_missed || attempts == ATTEMPTS {
                self.close_in_background(visit.context, lease, Some(place));
                return visit.outcome;
            }
            tracing::warn!(attempts, "a page crashed before anything of it had come, and is opened again");
            self.close_in_background(visit.context, lease, None);
            attempts += 1;
        }
    }

    /// Opens a page in the current process, starting one if there is none, unless it was stopped since `stops` was read.
    async fn visit(
        &self,
        request: &RenderRequest,
        stops: u64,
    ) -> Result<(PageVisit, PageSlotGuard), BrowserError> {
        let opening = async {
            let (lease, ready) = self.lease(request.proxy.as_ref(), stops).await?;
            // One that could not be made is made again, to know why.
            let ready = match ready {
                Some(ready) => ready.await.ok().filter(WarmPage::is_sound),
                None => None,
            };
            Ok((lease, ready))
        };
        let (lease, ready) =
            timeout_at(request.deadline, opening).await.unwrap_or(Err(BrowserError::Deadline))?;
        let visiting = visit(&lease.process, ready, &self.0.client, &self.0.config, request);
        Ok((Box::pin(visiting).await, lease))
    }

    /// Ends Chromium and waits until it has ended. Pages that are open fail; a later request starts it again.
    pub async fn stop(&self) {
        let mut current = self.0.current.lock().await;
        self.0.stops.fetch_add(1, Ordering::AcqRel);
        if let Some(janitor) = current.janitor.take() {
            janitor.abort();
        }
        if let Some(starting) = current.starting.take() {
            starting.abort();
        }
        current.ready = None;
        if let Some(process) = current.process.take() {
            process.stop().await;
        }
        self.0.chores.done().await;
    }

    /// Returns how many times it was stopped.
    fn stop_generation(&self) -> u64 {
        self.0.stops.load(Ordering::Acquire)
    }

    /// Removes the private directories of Chromium that services of this user have left when they were killed. Those
    /// in use stay.
    pub async fn remove_abandoned_directories() {
        // Nothing of it is needed to go on.
        let _ = tokio::task::spawn_blocking(profile::remove_abandoned).await;
    }

    /// Tells how the browser is.
    pub async fn status(&self) -> BrowserStatus {
        let current = self.0.current.lock().await;
        let process = current.process.as_ref().filter(|process| !process.cdp().is_lost());
        BrowserStatus {
            free_places: self.0.places.available_permits(),
            process: process.and_then(|process| process.root_pid()),
            pages: process.map_or(0, |process| process.pages()),
            memory_bytes: match process {
                Some(process) => process.memory_bytes().await,
                None => 0,
            },
            warning: process
                .and_then(|process| (process.sandbox() == Some(Sandbox::Off)).then_some(NO_SANDBOX)),
        }
    }

    /// Returns what was counted so far.
    pub async fn figures(&self) -> BrowserMetrics {
        let process = self.0.known().process.upgrade().filter(|process| !process.cdp().is_lost());
        let memory_bytes = match process {
            Some(process) => process.memory_bytes().await,
            None => 0,
        };
        let open = self.0.config.concurrency.max(1).saturating_sub(self.0.places.available_permits());
        self.0.counters.snapshot(open as u64, memory_bytes)
    }

    /// Tells whether a browser can be had. Nothing is started for the answer.
    #[must_use]
    pub fn health(&self) -> BrowserHealth {
        let config = &self.0.config;
        let known = self.0.known();
        let mut health = BrowserHealth { failure: known.failure.clone(), warnings: Vec::new() };
        if config.remote.is_some() {
            return health;
        }
        match self.executable() {
            Ok(path) => {
                if known.sandbox.unwrap_or_else(|| Sandbox::expected(&path)) == Sandbox::Off {
                    health.warnings.push(NO_SANDBOX);
                }
                if config.ca_file.is_some() && !ca_certificates::can_be_installed() {
                    health.warnings.push(ca_certificates::NO_CERTUTIL);
                }
            }
            Err(error) => health.failure = Some(error.to_string()),
        }
        health
    }

    /// Starts Chromium, or connects to the remote one, unless that is done.
    ///
    /// # Errors
    /// [`BrowserError`] when there is none to be had.
    pub async fn prepare(&self) -> Result<(), BrowserError> {
        self.lease(None, self.stop_generation()).await.map(drop)
    }

    /// Returns a place in the current process, starting one if there is none that takes pages, and the page that is
    /// made ready there: its way out is the direct one.
    async fn lease(
        &self,
        proxy: Option<&Proxy>,
        stops: u64,
    ) -> Result<(PageSlotGuard, Option<oneshot::Receiver<WarmPage>>), BrowserError> {
        let config = &self.0.config;
        let mut current = self.0.current.lock().await;
        // It was stopped since the page was asked for, which would start it again.
        if self.stop_generation() != stops {
            return Err(BrowserError::Crashed);
        }
        if let Some(process) = current.process.as_ref().filter(|process| process.is_usable()) {
            let lease = PageSlotGuard::new(Arc::clone(process), config.pages_per_process);
            let ready = if proxy.is_none() { current.ready.take() } else { None };
            if current.ready.is_none() && lease.process.is_usable() {
                current.ready = Some(self.prewarm_page(&lease.process));
            }
            return Ok((lease, ready));
        }
        current.ready = None;
        // Its pages go on; the last of them ends it.
        if let Some(old) = current.process.take() {
            self.0.count_end(&old);
            if old.pages() == 0 {
                old.stop().await;
            }
        }
        if let Some(janitor) =
            current.janitor.replace(tokio::spawn(reap_idle_process(Arc::downgrade(&self.0))))
        {
            janitor.abort();
        }
        let process = Arc::new(self.started(&mut current).await?);
        self.0.counters.started();
        let sandbox = process.sandbox();
        if sandbox == Some(Sandbox::Off) {
            tracing::warn!("{NO_SANDBOX}");
        }
        *self.0.known() = StartSummary { process: Arc::downgrade(&process), sandbox, failure: None };
        current.process = Some(Arc::clone(&process));
        let lease = PageSlotGuard::new(process, config.pages_per_process);
        if lease.process.is_usable() {
            current.ready = Some(self.prewarm_page(&lease.process));
        }
        Ok((lease, None))
    }

    /// Makes a page that is ready when somebody comes.
    fn prewarm_page(&self, process: &Arc<BrowserProcess>) -> oneshot::Receiver<WarmPage> {
        let (sender, receiver) = oneshot::channel();
        let Shared { config, client, .. } = &*self.0;
        let (process, client, config) = (Arc::clone(process), client.clone(), config.clone());
        self.0.chores.spawn(async move {
            let making = WarmPage::make(&process, &client, &config, None);
            if let Ok(Ok(prepared)) = timeout(config.start_timeout, making).await {
                // Nobody may want it any more; then it is put away here.
                let _ = sender.send(prepared);
            }
        });
        receiver
    }

    /// Puts a page away and gives its place back, if it has no other page, while whoever opened it goes on.
    fn close_in_background(
        &self,
        context: Option<BrowserContext>,
        lease: PageSlotGuard,
        place: Option<OwnedSemaphorePermit>,
    ) {
        let browser = self.clone();
        self.0.chores.spawn(async move {
            if let Some(context) = context {
                context.close().await;
            }
            browser.give_back(lease).await;
            drop(place);
        });
    }

    /// Starts a process. One that a request has no time left for goes on starting, and the next request finds it.
    async fn started(&self, current: &mut CurrentProcess) -> Result<BrowserProcess, BrowserError> {
        current.backoff.check(Instant::now())?;
        if current.starting.is_none() {
            current.starting = Some(self.start(current.user_agent.clone())?);
        }
        let starting = current.starting.as_mut().expect("it was set");
        let outcome = starting.await;
        current.starting = None;
        let outcome = outcome.unwrap_or_else(|panic| {
            Err(BrowserError::Start { source: io::Error::other(panic), log: String::new() })
        });
        match outcome {
            Ok(process) => {
                current.backoff.succeeded();
                current.user_agent = Some(process.user_agent.clone());
                Ok(process)
            }
            Err(error) => {
                if let BrowserError::Remote { source } = &error {
                    let reason: &dyn std::error::Error = source.as_ref();
                    tracing::warn!(reason, "the remote browser cannot be used");
                    current.backoff.failed(Arc::clone(source), Instant::now());
                }
                self.0.known().failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    fn start(
        &self,
        known: Option<UserAgent>,
    ) -> Result<JoinHandle<Result<BrowserProcess, BrowserError>>, BrowserError> {
        let config = self.0.config.clone();
        if config.remote.is_some() {
            return Ok(tokio::spawn(async move {
                let remote = config.remote.as_ref().expect("it was looked at");
                Ok(BrowserProcess::connect(remote, &config).await?)
            }));
        }
        let path = self.executable()?;
        let watchdog = Arc::clone(&self.0.watchdog);
        Ok(tokio::spawn(async move {
            let failed = |source| BrowserError::Start { source, log: String::new() };
            let user_agent = match known {
                Some(known) => known,
                None => UserAgent::of(&path, config.start_timeout).await.map_err(failed)?,
            };
            BrowserProcess::start(&path, &user_agent, &config, &watchdog).await
        }))
    }

    /// Gives a place back; the last page of a process that takes no more ends it.
    async fn give_back(&self, lease: PageSlotGuard) {
        let process = Arc::clone(&lease.process);
        drop(lease);
        if process.is_usable() && process.last_memory_bytes() > self.0.config.memory_bytes {
            tracing::info!("Chromium uses more memory than it may and is replaced");
            process.retire();
        }
        if !process.is_usable() {
            self.0.count_end(&process);
            if process.pages() == 0 {
                process.stop().await;
            }
        }
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("config", &self.0.config).finish_non_exhaustive()
    }
}
