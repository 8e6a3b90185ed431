//! Limits and policies of a fetch.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

use super::proxy::Proxy;
use super::request::{FetchRequest, OversizePolicy, TlsPolicy};
use crate::error::{FetchError, FetchPhase};

/// Limits and policies of every hop of a fetch.
pub(super) struct Limits {
    pub(super) connect_timeout: Duration,
    pub(super) max_body_bytes: u64,
    pub(super) max_decoded_bytes: u64,
    pub(super) oversize: OversizePolicy,
    pub(super) tls: TlsPolicy,
    pub(super) proxy: Option<Proxy>,
    phase: AtomicU8,
}

const PHASES: [FetchPhase; 4] =
    [FetchPhase::Resolve, FetchPhase::Connect, FetchPhase::Response, FetchPhase::Body];

impl Limits {
    pub(super) fn from_request(request: &FetchRequest) -> Self {
        Self {
            connect_timeout: request.connect_timeout.min(request.timeout),
            max_body_bytes: request.max_body_bytes,
            max_decoded_bytes: request.max_decoded_bytes,
            oversize: request.oversize,
            tls: request.tls,
            proxy: request.proxy.clone(),
            phase: AtomicU8::new(0),
        }
    }

    /// Records the current phase, for the error of a timeout.
    pub(super) fn set_phase(&self, phase: FetchPhase) {
        self.phase.store(phase as u8, Relaxed);
    }

    /// Returns the error of a fetch that was not finished `after` a time.
    pub(super) fn timed_out(&self, after: Duration) -> FetchError {
        FetchError::Timeout { phase: self.phase(), after }
    }

    fn phase(&self) -> FetchPhase {
        PHASES[usize::from(self.phase.load(Relaxed))]
    }
}
