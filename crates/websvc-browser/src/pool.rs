//! The browser: a pool of pages with a concurrency limit, in Chromium processes that it starts, replaces and stops.

mod idle;
mod shared;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use websvc_transport::{BoxFuture, Client, FairPermit, FairQueue, FairSemaphore, Proxy};

use crate::background_tasks::BackgroundTasks;
use crate::ca_certificates;
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::executable;
use crate::installation::Installation;
use crate::interactive::{Driver, InteractiveBrowser, InteractiveRequest};
use crate::metrics::BrowserMetrics;
use crate::page::visit::{PageVisit, visit};
use crate::page::{BrowserContext, WarmPage};
use crate::process::{BrowserProcess, PageSlotGuard};
use crate::profile;
use crate::rendered_page::RenderedPage;
use crate::request::RenderRequest;
use crate::sandbox::{NO_SANDBOX, Sandbox};
use crate::watchdog::{MemoryLimits, Watchdog};

use idle::reap_idle_process;
use shared::{CurrentProcess, Shared, StartSummary};

/// The maximum number of pages for one request, if they crash before the first response.
const MAX_ATTEMPTS: u32 = 3;

/// How many times as much as a page an interactive session may send and receive.
const INTERACTIVE_TRAFFIC: u64 = 8;

/// A headless Chromium that is started when a page needs it. Cheap to clone; clones share the process.
#[derive(Clone)]
pub struct Browser(Arc<Shared>);

/// The status of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserStatus {
    /// The number of pages that can be opened without waiting.
    pub free_permits: usize,
    /// The PID of the root process of a local Chromium.
    pub process: Option<i32>,
    /// The number of its open pages.
    pub pages: usize,
    /// The memory of all its processes, in bytes; 0 if it is not known.
    pub memory_bytes: u64,
    /// A warning for the operator.
    pub warning: Option<&'static str>,
}

/// The health of a browser, as far as it is known without starting one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserHealth {
    /// The reason why it is not available: it is not installed, or the last start failed. Public.
    pub failure: Option<String>,
    /// Warnings for the operator.
    pub warnings: Vec<&'static str>,
}

impl Browser {
    /// Creates a browser whose connections `client` makes. Does not start a process.
    #[must_use]
    pub fn new(config: BrowserConfig, client: Client) -> Self {
        let permits = FairSemaphore::new(FairQueue::new(config.concurrency.max(1)));
        let limits = MemoryLimits { page: config.page_memory_bytes, total: config.max_memory_bytes };
        Self(Arc::new(Shared {
            config,
            client,
            permits,
            current: Mutex::default(),
            background_tasks: BackgroundTasks::default(),
            watchdog: Arc::new(Watchdog::new(limits)),
            interactive_watchdog: Arc::new(Watchdog::new(limits)),
            last_start: parking_lot::Mutex::default(),
            installation: Arc::default(),
            metrics: BrowserMetrics::default(),
            stop_count: AtomicU64::new(0),
        }))
    }

