//! One running Chromium: spoken to, counted, measured and let go, whoever has started it.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::config::{BrowserConfig, Remote};
use crate::connection::{Cdp, CdpError, CdpEvent, Connection};
use crate::egress::{ProxyListener, RemoteAccess};
use crate::error::{BrowserError, RemoteError};
use crate::local_chromium::LocalChromium;
use crate::probe;
use crate::sandbox::Sandbox;
use crate::targets::TargetRegistry;
use crate::user_agent::UserAgent;
use crate::watchdog::{Open, Watchdog, Watched};

/// A running Chromium.
pub(crate) struct BrowserProcess {
    connection: Connection,
    arrivals: Arc<TargetRegistry>,
    machine: Backend,
    pub(crate) user_agent: UserAgent,
    pages: AtomicUsize,
    opened: AtomicU64,
    is_retired: AtomicBool,
    is_ended: AtomicBool,
    idle_since: Mutex<Instant>,
}

/// Why a process takes no more pages.
pub(crate) enum RetireReason {
    Crashed,
    Retired,
}

/// Where Chromium runs.
enum Backend {
    Local(Box<LocalChromium>),
    Remote(ProxyListener),
}

impl BrowserProcess {
    /// Starts Chromium, with its sandbox where the system allows one.
    ///
    /// It is started once more if it ended meanwhile: on a machine that is short of memory or time one start of very
    /// many does, and the next one does not.
    pub(crate) async fn start(
        path: &Path,
        user_agent: &UserAgent,
        config: &BrowserConfig,
        watchdog: &Watchdog,
    ) -> Result<Self, BrowserError> {
        // Chromium refuses to have a sandbox as root.
        let walls = if rustix::process::geteuid().is_root() { Sandbox::Off } else { Sandbox::On };
        let mut started = Self::start_with(path, user_agent, config, walls, watchdog).await;
        if let Err(BrowserError::Start { log, source }) = &started
            && source.kind() == io::ErrorKind::BrokenPipe
        {
            tracing::warn!(%log, %source, "Chromium ended while it was starting and is started again");
            started = Self::start_with(path, user_agent, config, walls, watchdog).await;
        }
        match started {
            // Only now: what a single start says before its end may have another cause.
            Err(BrowserError::Start { log, source }) if walls == Sandbox::On && log.contains("sandbox") => {
                tracing::debug!(%log, %source, "Chromium does not start with its sandbox");
                Self::start_with(path, user_agent, config, Sandbox::Off, watchdog).await
            }
            started => started,
        }
    }

    async fn start_with(
        path: &Path,
        user_agent: &UserAgent,
        config: &BrowserConfig,
        sandbox: Sandbox,
        watchdog: &Watchdog,
    ) -> Result<Self, BrowserError> {
        let (mut own, connection) = LocalChromium::start(path, user_agent, config, sandbox, watchdog).await?;
        let arrivals = Arc::new(TargetRegistry::default());
        let kind = match timeout(config.start_timeout, handshake(connection.cdp(), &arrivals)).await {
            Ok(Ok(_)) => None,
            Ok(Err(CdpError::Lost)) => Some(io::ErrorKind::BrokenPipe),
            Ok(Err(_)) => Some(io::ErrorKind::InvalidData),
            Err(_) => Some(io::ErrorKind::TimedOut),
        };
        if let Some(kind) = kind {
            return Err(BrowserError::Start { source: kind.into(), log: own.last_words().await });
        }
        Ok(Self::new(connection, Backend::Local(Box::new(own)), user_agent.clone(), arrivals))
    }

    /// Connects to a Chromium that somebody else runs, and sees that its pages have our way out and no other.
    pub(crate) async fn connect(remote: &Remote, config: &BrowserConfig) -> Result<Self, RemoteError> {
        let limit = config.start_timeout;
        let opened = remote.endpoint.open(&remote.client, limit).await?;
        let gate = RemoteAccess::new(remote, opened.local, opened.remote);
        let entrance = ProxyListener::Remote(Arc::new(gate));
        let connection = Connection::over_socket(opened.tunnel).await;
        let arrivals = Arc::new(TargetRegistry::default());
        let unfit = |reason: String| RemoteError::Unfit { endpoint: remote.endpoint.to_string(), reason };
        let greeting = timeout(limit, handshake(connection.cdp(), &arrivals)).await;
        let product = greeting
            .map_err(|_| unfit("it does not answer".to_owned()))?
            .map_err(|error| unfit(error.to_string()))?;
        let major = product.split_once('/').and_then(|(_, version)| version.split('.').next()?.parse().ok());
        let major = major.ok_or_else(|| unfit(format!("it calls itself {product:?}")))?;
        probe::check(connection.cdp(), &arrivals, remote, &entrance, limit).await?;
        tracing::info!(endpoint = %remote.endpoint, product, "connected to the remote browser");
        let user_agent = UserAgent::with_version(major);
        Ok(Self::new(connection, Backend::Remote(entrance), user_agent, arrivals))
    }

