//! A Chromium that this process has started: its processes, its directory, and the end of both.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpgid,
};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::ca_certificates;
use crate::config::BrowserConfig;
use crate::connection::{Cdp, Connection};
use crate::egress::{Destinations, Egress, EgressLimits, ProxyListener};
use crate::error::BrowserError;
use crate::installation::Installation;
use crate::launch::{Launch, LaunchedChromium};
use crate::profile::Profile;
use crate::sandbox::Sandbox;
use crate::watchdog::{Monitor, Watchdog};

/// The time in which Chromium ends by itself after a request, before it is killed.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// The interval between two checks whether Chromium has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The maximum number of bytes that are retained of the output of Chromium.
const MAX_LOG_BYTES: usize = 4096;

/// A started Chromium.
pub(crate) struct LocalChromium {
    /// Dropped before the group, so that processes that have ended are not sampled.
    monitor: Monitor,
    group: ProcessGroup,
    pub(crate) sandbox: Sandbox,
    /// The proxy of all requests that belong to no page. It allows no destination.
    _default_egress: Egress,
    exit_watcher: JoinHandle<()>,
    log: Log,
}

/// The process group of Chromium and its directory. Dropping it kills the processes and removes the directory.
struct ProcessGroup {
    id: Pid,
    /// The root process, until it was reaped.
    root: Mutex<Option<Child>>,
    profile: Profile,
}

/// The end of the output of Chromium. All of it is read, so that its pipe never fills.
struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl LocalChromium {
    /// Starts the processes of Chromium. The caller performs the handshake.
    pub(crate) async fn start(
        installation: &Installation,
        config: &BrowserConfig,
        sandbox: Sandbox,
        watchdog: &Watchdog,
    ) -> Result<(Self, Connection), BrowserError> {
        let failed = |source| BrowserError::Start { source, log: String::new() };
        let profile = Profile::create().await.map_err(failed)?;
        if let Some(ca_file) = &config.ca_file {
            ca_certificates::install(ca_file, profile.path()).await;
        }
        let limits =
            EgressLimits { connect_timeout: config.connect_timeout, connections: 16, traffic_bytes: 0 };
        let default_egress =
            Egress::start(Destinations::Nothing, limits, ProxyListener::Local).await.map_err(failed)?;
        let launch = Launch {
            installation,
            profile: profile.path(),
            proxy: default_egress.proxy_url(),
            sandbox,
            page_memory_bytes: config.page_memory_bytes,
        };
        let LaunchedChromium { mut child, commands, messages } = launch.start().map_err(failed)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.expect("a process that was not reaped has an ID");
        let log = Log::follow(child.stderr.take());
        let group = ProcessGroup { id, root: Mutex::new(Some(child)), profile };
        let commands = pipe::Sender::from_owned_fd(OwnedFd::from(commands)).map_err(failed)?;
        let messages = pipe::Receiver::from_owned_fd(OwnedFd::from(messages)).map_err(failed)?;
        let connection = Connection::over_pipes(commands, messages);
        let cdp = connection.cdp().clone();
        let exit_watcher = tokio::spawn(async move {
            wait_for_exit(id).await;
            // Other processes of Chromium may have the pipes open for a while.
            cdp.disconnect();
        });
        let monitor = watchdog.monitor(id);
        Ok((Self { monitor, group, sandbox, _default_egress: default_egress, exit_watcher, log }, connection))
    }

    /// Kills all processes.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// Returns the PID of the root process, which is also the ID of the process group.
    pub(crate) fn root_pid(&self) -> i32 {
        self.group.id.as_raw_nonzero().get()
    }

    /// Returns its private directory, which is removed when it has ended.
    pub(crate) fn directory(&self) -> &Path {
        self.group.profile.path()
    }

    /// Returns the registration with the watchdog.
    pub(crate) fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    pub(crate) async fn memory_bytes(&self) -> u64 {
        let browser = Arc::clone(self.monitor.browser());
        // Blocking: if the kernel does not list children, all processes of the machine are read.
        websvc_transport::spawn_blocking(move || browser.measure()).await.unwrap_or(0)
    }

    /// Waits until Chromium has ended after `Browser.close`, and kills the processes that remain.
    pub(crate) async fn shut_down(&self, cdp: &Cdp) {
        // Until the root process is reaped, its PID is not reused.
        let _ = timeout(SHUTDOWN_GRACE, cdp.disconnected()).await;
        self.group.kill_and_reap().await;
    }

    /// Returns the end of the output of a Chromium that did not start.
    pub(crate) async fn stderr_tail(&mut self) -> String {
        self.log.tail().await
    }
}

impl Drop for LocalChromium {
    fn drop(&mut self) {
        self.exit_watcher.abort();
    }
}

/// Waits until a child process has ended, without reaping it.
async fn wait_for_exit(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while let Ok(None) = waitid(WaitId::Pid(child), options) {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

impl ProcessGroup {
    fn kill(&self) {
        // Fails if all processes have ended already.
        let _ = kill_process_group(self.id, Signal::KILL);
    }

    async fn kill_and_reap(&self) {
        let Some(mut root) = self.root.lock().take() else {
            return;
        };
        self.kill();
        let _ = root.wait().await;
        // As the init process of a container, this process inherits the orphaned children of Chromium.
        while let Ok(Some(_)) = waitpgid(self.id, WaitOptions::NOHANG) {}
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let root = self.root.get_mut();
        if root.is_some() {
            let _ = kill_process_group(self.id, Signal::KILL);
        }
    }
}

impl Log {
    fn follow(stderr: Option<ChildStderr>) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let target = Arc::clone(&text);
        let task = tokio::spawn(async move {
            let Some(mut stderr) = stderr else { return };
            let mut buffer = [0; 1024];
            while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
                let mut text = target.lock();
                text.extend_from_slice(&buffer[..n]);
                let excess = text.len().saturating_sub(MAX_LOG_BYTES);
                text.drain(..excess);
            }
        });
        Self { text, task }
    }

    /// Returns the text once Chromium has closed its output, or what was read after half a second.
    async fn tail(&mut self) -> String {
        let _ = timeout(Duration::from_millis(500), &mut self.task).await;
        let text = self.text.lock();
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.task.abort();
    }
}
