//! Kinds of work that wait in a database on a server, so that the schedulers of an idle replica need not read it.
//!
//! The [watch](crate::server_watch) reads which kinds of work there are with each heartbeat. A scheduler that this
//! process has woken reads the database anyway; one that only polls for the work of other processes asks here first.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::owned_work::WorkTable;
use crate::store::Store;

/// A kind of work that schedulers poll for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// Jobs that run.
    Jobs,
    /// Webhooks with events that wait.
    Webhooks,
    /// Agent runs and extractions that have not ended.
    Runs,
    /// Checks of monitors that have not ended.
    Checks,
    /// Monitors whose next check is due, or soon will be.
    Monitors,
    /// Messages of monitors that are due.
    Messages,
    /// Pages that wait for a server of an index.
    IndexOutbox,
}

/// How long before its time a check is work already, so that no scheduler learns of it too late.
const LOOK_AHEAD_MS: u32 = 4_000;

/// Minimum interval at which a scheduler looks whether there is work.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// How often a scheduler reads the database although it has no work: schedulers also delete what has expired.
const MAX_QUIET: Duration = Duration::from_secs(60);

impl WorkKind {
    const ALL: [Self; 7] = [
        Self::Jobs,
        Self::Webhooks,
        Self::Runs,
        Self::Checks,
        Self::Monitors,
        Self::Messages,
        Self::IndexOutbox,
    ];

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Returns the query that has rows if there is work of this kind. `now` is the time as an SQL expression.
    fn query(self, now: &str) -> String {
        match self {
            Self::Jobs => WorkTable::JOBS.exists(),
            Self::Webhooks => "SELECT 1 FROM webhooks WHERE waiting > 0".to_owned(),
            Self::Runs => WorkTable::RUNS.exists(),
            Self::Checks => WorkTable::CHECKS.exists(),
            Self::Monitors => format!(
                "SELECT 1 FROM monitors WHERE status = 'active' AND deleted_at IS NULL \
                 AND next_run_at <= {now} + {LOOK_AHEAD_MS}"
            ),
            Self::Messages => {
                format!("SELECT 1 FROM monitor_messages WHERE replica IS NULL AND due_at <= {now}")
            }
            Self::IndexOutbox => "SELECT 1 FROM index_outbox".to_owned(),
        }
    }
}

/// The kinds of work that there may be.
#[derive(Debug)]
pub(crate) struct PendingWork(AtomicU8);

impl Default for PendingWork {
    /// Nothing is known, so there may be all.
    fn default() -> Self {
        Self(AtomicU8::new(u8::MAX))
    }
}

impl PendingWork {
    /// Returns an SQL expression for the kinds of work there are, as a number for [`record`](Self::record).
    pub(crate) fn sql(now: &str) -> String {
        let bits = WorkKind::ALL
            .map(|kind| format!("CASE WHEN EXISTS ({}) THEN {} ELSE 0 END", kind.query(now), kind.bit()));
        format!("CAST({} AS BIGINT)", bits.join(" + "))
    }

    pub(crate) fn record(&self, bits: i64) {
        self.0.store(u8::try_from(bits).unwrap_or(u8::MAX), Ordering::Release);
    }

    /// Forgets what was read, because the database could not be read.
    pub(crate) fn forget(&self) {
        self.0.store(u8::MAX, Ordering::Release);
    }
}

impl Store {
    /// Returns whether other processes may have left work of this kind: false if the last heartbeat, about a second ago
    /// at most, found none. In a file, where no other process works, always true.
    #[must_use]
    pub fn may_have_work(&self, kind: WorkKind) -> bool {
        self.shared().pending_work.0.load(Ordering::Acquire) & kind.bit() != 0
    }

    /// Waits for `interval`, and on until there [may be work](Self::may_have_work) of this kind, a minute at most.
    pub async fn poll_for_work(&self, kind: WorkKind, interval: Duration) {
        let begun = Instant::now();
        sleep(interval).await;
        while !self.may_have_work(kind) && begun.elapsed() < MAX_QUIET {
            sleep(interval.max(MIN_INTERVAL)).await;
        }
    }
}
