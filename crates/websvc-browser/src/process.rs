//! One running Chromium, local or remote: its connection, its pages, its memory and its end.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::config::{BrowserConfig, Remote};
use crate::connection::{Cdp, CdpError, CdpEvent, Connection};
use crate::egress::{ProxyListener, RemoteAccess};
use crate::error::{BrowserError, RemoteError};
use crate::installation::Installation;
use crate::local_chromium::LocalChromium;
use crate::probe;
use crate::sandbox::Sandbox;
use crate::targets::TargetRegistry;
use crate::user_agent::UserAgent;
use crate::watchdog::{MonitoredBrowser, OpenPageGuard, Watchdog};

/// A running Chromium.
pub(crate) struct BrowserProcess {
    connection: Connection,
    targets: Arc<TargetRegistry>,
    backend: Backend,
    pub(crate) user_agent: UserAgent,
    pages: AtomicUsize,
    opened: AtomicU64,
    is_retired: AtomicBool,
    is_end_reported: AtomicBool,
    idle_since: Mutex<Instant>,
}

/// The reason why a process accepts no more pages.
pub(crate) enum RetireReason {
    Crashed,
    Retired,
}

/// The place where Chromium runs.
enum Backend {
    Local(Box<LocalChromium>),
    Remote(ProxyListener),
}

impl BrowserProcess {
    /// Starts Chromium, with its sandbox if the system supports it.
    ///
    /// If Chromium ends during the start, it is started once more: on a machine that is short of memory or processor time,
    /// this happens rarely, and not twice.
    pub(crate) async fn start(
        installation: &Installation,
        config: &BrowserConfig,
        watchdog: &Watchdog,
    ) -> Result<Self, BrowserError> {
        // Chromium does not start with a sandbox as root.
        let sandbox = if rustix::process::geteuid().is_root() { Sandbox::Off } else { Sandbox::On };
        let mut started = Self::start_with(installation, config, sandbox, watchdog).await;
        if let Err(BrowserError::Start { log, source }) = &started
            && source.kind() == io::ErrorKind::BrokenPipe
        {
            tracing::warn!(%log, %source, "Chromium ended during its start; starting it again");
            started = Self::start_with(installation, config, sandbox, watchdog).await;
        }
        // After the second attempt only: the output of a single failed start may be misleading.
        let lacks_sandbox = |started: &Result<Self, BrowserError>| {
            let Err(BrowserError::Start { log, .. }) = started else { return false };
            sandbox == Sandbox::On && log.contains("sandbox")
        };
        if lacks_sandbox(&started)
            && let Some(installation) = installation.without_bubblewrap(config)
        {
            tracing::debug!(
                "Chromium did not start with its sandbox in bubblewrap; starting it without bubblewrap"
            );
            started = Self::start_with(&installation, config, sandbox, watchdog).await;
        }
        if lacks_sandbox(&started) {
            tracing::debug!("Chromium did not start with its sandbox; starting it without");
            started = Self::start_with(installation, config, Sandbox::Off, watchdog).await;
        }
        started
    }

    async fn start_with(
        installation: &Installation,
        config: &BrowserConfig,
        sandbox: Sandbox,
        watchdog: &Watchdog,
    ) -> Result<Self, BrowserError> {
        let (mut chromium, connection) =
            LocalChromium::start(installation, config, sandbox, watchdog).await?;
        let targets = Arc::new(TargetRegistry::default());
        let failure = match timeout(config.start_timeout, handshake(connection.cdp(), &targets)).await {
            Ok(Ok(_)) => None,
            Ok(Err(CdpError::Lost)) => Some(io::ErrorKind::BrokenPipe),
            Ok(Err(_)) => Some(io::ErrorKind::InvalidData),
            Err(_) => Some(io::ErrorKind::TimedOut),
        };
        if let Some(kind) = failure {
            return Err(BrowserError::Start { source: kind.into(), log: chromium.stderr_tail().await });
        }
        Ok(Self::new(
            connection,
            Backend::Local(Box::new(chromium)),
            installation.user_agent.clone(),
            targets,
        ))
    }

