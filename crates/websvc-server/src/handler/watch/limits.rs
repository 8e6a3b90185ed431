//! The limits of open WebSockets per team, and of WebSockets that read documents at the same time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use websvc_types::ErrorCode;

use crate::response::ApiError;

/// The maximum number of WebSockets that read the store at the same time, so that requests can read it, too.
const MAX_READERS: usize = 4;

/// `Retry-After` of a WebSocket above the limit of its team, in seconds.
const RETRY_AFTER_S: u64 = 10;

/// The limits and the metrics of open WebSockets.
#[derive(Debug)]
pub(crate) struct WebSocketLimits {
    /// The number of open WebSockets by team.
    open: Arc<Mutex<HashMap<String, usize>>>,
    readers: Semaphore,
    /// The number of frames that were sent over closed WebSockets.
    frames: AtomicU64,
}

/// The right to an open WebSocket.
#[derive(Debug)]
pub(crate) struct WebSocketPermit {
    open: Arc<Mutex<HashMap<String, usize>>>,
    team: String,
}

/// The metrics of WebSockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WebSocketMetrics {
    /// The number of open WebSockets.
    pub(crate) open: usize,
    /// The number of frames that were sent over closed WebSockets.
    pub(crate) frames_sent: u64,
}

impl Default for WebSocketLimits {
    fn default() -> Self {
        Self { open: Arc::default(), readers: Semaphore::new(MAX_READERS), frames: AtomicU64::new(0) }
    }
}

impl WebSocketLimits {
    /// Acquires a permit for a team that may have `max` open WebSockets.
    ///
    /// # Errors
    /// 429 if it has as many.
    pub(super) fn acquire(&self, team: &str, max: usize) -> Result<WebSocketPermit, ApiError> {
        let mut open = self.open.lock();
        if open.get(team).copied().unwrap_or_default() >= max {
            let text = format!("Rate limit exceeded: limit of {max} open WebSockets per team reached");
            return Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S));
        }
        *open.entry(team.to_owned()).or_default() += 1;
        Ok(WebSocketPermit { open: Arc::clone(&self.open), team: team.to_owned() })
    }

    /// Waits for the right to read the store.
    pub(super) async fn acquire_read(&self) -> Option<SemaphorePermit<'_>> {
        self.readers.acquire().await.ok()
    }

    /// Counts the frames of a closed WebSocket.
    pub(super) fn record_frames(&self, frames: u64) {
        self.frames.fetch_add(frames, Relaxed);
    }

    pub(crate) fn metrics(&self) -> WebSocketMetrics {
        WebSocketMetrics { open: self.open.lock().values().sum(), frames_sent: self.frames.load(Relaxed) }
    }
}

impl Drop for WebSocketPermit {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        if let Some(count) = open.get_mut(&self.team) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.team);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_websockets_are_limited_per_team_and_a_dropped_permit_is_free() {
        let limits = WebSocketLimits::default();
        let first = limits.acquire("red", 1).unwrap();
        assert_eq!(limits.acquire("red", 1).unwrap_err().status(), 429);
        let other = limits.acquire("blue", 1).unwrap();
        assert_eq!(limits.metrics().open, 2);
        drop(first);
        drop(limits.acquire("red", 1).unwrap());
        drop(other);
        assert_eq!(limits.metrics().open, 0);
        assert!(limits.open.lock().is_empty());
        assert_eq!(limits.acquire("red", 0).unwrap_err().status(), 429);
        limits.record_frames(3);
        assert_eq!(limits.metrics(), WebSocketMetrics { open: 0, frames_sent: 3 });
    }
}