    fn new(
        connection: Connection,
        machine: Backend,
        user_agent: UserAgent,
        arrivals: Arc<TargetRegistry>,
    ) -> Self {
        Self {
            connection,
            arrivals,
            machine,
            user_agent,
            pages: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            is_retired: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
            idle_since: Mutex::new(Instant::now()),
        }
    }

    /// Returns where the proxies of its pages are entered.
    pub(crate) fn proxy_listener(&self) -> ProxyListener {
        match &self.machine {
            Backend::Local(_) => ProxyListener::Own,
            Backend::Remote(entrance) => entrance.clone(),
        }
    }

    /// Returns whether its own walls are up; of a remote one that is not known.
    pub(crate) fn sandbox(&self) -> Option<Sandbox> {
        match &self.machine {
            Backend::Local(own) => Some(own.sandbox),
            Backend::Remote(_) => None,
        }
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        self.connection.cdp()
    }

    pub(crate) fn arrivals(&self) -> &TargetRegistry {
        &self.arrivals
    }

    /// Tells whether another page may be opened.
    pub(crate) fn is_usable(&self) -> bool {
        let is_spoiled = self.watched().is_some_and(|watched| watched.is_spoiled());
        !self.is_retired.load(Ordering::Acquire) && !is_spoiled && !self.cdp().is_lost()
    }

    /// Returns why it takes no more pages, to the first who asks.
    pub(crate) fn end(&self) -> Option<RetireReason> {
        if self.is_usable() || self.is_ended.swap(true, Ordering::AcqRel) {
            return None;
        }
        Some(if self.cdp().is_lost() { RetireReason::Crashed } else { RetireReason::Retired })
    }

    /// Takes no more pages.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    /// Ends all processes at once, or hangs up: a page is stuck in a way that cannot be helped.
    pub(crate) fn kill(&self) {
        self.retire();
        match &self.machine {
            Backend::Local(own) => own.kill(),
            // It puts the contexts of this connection away by itself.
            Backend::Remote(_) => self.connection.abort(),
        }
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.load(Ordering::Acquire)
    }

    /// Returns the number of its first process, when it is ours.
    pub(crate) fn root_pid(&self) -> Option<i32> {
        match &self.machine {
            Backend::Local(own) => Some(own.leader()),
            Backend::Remote(_) => None,
        }
    }

    /// Returns since when there is no page; `None` while there is one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let since = *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        (self.pages() == 0).then_some(since)
    }

    /// Returns the look at its memory, when it is ours.
    pub(crate) fn watched(&self) -> Option<&Arc<Watched>> {
        match &self.machine {
            Backend::Local(own) => Some(own.watch().watched()),
            Backend::Remote(_) => None,
        }
    }

    /// Returns the memory of all processes when they were last looked at, in bytes; 0 where it is not known.
    pub(crate) fn last_memory_bytes(&self) -> u64 {
        self.watched().map_or(0, |watched| watched.last_total())
    }

    pub(crate) async fn memory_bytes(&self) -> u64 {
        match &self.machine {
            Backend::Local(own) => own.memory_bytes().await,
            Backend::Remote(_) => 0,
        }
    }

    /// Asks Chromium to end, and sees to it that it does, with everything it started; a remote one is left alone.
    pub(crate) async fn stop(&self) {
        self.retire();
        // What ends now ends as it should.
        self.is_ended.store(true, Ordering::Release);
        match &self.machine {
            Backend::Local(own) => {
                self.cdp().send_no_reply("", "Browser.close", json!({}));
                own.end(self.cdp()).await;
            }
            Backend::Remote(_) => self.connection.abort(),
        }
    }
}

/// Says hello, and that whatever pages start is to be reported; returns what the browser calls itself.
async fn handshake(cdp: &Cdp, arrivals: &Arc<TargetRegistry>) -> Result<String, CdpError> {
    let (host, arrivals) = (cdp.clone(), Arc::clone(arrivals));
    cdp.subscribe("", move |notice| {
        let CdpEvent::Event { method, params } = notice else { return };
        if method == "Target.attachedToTarget" {
            arrivals.on_attached(&host, &params);
        }
    });
    let version = cdp.call("", "Browser.getVersion", json!({})).await?;
    TargetRegistry::watch(cdp).await?;
    Ok(version["product"].as_str().unwrap_or_default().to_owned())
}

/// A page's place in a process.
pub(crate) struct PageSlotGuard {
    pub(crate) process: Arc<BrowserProcess>,
    _open: Option<Open>,
}

impl PageSlotGuard {
    pub(crate) fn new(process: Arc<BrowserProcess>, pages_per_process: u64) -> Self {
        process.pages.fetch_add(1, Ordering::AcqRel);
        let opened = process.opened.fetch_add(1, Ordering::AcqRel) + 1;
        // How long a remote browser lives is up to whoever runs it.
        if opened >= pages_per_process && matches!(process.machine, Backend::Local(_)) {
            process.retire();
        }
        let open = match &process.machine {
            Backend::Local(own) => Some(own.watch().page()),
            Backend::Remote(_) => None,
        };
        Self { process, _open: open }
    }
}

impl Drop for PageSlotGuard {
    fn drop(&mut self) {
        *self.process.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.process.pages.fetch_sub(1, Ordering::AcqRel);
    }
}
