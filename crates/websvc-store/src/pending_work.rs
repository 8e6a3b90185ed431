//! Kinds of work that wait in a database on a server, so that the schedulers of an idle replica need not read it.
//!
//! The [watch](crate::server_watch) reads which kinds of work there are with each heartbeat. A scheduler that this
//! process has woken reads the database anyway; one that only polls for the work of other processes asks here first.

use std::sync::atomic::{AtomicU8, Ordering};

/// A table of work, with the columns `number` and `replica`, the owner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkTable {
    pub(crate) name: &'static str,
    /// True for work that has not ended, in SQL.
    pub(crate) is_unfinished: &'static str,
}

impl WorkTable {
    pub(crate) const JOBS: Self = Self { name: "jobs", is_unfinished: "state = 'running'" };
    pub(crate) const CHECKS: Self = Self { name: "monitor_checks", is_unfinished: "finished_at IS NULL" };
    pub(crate) const RUNS: Self = Self { name: "agent_runs", is_unfinished: "finished_at IS NULL" };

    /// Returns the query that has rows if there is unfinished work.
    pub(crate) fn exists(self) -> String {
        format!("SELECT 1 FROM {} WHERE {}", self.name, self.is_unfinished)
    }
}

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

    /// Returns whether there may be work of a kind.
    pub(crate) fn has(&self, kind: WorkKind) -> bool {
        self.0.load(Ordering::Acquire) & kind.bit() != 0
    }

    /// Forgets what was read, because the database could not be read.
    pub(crate) fn forget(&self) {
        self.0.store(u8::MAX, Ordering::Release);
    }
}
