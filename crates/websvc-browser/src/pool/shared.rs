//! What the clones of a browser share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, Weak};

use tokio::sync::{Mutex, Semaphore, oneshot};
use tokio::task::JoinHandle;
use websvc_transport::Client;

use crate::backoff::Backoff;
use crate::chores::Chores;
use crate::config::BrowserConfig;
use crate::error::BrowserError;
use crate::metrics::Counters;
use crate::page::WarmPage;
use crate::process::{BrowserProcess, RetireReason};
use crate::sandbox::Sandbox;
use crate::user_agent::UserAgent;
use crate::watchdog::Watchdog;

pub(super) struct Shared {
    pub(super) config: BrowserConfig,
    pub(super) client: Client,
    /// Fair: who comes first is served first.
    pub(super) places: Arc<Semaphore>,
    pub(super) current: Mutex<CurrentProcess>,
    pub(super) chores: Chores,
    pub(super) watchdog: Arc<Watchdog>,
    /// What is known without waiting for a start.
    pub(super) known: std::sync::Mutex<StartSummary>,
    pub(super) counters: Counters,
    /// How many times it was stopped; changed by who holds `current`.
    pub(super) stops: AtomicU64,
}

/// What the last start has shown.
#[derive(Default)]
pub(super) struct StartSummary {
    pub(super) process: Weak<BrowserProcess>,
    pub(super) sandbox: Option<Sandbox>,
    /// Why there is none, in public words.
    pub(super) failure: Option<String>,
}

/// The process that takes the next page.
#[derive(Default)]
pub(super) struct CurrentProcess {
    pub(super) process: Option<Arc<BrowserProcess>>,
    /// A page in it for whoever comes next, as soon as it is made.
    pub(super) ready: Option<oneshot::Receiver<WarmPage>>,
    /// The one that will be it.
    pub(super) starting: Option<JoinHandle<Result<BrowserProcess, BrowserError>>>,
    pub(super) user_agent: Option<UserAgent>,
    pub(super) backoff: Backoff,
    /// Ends a process that has no pages for too long.
    pub(super) janitor: Option<JoinHandle<()>>,
}

impl Shared {
    pub(super) fn known(&self) -> std::sync::MutexGuard<'_, StartSummary> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a process that takes no more pages, once.
    pub(super) fn count_end(&self, process: &BrowserProcess) {
        match process.end() {
            Some(RetireReason::Crashed) => self.counters.crashed(),
            Some(RetireReason::Retired) => self.counters.recycled(),
            None => {}
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let CurrentProcess { process: _, ready: _, starting, user_agent: _, backoff: _, janitor } =
            self.current.get_mut();
        if let Some(starting) = starting {
            starting.abort();
        }
        if let Some(janitor) = janitor {
            janitor.abort();
        }
    }
}
