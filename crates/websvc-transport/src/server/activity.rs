//! State of a connection, which costs a request almost nothing to update: the connection driver reads it to
//! compute its next deadline.
//!
//! One timer per connection, armed for the nearest deadline, replaces a timer per request.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use super::ServerConfig;

/// How long bytes of a client that nobody wants are still read after the answer, so that the answer arrives.
const LINGER: Duration = Duration::from_secs(10);

/// Why a connection must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutKind {
    /// The head of a request took too long.
    Head,
    /// No request came.
    Idle,
    /// The client does not take its answer, or does not stop sending after it.
    Stalled,
}

/// The state of one connection. Times are milliseconds since its start, plus one; 0 means "not so".
#[derive(Debug)]
pub(super) struct ConnectionActivity {
    start: Instant,
    header_timeout: Duration,
    idle_timeout: Duration,
    write_stall_timeout: Duration,
    in_flight: AtomicUsize,
    head_since: AtomicU64,
    idle_since: AtomicU64,
    blocked_since: AtomicU64,
    lingering_since: AtomicU64,
    /// HTTP/1 only: bytes that arrive between requests begin a head.
    tracks_heads: AtomicBool,
    head_has_bytes: AtomicBool,
    leaves_unread: AtomicBool,
}

impl ConnectionActivity {
    pub(super) fn new(config: &ServerConfig) -> Self {
        Self {
            start: Instant::now(),
            header_timeout: config.header_timeout,
            idle_timeout: config.idle_timeout,
            write_stall_timeout: config.write_stall_timeout,
            in_flight: AtomicUsize::new(0),
            head_since: AtomicU64::new(1),
            idle_since: AtomicU64::new(0),
            blocked_since: AtomicU64::new(0),
            lingering_since: AtomicU64::new(0),
            tracks_heads: AtomicBool::new(true),
            head_has_bytes: AtomicBool::new(false),
            leaves_unread: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    fn after(&self, since: u64, timeout: Duration) -> Instant {
        self.start + Duration::from_millis(since - 1) + timeout
    }

    pub(super) fn stop_tracking_heads(&self) {
        self.tracks_heads.store(false, Relaxed);
    }

    pub(super) fn bytes_read(&self) {
        // The clock is asked in `due`, so only if the bytes do not complete a head.
        if self.in_flight.load(Relaxed) == 0 && self.tracks_heads.load(Relaxed) {
            self.head_has_bytes.store(true, Relaxed);
        }
    }

    pub(super) fn write_blocked(&self) {
        if self.blocked_since.load(Relaxed) == 0 {
            self.blocked_since.store(self.now(), Relaxed);
        }
    }

    pub(super) fn write_moved(&self) {
        if self.blocked_since.load(Relaxed) != 0 {
            self.blocked_since.store(0, Relaxed);
            // What was blocked may have been the end of an answer: waiting for the next request starts now.
            self.idle_since.store(self.now(), Relaxed);
        }
    }

    pub(super) fn request_begins(&self) {
        self.in_flight.fetch_add(1, Relaxed);
        self.head_since.store(0, Relaxed);
        self.head_has_bytes.store(false, Relaxed);
    }

    pub(super) fn request_ends(&self) {
        self.idle_since.store(self.now(), Relaxed);
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Notes that a part of a request will not be read.
    pub(super) fn leave_unread(&self) {
        self.leaves_unread.store(true, Relaxed);
    }

    /// Tells whether closing now could destroy the answer: closing with unread bytes resets the connection.
    pub(super) fn may_reset(&self) -> bool {
        self.leaves_unread.load(Relaxed) || self.has_partial_head()
    }

    /// Notes that another protocol than HTTP follows: there are no heads any more, and its end must not be destroyed by
    /// what the client still sends.
    pub(super) fn switched(&self) {
        self.stop_tracking_heads();
        self.leave_unread();
    }

    pub(super) fn linger(&self) {
        if self.lingering_since.load(Relaxed) == 0 {
            self.lingering_since.store(self.now(), Relaxed);
        }
    }

    /// Tells whether the client has begun a request that is not complete.
    pub(super) fn has_partial_head(&self) -> bool {
        self.head_has_bytes.load(Relaxed)
    }

    /// Returns until when the client may take nothing of what is written, or go on sending after the end.
    pub(super) fn stalls(&self) -> Option<(Instant, TimeoutKind)> {
        let lingering = self.lingering_since.load(Relaxed);
        if lingering != 0 {
            return Some((self.after(lingering, LINGER), TimeoutKind::Stalled));
        }
        let blocked = self.blocked_since.load(Relaxed);
        (blocked != 0).then(|| (self.after(blocked, self.write_stall_timeout), TimeoutKind::Stalled))
    }

    /// Returns until when the connection may go on as it is, and what it will have failed at; `None` while a handler
    /// works, which has limits of its own.
    pub(super) fn due(&self) -> Option<(Instant, TimeoutKind)> {
        if let Some(stalls) = self.stalls() {
            return Some(stalls);
        }
        if self.in_flight.load(Relaxed) > 0 {
            return None;
        }
        if self.head_since.load(Relaxed) == 0 && self.head_has_bytes.load(Relaxed) {
            self.head_since.store(self.now(), Relaxed);
        }
        let head = self.head_since.load(Relaxed);
        if head != 0 {
            return Some((self.after(head, self.header_timeout), TimeoutKind::Head));
        }
        Some((self.after(self.idle_since.load(Relaxed).max(1), self.idle_timeout), TimeoutKind::Idle))
    }

    /// Returns when to look again if nothing is due.
    pub(super) fn next_check(&self) -> Instant {
        Instant::now() + self.idle_timeout
    }
}
