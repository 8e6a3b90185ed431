//! Faults of the database that outlast the statement that found them: a full disk, and damage.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::StoreError;

/// Interval of the attempts to write again after a failed write.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// A fault of the database. The texts are for everyone, so they contain no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// The disk is full.
    #[error("the disk of the database is full: nothing can be stored until there is space")]
    Full,
    /// Writes fail for another reason.
    #[error("the database cannot be written: the log of the service has the reason")]
    NotWritable,
    /// A statement found damage.
    #[error("the database is damaged: run websvc doctor, and restore a backup")]
    Damaged,
}

/// The fault that was found last.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    fault: Option<StoreFault>,
    probed: Option<Instant>,
}

impl Faults {
    /// Records the failure of a read or a write.
    pub(crate) fn record(&self, error: &StoreError) {
        self.set(match error {
            StoreError::Full { .. } => Some(StoreFault::Full),
            StoreError::Corrupt { .. } => Some(StoreFault::Damaged),
            _ => None,
        });
    }

    /// Records the failure of a write.
    pub(crate) fn record_write(&self, error: &StoreError) {
        self.set(matches!(error, StoreError::Io { .. }).then_some(StoreFault::NotWritable));
    }

    fn set(&self, found: Option<StoreFault>) {
        let mut state = self.0.lock();
        if found.is_some() && state.fault != Some(StoreFault::Damaged) {
            state.fault = found;
        }
    }

    /// Returns the fault, and whether to find out by a write if it has gone.
    pub(crate) fn current(&self, now: Instant) -> (Option<StoreFault>, bool) {
        let mut state = self.0.lock();
        let is_due =
            state.probed.is_none_or(|probed| now.saturating_duration_since(probed) >= PROBE_INTERVAL);
        let probes = is_due && matches!(state.fault, Some(StoreFault::Full | StoreFault::NotWritable));
        if probes {
            state.probed = Some(now);
        }
        (state.fault, probes)
    }

    /// Returns the fault.
    pub(crate) fn known(&self) -> Option<StoreFault> {
        self.0.lock().fault
    }

    /// Forgets the fault, because a write has succeeded. Damage stays.
    pub(crate) fn clear(&self) {
        let mut state = self.0.lock();
        state.fault = state.fault.filter(|fault| *fault == StoreFault::Damaged);
    }
}
