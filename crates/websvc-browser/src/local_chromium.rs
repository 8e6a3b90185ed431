//! A Chromium that this process has started: its processes, its folder, and the end of both.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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
use crate::egress::{Bounds, Destinations, Egress, ProxyListener};
use crate::error::BrowserError;
use crate::launch::{Launch, Launched};
use crate::profile::Profile;
use crate::sandbox::Sandbox;
use crate::user_agent::UserAgent;
use crate::watchdog::{Watch, Watchdog};

/// How long Chromium may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How often it is asked whether Chromium is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// As much as is kept of what Chromium says.
const LOG_BYTES: usize = 4096;

/// A started Chromium.
pub(crate) struct LocalChromium {
    /// Dropped before the group: what has ended is looked at no more.
    watch: Watch,
    group: Group,
    pub(crate) sandbox: Sandbox,
    /// The proxy of whatever belongs to no page.
    _nowhere: Egress,
    watcher: JoinHandle<()>,
    log: Log,
}

/// The processes, and the folder they write to; killed and removed when dropped.
struct Group {
    id: Pid,
    leader: Mutex<Option<Child>>,
    _profile: Profile,
}

/// The end of what Chromium says, read so that its pipe never fills.
struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl LocalChromium {
    /// Starts Chromium; it has not said anything yet.
    pub(crate) async fn start(
        path: &Path,
        user_agent: &UserAgent,
        config: &BrowserConfig,
        sandbox: Sandbox,
        watchdog: &Watchdog,
    ) -> Result<(Self, Connection), BrowserError> {
        let failed = |source| BrowserError::Start { source, log: String::new() };
        let profile = Profile::create().await.map_err(failed)?;
        if let Some(ca_file) = &config.ca_file {
            ca_certificates::install(ca_file, profile.path()).await;
        }
        let bounds = Bounds { connect_timeout: config.connect_timeout, connections: 16, traffic_bytes: 0 };
        let nowhere =
            Egress::start(Destinations::Nothing, bounds, ProxyListener::Own).await.map_err(failed)?;
        let launch = Launch {
            path,
            profile: profile.path(),
            user_agent: &user_agent.text,
            proxy: nowhere.proxy_url(),
            sandbox,
            page_memory_bytes: config.page_memory_bytes,
        };
        let Launched { mut child, commands, messages } = launch.start().map_err(failed)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.expect("a process that was not waited for has an id");
        let log = Log::follow(child.stderr.take());
        let group = Group { id, leader: Mutex::new(Some(child)), _profile: profile };
        let commands = pipe::Sender::from_owned_fd(OwnedFd::from(commands)).map_err(failed)?;
        let messages = pipe::Receiver::from_owned_fd(OwnedFd::from(messages)).map_err(failed)?;
        let connection = Connection::over_pipes(commands, messages);
        let cdp = connection.cdp().clone();
        let watcher = tokio::spawn(async move {
            ended(id).await;
            // What is left of it may hold the pipes for a while.
            cdp.disconnect();
        });
        let watch = watchdog.watch(id);
        Ok((Self { watch, group, sandbox, _nowhere: nowhere, watcher, log }, connection))
    }

    /// Ends all processes at once.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// Returns the number of the first process, which is that of the group.
    pub(crate) fn leader(&self) -> i32 {
        self.group.id.as_raw_nonzero().get()
    }

    /// Returns the look at its memory.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) async fn memory_bytes(&self) -> u64 {
        let watched = Arc::clone(self.watch.watched());
        // Where children are not listed, a machine has many processes to look through.
        tokio::task::spawn_blocking(move || watched.measure()).await.unwrap_or(0)
    }

    /// Waits until Chromium, which was asked to, has ended; otherwise it is killed.
    pub(crate) async fn end(&self, cdp: &Cdp) {
        // As long as the leader was not waited for, nobody else can have its number.
        let _ = timeout(GRACE, cdp.disconnected()).await;
        self.group.end().await;
    }

    /// Returns the end of what a Chromium said that did not start.
    pub(crate) async fn last_words(&mut self) -> String {
        self.log.tail().await
    }
}

impl Drop for LocalChromium {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

/// Waits until a child has ended, and leaves it to be waited for.
async fn ended(child: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while let Ok(None) = waitid(WaitId::Pid(child), options) {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

impl Group {
    fn kill(&self) {
        // It may have ended already.
        let _ = kill_process_group(self.id, Signal::KILL);
    }

    async fn end(&self) {
        let Some(mut leader) = self.leader.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        self.kill();
        let _ = leader.wait().await;
        // As the first process of a container this one inherits what its child has left.
        while let Ok(Some(_)) = waitpgid(self.id, WaitOptions::NOHANG) {}
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.leader.get_mut().unwrap_or_else(PoisonError::into_inner);
        if leader.is_some() {
            let _ = kill_process_group(self.id, Signal::KILL);
        }
    }
}

impl Log {
    fn follow(stderr: Option<ChildStderr>) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&text);
        let task = tokio::spawn(async move {
            let Some(mut stderr) = stderr else { return };
            let mut buffer = [0; 1024];
            while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..n]);
                let excess = kept.len().saturating_sub(LOG_BYTES);
                kept.drain(..excess);
            }
        });
        Self { text, task }
    }

    /// Returns the end of the text once Chromium has ended, or what there is after a moment.
    async fn tail(&mut self) -> String {
        let _ = timeout(Duration::from_millis(500), &mut self.task).await;
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.task.abort();
    }
}
