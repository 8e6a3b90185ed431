//! The state of a connection from which its next deadline is computed. Updating it costs a request almost nothing.
//!
//! One timer per connection, armed for the nearest deadline, replaces a timer per request.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use super::ServerConfig;

/// Time for which the server still reads what a client sends after the response, so that the response arrives.
const LINGER: Duration = Duration::from_secs(10);

/// Reason why a connection must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeoutKind {
    /// The head of a request took too long.
    Head,
    /// No request arrived.
    Idle,
    /// The client does not read the response, or does not stop sending after it.
    Stalled,
}

/// The state of one connection. Times are milliseconds since its start, plus one; 0 means that the state does not
/// apply.
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
    /// HTTP/1 only: bytes that arrive between requests belong to the head of the next one.
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

    fn instant(&self, since: u64, timeout: Duration) -> Instant {
        self.start + Duration::from_millis(since - 1) + timeout
    }

    pub(super) fn stop_tracking_heads(&self) {
        self.tracks_heads.store(false, Relaxed);
    }

    pub(super) fn bytes_read(&self) {
        // `next_deadline` reads the clock, so only if the bytes do not complete a head.
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
            // The end of a response may have been blocked: the wait for the next request starts now.
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

    /// Records that a part of a request will not be read.
    pub(super) fn leave_unread(&self) {
        self.leaves_unread.store(true, Relaxed);
    }

    /// Returns whether closing now could destroy the response: closing a socket with unread bytes resets the
    /// connection.
    pub(super) fn may_reset(&self) -> bool {
        self.leaves_unread.load(Relaxed) || self.has_partial_head()
    }

    /// Records an upgrade to another protocol. There are no more heads, and bytes that the client still sends must not
    /// destroy the end of the stream.
    pub(super) fn set_upgraded(&self) {
        self.stop_tracking_heads();
        self.leave_unread();
    }

    pub(super) fn linger(&self) {
        if self.lingering_since.load(Relaxed) == 0 {
            self.lingering_since.store(self.now(), Relaxed);
        }
    }

    /// Returns whether the client has sent a part of the head of a request.
    pub(super) fn has_partial_head(&self) -> bool {
        self.head_has_bytes.load(Relaxed)
    }

    /// Returns the deadline for a client that does not read the response, or does not stop sending after it.
    pub(super) fn stall_deadline(&self) -> Option<(Instant, TimeoutKind)> {
        let lingering = self.lingering_since.load(Relaxed);
        if lingering != 0 {
            return Some((self.instant(lingering, LINGER), TimeoutKind::Stalled));
        }
        let blocked = self.blocked_since.load(Relaxed);
        (blocked != 0).then(|| (self.instant(blocked, self.write_stall_timeout), TimeoutKind::Stalled))
    }

    /// Returns the next deadline of the connection and its kind. `None` while a handler works: handlers have limits of
    /// their own.
    pub(super) fn next_deadline(&self) -> Option<(Instant, TimeoutKind)> {
        if let Some(deadline) = self.stall_deadline() {
            return Some(deadline);
        }
        if self.in_flight.load(Relaxed) > 0 {
            return None;
        }
        if self.head_since.load(Relaxed) == 0 && self.head_has_bytes.load(Relaxed) {
            self.head_since.store(self.now(), Relaxed);
        }
        let head = self.head_since.load(Relaxed);
        if head != 0 {
            return Some((self.instant(head, self.header_timeout), TimeoutKind::Head));
        }
        Some((self.instant(self.idle_since.load(Relaxed).max(1), self.idle_timeout), TimeoutKind::Idle))
    }

    /// Returns the time of the next check if there is no deadline.
    pub(super) fn next_check(&self) -> Instant {
        Instant::now() + self.idle_timeout
    }
}
