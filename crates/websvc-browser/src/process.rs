//! One running Chromium: started, spoken to, measured, ended with everything it started.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpgid};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, ChildStderr};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::config::BrowserConfig;
use crate::connection::{Cdp, Connection, Notice};
use crate::egress::{Bounds, Destinations, Egress};
use crate::error::BrowserError;
use crate::launch::{Launch, Launched, Sandbox, major_version};
use crate::memory;

/// How long Chromium may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// As much as is kept of what Chromium says.
const LOG_BYTES: usize = 4096;

/// A running Chromium.
pub(crate) struct Process {
    connection: Connection,
    group: Group,
    pub(crate) user_agent: UserAgent,
    pub(crate) sandbox: Sandbox,
    pages: AtomicUsize,
    opened: AtomicU64,
    is_retired: AtomicBool,
    idle_since: Mutex<Instant>,
    /// The proxy of whatever belongs to no page.
    _nowhere: Egress,
    _log: Log,
}

/// How this Chromium calls itself, without saying that nobody looks at it.
#[derive(Debug, Clone)]
pub(crate) struct UserAgent {
    pub(crate) text: String,
    pub(crate) major: u32,
}

/// The processes, and the folder they write to; killed and removed when dropped.
struct Group {
    id: Pid,
    leader: Mutex<Option<Child>>,
    _profile: TempDir,
}

/// The end of what Chromium says, read so that its pipe never fills.
struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl UserAgent {
    pub(crate) async fn of(path: &Path) -> io::Result<Self> {
        let major = major_version(path).await?;
        // As Chrome itself writes it since it gave up to tell its exact version.
        let text = format!(
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/{major}.0.0.0 Safari/537.36"
        );
        Ok(Self { text, major })
    }
}

impl Process {
    /// Starts Chromium, with its sandbox where the system allows one.
    pub(crate) async fn start(
        path: &Path,
        user_agent: &UserAgent,
        config: &BrowserConfig,
    ) -> Result<Self, BrowserError> {
        // Chromium refuses to have a sandbox as root.
        if rustix::process::geteuid().is_root() {
            return Self::start_with(path, user_agent, config, Sandbox::Off).await;
        }
        match Self::start_with(path, user_agent, config, Sandbox::On).await {
            Err(BrowserError::Start { log, source }) if log.contains("sandbox") => {
                tracing::debug!(%log, %source, "Chromium does not start with its sandbox");
                Self::start_with(path, user_agent, config, Sandbox::Off).await
            }
            other => other,
        }
    }

    async fn start_with(
        path: &Path,
        user_agent: &UserAgent,
        config: &BrowserConfig,
        sandbox: Sandbox,
    ) -> Result<Self, BrowserError> {
        let failed = |source| BrowserError::Start { source, log: String::new() };
        let profile = tempfile::Builder::new().prefix("websvc-browser-").tempdir().map_err(failed)?;
        let bounds = Bounds { connect_timeout: config.connect_timeout, connections: 16, traffic_bytes: 0 };
        let nowhere = Egress::start(Destinations::Nothing, bounds).await.map_err(failed)?;
        let launch = Launch {
            path,
            profile: profile.path(),
            user_agent: &user_agent.text,
            proxy: &nowhere.server(),
            sandbox,
        };
        let Launched { mut child, commands, messages } = launch.start().map_err(failed)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.expect("a process that was not waited for has an id");
        let log = Log::follow(child.stderr.take());
        let group = Group { id, leader: Mutex::new(Some(child)), _profile: profile };
        let commands = pipe::Sender::from_owned_fd(OwnedFd::from(commands)).map_err(failed)?;
        let messages = pipe::Receiver::from_owned_fd(OwnedFd::from(messages)).map_err(failed)?;
        let connection = Connection::start(commands, messages);
        let greeting = prepare(connection.cdp());
        let kind = match timeout(config.start_timeout, greeting).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) => Some(io::ErrorKind::BrokenPipe),
            Err(_) => Some(io::ErrorKind::TimedOut),
        };
        if let Some(kind) = kind {
            return Err(BrowserError::Start { source: kind.into(), log: log.tail().await });
        }
        Ok(Self {
            connection,
            group,
            user_agent: user_agent.clone(),
            sandbox,
            pages: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            is_retired: AtomicBool::new(false),
            idle_since: Mutex::new(Instant::now()),
            _nowhere: nowhere,
            _log: log,
        })
    }

    pub(crate) fn cdp(&self) -> &Cdp {
        self.connection.cdp()
    }

    /// Tells whether another page may be opened.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_retired.load(Ordering::Acquire) && !self.cdp().is_lost()
    }

    /// Takes no more pages.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    /// Ends all processes at once: a page is stuck in a way that cannot be helped.
    pub(crate) fn kill(&self) {
        self.retire();
        self.group.kill();
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages.load(Ordering::Acquire)
    }

    pub(crate) fn leader(&self) -> i32 {
        self.group.id.as_raw_nonzero().get()
    }

    /// Returns since when there is no page; `None` while there is one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        let since = *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        (self.pages() == 0).then_some(since)
    }

    pub(crate) async fn memory_bytes(&self) -> u64 {
        let group = self.group.id;
        // A machine has many processes to look through.
        tokio::task::spawn_blocking(move || memory::of_group(group)).await.unwrap_or(0)
    }

    /// Asks Chromium to end, and sees to it that it does, with everything it started.
    pub(crate) async fn stop(&self) {
        self.retire();
        self.cdp().post("", "Browser.close", json!({}));
        // As long as the leader was not waited for, nobody else can have its number.
        let _ = timeout(GRACE, self.cdp().lost()).await;
        self.group.end().await;
    }
}

/// Says hello, and that windows which pages open are to be reported.
async fn prepare(cdp: &Cdp) -> Result<(), BrowserError> {
    let closer = cdp.clone();
    cdp.listen("", move |notice| {
        let Notice::Event { method, params } = notice else { return };
        if method == "Target.targetCreated" && is_popup(&params["targetInfo"]) {
            closer.post("", "Target.closeTarget", json!({"targetId": params["targetInfo"]["targetId"]}));
        }
    });
    cdp.call("", "Browser.getVersion", json!({})).await?;
    cdp.call("", "Target.setDiscoverTargets", json!({"discover": true})).await?;
    Ok(())
}

/// Windows that a page has opened; their connections go the same way as the page's, but nobody looks at them.
fn is_popup(target: &Value) -> bool {
    target["type"] == "page" && target["openerId"].is_string()
}

/// A page's place in a process.
pub(crate) struct Lease(pub(crate) Arc<Process>);

impl Lease {
    pub(crate) fn new(process: Arc<Process>, pages_per_process: u64) -> Self {
        process.pages.fetch_add(1, Ordering::AcqRel);
        if process.opened.fetch_add(1, Ordering::AcqRel) + 1 >= pages_per_process {
            process.retire();
        }
        Self(process)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        *self.0.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.pages.fetch_sub(1, Ordering::AcqRel);
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
    async fn tail(mut self) -> String {
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
