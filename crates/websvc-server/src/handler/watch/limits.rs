//! How many sockets are open, of whom, and how many of them read documents at one time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};
use websvc_types::ErrorCode;

use crate::response::ApiError;

/// Sockets that read the store at one time: others have to get at it, too.
const READING: usize = 4;

/// Seconds after which a client may try again that has as many sockets as it may.
const RETRY_AFTER_S: u64 = 10;

/// The sockets that are open.
#[derive(Debug)]
pub(crate) struct WebSocketLimits {
    teams: Arc<Mutex<HashMap<String, usize>>>,
    reading: Semaphore,
    frames: AtomicU64,
}

/// The right to a socket; dropping it lets another one in.
#[derive(Debug)]
pub(crate) struct WebSocketPermit {
    teams: Arc<Mutex<HashMap<String, usize>>>,
    team: String,
}

/// What is counted of sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WebSocketMetrics {
    /// Those that are open.
    pub(crate) open: usize,
    /// The frames that were sent over those that have closed.
    pub(crate) frames: u64,
}

impl Default for WebSocketLimits {
    fn default() -> Self {
        Self { teams: Arc::default(), reading: Semaphore::new(READING), frames: AtomicU64::new(0) }
    }
}

impl WebSocketLimits {
    /// Takes a seat of a team that may have `most`.
    ///
    /// # Errors
    /// 429 when it has as many.
    pub(super) fn take(&self, team: &str, most: usize) -> Result<WebSocketPermit, ApiError> {
        let mut teams = lock(&self.teams);
        if teams.get(team).copied().unwrap_or_default() >= most {
            let text = format!("Rate limit exceeded: no more than {most} sockets of a team are open");
            return Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S));
        }
        *teams.entry(team.to_owned()).or_default() += 1;
        Ok(WebSocketPermit { teams: Arc::clone(&self.teams), team: team.to_owned() })
    }

    /// Waits for the right to read the store.
    pub(super) async fn read(&self) -> Option<SemaphorePermit<'_>> {
        self.reading.acquire().await.ok()
    }

    pub(super) fn count(&self, frames: u64) {
        self.frames.fetch_add(frames, Relaxed);
    }

    pub(crate) fn figures(&self) -> WebSocketMetrics {
        WebSocketMetrics { open: lock(&self.teams).values().sum(), frames: self.frames.load(Relaxed) }
    }
}

impl Drop for WebSocketPermit {
    fn drop(&mut self) {
        let mut teams = lock(&self.teams);
        if let Some(taken) = teams.get_mut(&self.team) {
            *taken -= 1;
            if *taken == 0 {
                teams.remove(&self.team);
            }
        }
    }
}

fn lock(teams: &Mutex<HashMap<String, usize>>) -> MutexGuard<'_, HashMap<String, usize>> {
    teams.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_team_has_its_own_bound_and_a_seat_that_is_left_is_free() {
        let seats = WebSocketLimits::default();
        let first = seats.take("red", 1).unwrap();
        assert_eq!(seats.take("red", 1).unwrap_err().status(), 429);
        let other = seats.take("blue", 1).unwrap();
        assert_eq!(seats.figures().open, 2);
        drop(first);
        drop(seats.take("red", 1).unwrap());
        drop(other);
        assert_eq!(seats.figures().open, 0);
        assert!(lock(&seats.teams).is_empty());
        assert_eq!(seats.take("red", 0).unwrap_err().status(), 429);
        seats.count(3);
        assert_eq!(seats.figures(), WebSocketMetrics { open: 0, frames: 3 });
    }
}