    /// Connects to a remote Chromium, and checks that its pages reach the network only through their proxies.
    pub(crate) async fn connect(remote: &Remote, config: &BrowserConfig) -> Result<Self, RemoteError> {
        let limit = config.start_timeout;
        let socket = remote.endpoint.open(&remote.client, limit).await?;
        let access = RemoteAccess::new(remote, socket.local, socket.remote);
        let proxy_listener = ProxyListener::Remote(Arc::new(access));
        let connection = Connection::over_socket(socket.tunnel).await;
        let targets = Arc::new(TargetRegistry::default());
        let incompatible =
            |reason: String| RemoteError::Incompatible { endpoint: remote.endpoint.to_string(), reason };
        let product = timeout(limit, handshake(connection.cdp(), &targets)).await;
        let product = product
            .map_err(|_| incompatible("it does not respond".to_owned()))?
            .map_err(|error| incompatible(error.to_string()))?;
        let major = product.split_once('/').and_then(|(_, version)| version.split('.').next()?.parse().ok());
        let major = major.ok_or_else(|| incompatible(format!("its product is {product:?}")))?;
        probe::check(connection.cdp(), &targets, remote, &proxy_listener, limit).await?;
        tracing::info!(endpoint = %remote.endpoint, product, "connected to the remote browser");
        let user_agent = UserAgent::with_version(major);
        Ok(Self::new(connection, Backend::Remote(proxy_listener), user_agent, targets))
    }

    fn new(
        connection: Connection,
        backend: Backend,
        user_agent: UserAgent,
        targets: Arc<TargetRegistry>,
    ) -> Self {
        Self {
            connection,
            targets,
            backend,
            user_agent,
            pages: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            is_retired: AtomicBool::new(false),
            is_end_reported: AtomicBool::new(false),
            idle_since: Mutex::new(Instant::now()),
        }
    }

    /// Returns the listening side of the proxies of its pages.
    pub(crate) fn proxy_listener(&self) -> ProxyListener {
        match &self.backend {
            Backend::Local(_) => ProxyListener::Local,
            Backend::Remote(proxy_listener) => proxy_listener.clone(),
        }
    }

    /// Returns the state of its sandbox; `None` for a remote browser.
    pub(crate) fn sandbox(&self) -> Option<Sandbox> {
        match &self.backend {
            Backend::Local(chromium) => Some(chromium.sandbox),
            Backend::Remote(_) => None,
        }
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        self.connection.cdp()
    }

    pub(crate) fn targets(&self) -> &TargetRegistry {
        &self.targets
    }

    /// Makes it report the URLs of its pages to the callbacks of their contexts.
    pub(crate) async fn watch_urls(&self) -> Result<(), CdpError> {
        TargetRegistry::watch_urls(self.cdp()).await
    }

    /// Returns its targets, for callbacks that may outlive a page.
    pub(crate) fn shared_targets(&self) -> Arc<TargetRegistry> {
        Arc::clone(&self.targets)
    }

    /// Returns whether it accepts another page.
    pub(crate) fn is_usable(&self) -> bool {
        let needs_replacement = self.monitor().is_some_and(|monitor| monitor.needs_replacement());
        !self.is_retired.load(Ordering::Acquire) && !needs_replacement && !self.cdp().is_lost()
    }

    /// Returns the reason why it accepts no more pages, once; `None` if it does or the reason was already returned.
    pub(crate) fn take_retire_reason(&self) -> Option<RetireReason> {
        if self.is_usable() || self.is_end_reported.swap(true, Ordering::AcqRel) {
            return None;
        }
        Some(if self.cdp().is_lost() { RetireReason::Crashed } else { RetireReason::Retired })
    }

    /// Makes it accept no more pages.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    /// Kills all processes of a local Chromium, or closes the connection to a remote one, because a page does not respond.
    pub(crate) fn kill(&self) {
        self.retire();
        match &self.backend {
            Backend::Local(chromium) => chromium.kill(),
            // It disposes of the contexts of a closed connection.
            Backend::Remote(_) => self.connection.abort(),
        }
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.load(Ordering::Acquire)
    }