    /// Returns whether an executable was found or a remote browser is configured.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.0.config.remote.is_some() || self.executable().is_ok()
    }

    /// Returns the executable that would be started.
    ///
    /// # Errors
    /// [`BrowserError::Missing`] if there is none.
    pub fn executable(&self) -> Result<PathBuf, BrowserError> {
        executable::find(self.0.config.path.as_deref())
    }

    /// Opens a page in a browser context of its own, runs the request in it, and closes it.
    ///
    /// Pages beyond the concurrency limit wait until the deadline; the next free slot is for the team with the fewest.
    /// Dropping the future closes the page.
    ///
    /// # Errors
    /// [`BrowserError`]. A page that crashes, or whose Chromium ends, fails with [`BrowserError::Crashed`] if a response for
    /// it was received. Before that, the page did not cause the crash, and it is opened again, if necessary in another
    /// Chromium.
    pub fn render<'a>(
        &'a self,
        request: &'a RenderRequest,
    ) -> BoxFuture<'a, Result<RenderedPage, BrowserError>> {
        Box::pin(async move {
            let outcome = self.open_page(request).await;
            if let Err(error) = &outcome {
                self.0.metrics.count_failed(error);
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
        let start = Instant::now();
        let waiting = shared.metrics.start_waiting();
        let permit = timeout_at(request.deadline, shared.permits.acquire(&request.team)).await;
        drop(waiting);
        let Ok(permit) = permit else { return Err(BrowserError::Busy { waited: start.elapsed() }) };
        shared.metrics.count_opened(start.elapsed());
        let stop_count = self.stop_generation();
        let mut attempts = 1;
        loop {
            let (visit, slot) = self.visit(request, stop_count).await?;
            let should_retry = !visit.has_response && matches!(visit.outcome, Err(BrowserError::Crashed));
            if !should_retry || attempts == MAX_ATTEMPTS {
                self.close_in_background(visit.context, slot, Some(permit));
                return visit.outcome;
            }
            tracing::warn!(attempts, "page crashed before first response; retrying");
            self.close_in_background(visit.context, slot, None);
            attempts += 1;
        }
    }

    /// Runs a request in the current process, starting one if there is none. Fails if the browser was stopped since
    /// `stop_count` was read.
    async fn visit(
        &self,
        request: &RenderRequest,
        stop_count: u64,
    ) -> Result<(PageVisit, PageSlotGuard), BrowserError> {
        let acquire = async {
            let (slot, warm_page) = self.acquire_slot(request.proxy.as_ref(), stop_count).await?;
            // If its creation failed, `visit` creates another page and returns the error.
            let warm_page = match warm_page {
                Some(warm_page) => warm_page.await.ok().filter(WarmPage::is_alive),
                None => None,
            };
            Ok((slot, warm_page))
        };
        let (slot, warm_page) =
            timeout_at(request.deadline, acquire).await.unwrap_or(Err(BrowserError::Deadline))?;
        let visit = visit(&slot.process, warm_page, &self.0.client, &self.0.config, request);
        Ok((Box::pin(visit).await, slot))
    }

    /// Starts a Chromium of its own for an interactive session, and opens its first page. It does not count as an open page
    /// of this browser, and stopping this browser does not end it. A remote browser is not used for sessions.
    ///
    /// # Errors
    /// [`BrowserError::Missing`] if no program is installed here, otherwise as for [`Browser::render`].
    pub fn start_interactive<'a>(
        &'a self,
        request: InteractiveRequest,
    ) -> BoxFuture<'a, Result<InteractiveBrowser, BrowserError>> {
        Box::pin(async move {
            let deadline = request.page.deadline;
            let starting = self.spawn_interactive(request)?;
            let mut task = AbortOnDrop(starting);
            match timeout_at(deadline, &mut task.0).await {
                Ok(started) => started.unwrap_or(Err(BrowserError::Crashed)),
                Err(_) => Err(BrowserError::Deadline),
            }
        })
    }

    fn spawn_interactive(
        &self,
        request: InteractiveRequest,
    ) -> Result<JoinHandle<Result<InteractiveBrowser, BrowserError>>, BrowserError> {
        let path = self.executable()?;
        let Shared { config, client, interactive_watchdog, .. } = &*self.0;
        let config = BrowserConfig {
            traffic_bytes_per_page: config.traffic_bytes_per_page.saturating_mul(INTERACTIVE_TRAFFIC),
            ..config.clone()
        };
        let (client, watchdog) = (client.clone(), Arc::clone(interactive_watchdog));
        let installation = Arc::clone(&self.0.installation);
        Ok(tokio::spawn(async move {
            let installation = installation.get_or_try_init(|| Installation::detect(path, &config)).await?;
            let process = BrowserProcess::start(installation, &config, &watchdog).await?;
            InteractiveBrowser::open(process, Driver { client, config, request }).await
        }))
    }

    /// Stops Chromium and waits until it has ended. Open pages fail; a later request starts it again.
    pub async fn stop(&self) {
        let mut current = self.0.current.lock().await;
        self.0.stop_count.fetch_add(1, Ordering::AcqRel);
        if let Some(idle_reaper) = current.idle_reaper.take() {
            idle_reaper.abort();
        }
        if let Some(starting) = current.starting.take() {
            starting.abort();
        }
        current.warm_page = None;
        if let Some(process) = current.process.take() {
            process.stop().await;
        }
        self.0.background_tasks.join_all().await;
    }

    /// Returns the number of calls of [`Browser::stop`].
    fn stop_generation(&self) -> u64 {
        self.0.stop_count.load(Ordering::Acquire)
    }

    /// Removes the private directories of Chromium that killed services of this user have left. Directories in use are not
    /// removed.
    pub async fn remove_abandoned_directories() {
        // A panic is not fatal: the directories stay until the next call.
        let _ = websvc_transport::spawn_blocking(profile::remove_abandoned).await;
    }

    /// Returns the status of the browser.
    pub async fn status(&self) -> BrowserStatus {
        let current = self.0.current.lock().await;
        let process = current.process.as_ref().filter(|process| !process.cdp().is_lost());
        BrowserStatus {
            free_permits: self.0.config.concurrency.max(1).saturating_sub(self.0.permits.in_use()),
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

    /// Returns the metrics of the browser.
    #[must_use]
    pub fn metrics(&self) -> &BrowserMetrics {
        &self.0.metrics
    }

    /// Returns the number of pages that hold a permit now.
    #[must_use]
    pub fn open_pages(&self) -> u64 {
        self.0.permits.in_use() as u64
    }

    /// Returns the memory of all processes of the current Chromium, in bytes; 0 without one and for a remote browser.
    pub async fn memory_bytes(&self) -> u64 {
        let process = self.0.last_start().process.upgrade().filter(|process| !process.cdp().is_lost());
        match process {
            Some(process) => process.memory_bytes().await,
            None => 0,
        }
    }

    /// Returns the health of the browser, without starting a process.
    #[must_use]
    pub fn health(&self) -> BrowserHealth {
        let config = &self.0.config;
        let last_start = self.0.last_start();
        let mut health = BrowserHealth { failure: last_start.failure.clone(), warnings: Vec::new() };
        if config.remote.is_some() {
            return health;
        }
        match self.executable() {
            Ok(path) => {
                if last_start.sandbox.unwrap_or_else(|| Sandbox::expected(&path)) == Sandbox::Off {
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

    /// Starts Chromium or connects to the remote browser, unless it runs already.
    ///
    /// # Errors
    /// [`BrowserError`] if that fails.
    pub async fn prepare(&self) -> Result<(), BrowserError> {
        self.acquire_slot(None, self.stop_generation()).await.map(drop)
    }

    /// Returns a slot in the current process, starting one if none accepts pages, and the warm page of that process. Warm
    /// pages have no upstream proxy, so a request with a proxy gets none.
    async fn acquire_slot(
        &self,
        proxy: Option<&Proxy>,
        stop_count: u64,
    ) -> Result<(PageSlotGuard, Option<oneshot::Receiver<WarmPage>>), BrowserError> {
        let config = &self.0.config;
        let mut current = self.0.current.lock().await;
        // The browser was stopped since the request began, which must not start it again.
        if self.stop_generation() != stop_count {
            return Err(BrowserError::Crashed);
        }
        if let Some(process) = current.process.as_ref().filter(|process| process.is_usable()) {
            let slot = PageSlotGuard::new(Arc::clone(process), config.pages_per_process);
            let warm_page = if proxy.is_none() { current.warm_page.take() } else { None };
            if current.warm_page.is_none() && slot.process.is_usable() {
                current.warm_page = Some(self.prewarm_page(&slot.process));
            }
            return Ok((slot, warm_page));
        }
        current.warm_page = None;
        // Its open pages continue; the last of them stops it.
        if let Some(old) = current.process.take() {
            self.0.record_retirement(&old);
            if old.pages() == 0 {
                old.stop().await;
            }
        }
        if let Some(idle_reaper) =
            current.idle_reaper.replace(tokio::spawn(reap_idle_process(Arc::downgrade(&self.0))))
        {
            idle_reaper.abort();
        }
        let process = Arc::new(self.start_process(&mut current).await?);
        self.0.metrics.started.add(1);
        let sandbox = process.sandbox();
        if sandbox == Some(Sandbox::Off) {
            tracing::warn!("{NO_SANDBOX}");
        }
        *self.0.last_start() = StartSummary { process: Arc::downgrade(&process), sandbox, failure: None };
        current.process = Some(Arc::clone(&process));
        let slot = PageSlotGuard::new(process, config.pages_per_process);
        if slot.process.is_usable() {
            current.warm_page = Some(self.prewarm_page(&slot.process));
        }
        Ok((slot, None))
    }

    /// Creates a warm page in the background.
    fn prewarm_page(&self, process: &Arc<BrowserProcess>) -> oneshot::Receiver<WarmPage> {
        let (sender, receiver) = oneshot::channel();
        let Shared { config, client, .. } = &*self.0;
        let (process, client, config) = (Arc::clone(process), client.clone(), config.clone());
        self.0.background_tasks.spawn(async move {
            let creation = WarmPage::create(&process, &client, &config, None);
            if let Ok(Ok(warm_page)) = timeout(config.start_timeout, creation).await {
                // If the receiver is gone, the page is dropped and thereby closed.
                let _ = sender.send(warm_page);
            }
        });
        receiver
    }

    /// Closes a page in the background, and then releases its slot and its permit. Without `permit`, the request is retried
    /// and keeps it.
    fn close_in_background(
        &self,
        context: Option<BrowserContext>,
        slot: PageSlotGuard,
        permit: Option<FairPermit>,
    ) {
        let browser = self.clone();
        self.0.background_tasks.spawn(async move {
            if let Some(context) = context {
                context.close().await;
            }
            browser.release_slot(slot).await;
            drop(permit);
        });
    }

    /// Starts a process. If the request times out meanwhile, the start continues for the next request.
    async fn start_process(&self, current: &mut CurrentProcess) -> Result<BrowserProcess, BrowserError> {
        current.backoff.check(Instant::now())?;
        if current.starting.is_none() {
            current.starting = Some(self.spawn_start()?);
        }
        let starting = current.starting.as_mut().expect("it was set above");
        let outcome = starting.await;
        current.starting = None;
        let outcome = outcome.unwrap_or_else(|panic| {
            Err(BrowserError::Start { source: io::Error::other(panic), log: String::new() })
        });
        match outcome {
            Ok(process) => {
                current.backoff.succeeded();
                Ok(process)
            }
            Err(error) => {
                if let BrowserError::Remote { source } = &error {
                    let reason: &dyn std::error::Error = source.as_ref();
                    tracing::warn!(reason, "the remote browser cannot be used");
                    current.backoff.failed(Arc::clone(source), Instant::now());
                }
                self.0.last_start().failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    fn spawn_start(&self) -> Result<JoinHandle<Result<BrowserProcess, BrowserError>>, BrowserError> {
        let config = self.0.config.clone();
        if config.remote.is_some() {
            return Ok(tokio::spawn(async move {
                let remote = config.remote.as_ref().expect("it was checked above");
                Ok(BrowserProcess::connect(remote, &config).await?)
            }));
        }
        let path = self.executable()?;
        let (installation, watchdog) = (Arc::clone(&self.0.installation), Arc::clone(&self.0.watchdog));
        Ok(tokio::spawn(async move {
            let installation = installation.get_or_try_init(|| Installation::detect(path, &config)).await?;
            BrowserProcess::start(installation, &config, &watchdog).await
        }))
    }

    /// Releases the slot of a page. The last page of a retired process stops it.
    async fn release_slot(&self, slot: PageSlotGuard) {
        let process = Arc::clone(&slot.process);
        drop(slot);
        if process.is_usable() && process.last_memory_bytes() > self.0.config.memory_bytes {
            tracing::info!("Chromium exceeded browser.memory_bytes; restarting");
            process.retire();
        }
        if !process.is_usable() {
            self.0.record_retirement(&process);
            if process.pages() == 0 {
                process.stop().await;
            }
        }
    }
}

/// Aborts a task when it is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("config", &self.0.config).finish_non_exhaustive()
    }
}
