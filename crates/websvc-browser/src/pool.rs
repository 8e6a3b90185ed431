//! The browser as a whole: who may open a page, in which process, and when a process ends.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use websvc_transport::Client;

use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::executable;
use crate::launch::Sandbox;
use crate::page;
use crate::process::{Lease, Process, UserAgent};
use crate::rendered::Rendered;
use crate::request::PageRequest;

/// A headless Chromium that is started when a page needs it. Clones share it.
#[derive(Clone)]
pub struct Browser(Arc<Shared>);

struct Shared {
    config: BrowserConfig,
    client: Client,
    /// Fair: who comes first is served first.
    places: Semaphore,
    current: Mutex<Current>,
}

/// The process that takes the next page.
#[derive(Default)]
struct Current {
    process: Option<Arc<Process>>,
    /// The one that will be it.
    starting: Option<JoinHandle<Result<Process, BrowserError>>>,
    user_agent: Option<UserAgent>,
    /// Ends a process that has no pages for too long.
    janitor: Option<JoinHandle<()>>,
}

/// How a browser is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserStatus {
    /// Pages that could be opened now without waiting.
    pub free_places: usize,
    /// The number of Chromium's first process, if it runs.
    pub process: Option<i32>,
    /// Pages open in it.
    pub pages: usize,
    /// The memory of all its processes, in bytes; 0 where it is not known.
    pub memory_bytes: u64,
    /// Something that whoever runs the service should know.
    pub warning: Option<&'static str>,
}

/// Said when Chromium's own walls are down.
const NO_SANDBOX: &str = "Chromium runs without its sandbox, because this process is root or the system does not let \
     users make namespaces: run websvc as another user";

impl Browser {
    /// Makes a browser whose connections `client` makes. Nothing is started yet.
    #[must_use]
    pub fn new(config: BrowserConfig, client: Client) -> Self {
        let places = Semaphore::new(config.concurrency.max(1));
        Self(Arc::new(Shared { config, client, places, current: Mutex::default() }))
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
    /// [`BrowserError`]; a page of a Chromium that ends meanwhile fails with [`BrowserError::Crashed`], and the next
    /// request starts another Chromium.
    pub async fn open(&self, request: &PageRequest) -> Result<Rendered, BrowserError> {
        let scheme = request.url.scheme();
        if !matches!(scheme, "http" | "https") {
            return Err(BrowserError::ForbiddenScheme { scheme: scheme.to_owned() });
        }
        let shared = &self.0;
        let began = Instant::now();
        let place = timeout_at(request.deadline, shared.places.acquire()).await;
        let Ok(place) = place else { return Err(BrowserError::Busy { waited: began.elapsed() }) };
        let _place = place.expect("the semaphore is never closed");
        let lease = timeout_at(request.deadline, self.lease()).await;
        let lease = lease.map_err(|_| BrowserError::Deadline)??;
        let outcome = Box::pin(page::render(&lease.0, &shared.client, &shared.config, request)).await;
        self.give_back(lease).await;
        outcome
    }

    /// Ends Chromium and waits until it has ended. Pages that are open fail; a later request starts it again.
    pub async fn stop(&self) {
        let mut current = self.0.current.lock().await;
        if let Some(janitor) = current.janitor.take() {
            janitor.abort();
        }
        if let Some(starting) = current.starting.take() {
            starting.abort();
        }
        if let Some(process) = current.process.take() {
            process.stop().await;
        }
    }

    /// Tells how the browser is.
    pub async fn status(&self) -> BrowserStatus {
        let current = self.0.current.lock().await;
        let process = current.process.as_ref().filter(|process| !process.cdp().is_lost());
        BrowserStatus {
            free_places: self.0.places.available_permits(),
            process: process.map(|process| process.leader()),
            pages: process.map_or(0, |process| process.pages()),
            memory_bytes: match process {
                Some(process) => process.memory_bytes().await,
                None => 0,
            },
            warning: process.and_then(|process| (process.sandbox == Sandbox::Off).then_some(NO_SANDBOX)),
        }
    }

    /// Returns a place in the current process, starting one if there is none that takes pages.
    async fn lease(&self) -> Result<Lease, BrowserError> {
        let config = &self.0.config;
        let mut current = self.0.current.lock().await;
        if let Some(process) = current.process.as_ref().filter(|process| process.is_usable()) {
            return Ok(Lease::new(Arc::clone(process), config.pages_per_process));
        }
        // Its pages go on; the last of them ends it.
        if let Some(old) = current.process.take()
            && old.pages() == 0
        {
            old.stop().await;
        }
        if let Some(janitor) = current.janitor.replace(tokio::spawn(tidy(Arc::downgrade(&self.0)))) {
            janitor.abort();
        }
        let process = Arc::new(self.started(&mut current).await?);
        if process.sandbox == Sandbox::Off {
            tracing::warn!("{NO_SANDBOX}");
        }
        current.process = Some(Arc::clone(&process));
        Ok(Lease::new(process, config.pages_per_process))
    }

    /// Starts a process. One that a request has no time left for goes on starting, and the next request finds it.
    async fn started(&self, current: &mut Current) -> Result<Process, BrowserError> {
        let path = self.executable()?;
        let (config, known) = (self.0.config.clone(), current.user_agent.clone());
        let starting = current.starting.get_or_insert_with(|| {
            tokio::spawn(async move {
                let failed = |source| BrowserError::Start { source, log: String::new() };
                let user_agent = match known {
                    Some(known) => known,
                    None => UserAgent::of(&path).await.map_err(failed)?,
                };
                Process::start(&path, &user_agent, &config).await
            })
        });
        let outcome = starting.await;
        current.starting = None;
        let process = outcome.unwrap_or_else(|panic| {
            Err(BrowserError::Start { source: io::Error::other(panic), log: String::new() })
        })?;
        current.user_agent = Some(process.user_agent.clone());
        Ok(process)
    }

    /// Gives a place back; the last page of a process that takes no more ends it.
    async fn give_back(&self, lease: Lease) {
        let process = Arc::clone(&lease.0);
        drop(lease);
        if process.is_usable() && process.memory_bytes().await > self.0.config.memory_bytes {
            tracing::info!("Chromium uses more memory than it may and is replaced");
            process.retire();
        }
        if !process.is_usable() && process.pages() == 0 {
            process.stop().await;
        }
    }
}

/// Ends the current process when it has had no page for long enough.
async fn tidy(shared: Weak<Shared>) {
    loop {
        let Some(strong) = shared.upgrade() else { return };
        let keep = strong.config.idle_shutdown;
        let due = {
            let mut current = strong.current.lock().await;
            match (&current.process, &current.starting) {
                (Some(process), _) => match process.idle_since() {
                    Some(since) if since.elapsed() >= keep => {
                        if let Some(process) = current.process.take() {
                            process.stop().await;
                        }
                        return;
                    }
                    Some(since) => since + keep,
                    None => Instant::now() + keep,
                },
                // The request that wanted it had no time left, and none came after it.
                (None, Some(starting)) if starting.is_finished() => {
                    current.starting = None;
                    return;
                }
                (None, Some(_)) => Instant::now() + keep,
                (None, None) => return,
            }
        };
        // The browser may be dropped meanwhile.
        drop(strong);
        tokio::time::sleep_until(due).await;
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Current { process: _, starting, user_agent: _, janitor } = self.current.get_mut();
        if let Some(starting) = starting {
            starting.abort();
        }
        if let Some(janitor) = janitor {
            janitor.abort();
        }
    }
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("config", &self.0.config).finish_non_exhaustive()
    }
}