    /// Returns the PID of its root process; `None` for a remote browser.
    pub(crate) fn root_pid(&self) -> Option<i32> {
        match &self.backend {
            Backend::Local(chromium) => Some(chromium.root_pid()),
            Backend::Remote(_) => None,
        }
    }

    /// Returns the private directory of a local Chromium, which is removed when it has ended.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Local(chromium) => Some(chromium.directory()),
            Backend::Remote(_) => None,
        }
    }

    /// Returns the time since when it has no page; `None` while it has one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let since = *self.idle_since.lock();
        (self.pages() == 0).then_some(since)
    }

    /// Returns its memory monitor; `None` for a remote browser.
    pub(crate) fn monitor(&self) -> Option<&Arc<MonitoredBrowser>> {
        match &self.backend {
            Backend::Local(chromium) => Some(chromium.monitor().browser()),
            Backend::Remote(_) => None,
        }
    }

    /// Returns the memory of all processes at the last sample, in bytes; 0 if it is not known.
    pub(crate) fn last_memory_bytes(&self) -> u64 {
        self.monitor().map_or(0, |monitor| monitor.last_total())
    }

    pub(crate) async fn memory_bytes(&self) -> u64 {
        match &self.backend {
            Backend::Local(chromium) => chromium.memory_bytes().await,
            Backend::Remote(_) => 0,
        }
    }

    /// Stops a local Chromium and all of its processes, or closes the connection to a remote one.
    pub(crate) async fn stop(&self) {
        self.retire();
        // So that this end is not counted as a crash.
        self.is_end_reported.store(true, Ordering::Release);
        match &self.backend {
            Backend::Local(chromium) => {
                self.cdp().send_no_reply("", "Browser.close", json!({}));
                chromium.shut_down(self.cdp()).await;
            }
            Backend::Remote(_) => self.connection.abort(),
        }
    }
}

/// Starts the handling of targets and returns the product name and version of the browser.
async fn handshake(cdp: &Cdp, targets: &Arc<TargetRegistry>) -> Result<String, CdpError> {
    let (browser, targets) = (cdp.clone(), Arc::clone(targets));
    cdp.subscribe("", move |event| {
        let CdpEvent::Event { method, params } = event else { return };
        match method {
            "Target.attachedToTarget" => targets.on_attached(&browser, &params.parse()),
            "Target.detachedFromTarget" => targets.on_detached(&params.parse()),
            "Target.targetCreated" | "Target.targetInfoChanged" => targets.on_info(&params.parse()),
            _ => {}
        }
    });
    let version = cdp.call("", "Browser.getVersion", json!({})).await?;
    TargetRegistry::enable(cdp).await?;
    Ok(version["product"].as_str().unwrap_or_default().to_owned())
}

/// The slot of a page in a process.
pub(crate) struct PageSlotGuard {
    pub(crate) process: Arc<BrowserProcess>,
    _open: Option<OpenPageGuard>,
}

impl PageSlotGuard {
    pub(crate) fn new(process: Arc<BrowserProcess>, pages_per_process: u64) -> Self {
        process.pages.fetch_add(1, Ordering::AcqRel);
        let opened = process.opened.fetch_add(1, Ordering::AcqRel) + 1;
        // The operator of a remote browser decides when it is restarted.
        if opened >= pages_per_process && matches!(process.backend, Backend::Local(_)) {
            process.retire();
        }
        let open = match &process.backend {
            Backend::Local(chromium) => Some(chromium.monitor().open_page()),
            Backend::Remote(_) => None,
        };
        Self { process, _open: open }
    }
}

impl Drop for PageSlotGuard {
    fn drop(&mut self) {
        *self.process.idle_since.lock() = Instant::now();
        self.process.pages.fetch_sub(1, Ordering::AcqRel);
    }
}
