//! The state that the clones of a browser share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, OnceCell, oneshot};
use tokio::task::JoinHandle;
use websvc_transport::{Client, FairSemaphore};

use crate::background_tasks::BackgroundTasks;
use crate::backoff::Backoff;
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::installation::Installation;
use crate::metrics::BrowserMetrics;
use crate::page::WarmPage;
use crate::process::{BrowserProcess, RetireReason};
use crate::sandbox::Sandbox;
use crate::watchdog::Watchdog;

pub(super) struct Shared {
    pub(super) config: BrowserConfig,
    pub(super) client: Client,
    /// One permit for each open page, divided among the teams.
    pub(super) permits: FairSemaphore,
    pub(super) current: Mutex<CurrentProcess>,
    pub(super) background_tasks: BackgroundTasks,
    pub(super) watchdog: Arc<Watchdog>,
    /// The same for the processes of interactive sessions, which have a limit of their own.
    pub(super) interactive_watchdog: Arc<Watchdog>,
    /// The outcome of the last start, readable without waiting for one.
    pub(super) last_start: parking_lot::Mutex<StartSummary>,
    /// The installed program, once its version is known.
    pub(super) installation: Arc<OnceCell<Installation>>,
    pub(super) metrics: BrowserMetrics,
    /// The number of calls of `stop`. Changed only while `current` is locked.
    pub(super) stop_count: AtomicU64,
}

/// The outcome of the last start.
#[derive(Default)]
pub(super) struct StartSummary {
    pub(super) process: Weak<BrowserProcess>,
    pub(super) sandbox: Option<Sandbox>,
    /// The reason why there is no process; public.
    pub(super) failure: Option<String>,
}

/// The process for the next page.
#[derive(Default)]
pub(super) struct CurrentProcess {
    pub(super) process: Option<Arc<BrowserProcess>>,
    /// The warm page for the next request, as soon as it is created.
    pub(super) warm_page: Option<oneshot::Receiver<WarmPage>>,
    /// The process that is starting.
    pub(super) starting: Option<JoinHandle<Result<BrowserProcess, BrowserError>>>,
    pub(super) backoff: Backoff,
    /// The task that stops an idle process.
    pub(super) idle_reaper: Option<JoinHandle<()>>,
}

impl Shared {
    pub(super) fn last_start(&self) -> parking_lot::MutexGuard<'_, StartSummary> {
        self.last_start.lock()
    }

    /// Counts a process that accepts no more pages, once.
    pub(super) fn record_retirement(&self, process: &BrowserProcess) {
        match process.take_retire_reason() {
            Some(RetireReason::Crashed) => self.metrics.crashed.add(1),
            Some(RetireReason::Retired) => self.metrics.recycled.add(1),
            None => {}
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let CurrentProcess { process: _, warm_page: _, starting, backoff: _, idle_reaper } =
            self.current.get_mut();
        if let Some(starting) = starting {
            starting.abort();
        }
        if let Some(idle_reaper) = idle_reaper {
            idle_reaper.abort();
        }
    }
}
