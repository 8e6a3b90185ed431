//! Stage 4, admit: how many requests are worked on at one time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use websvc_types::ErrorCode;

use crate::reply::Failure;

/// Seconds after which a client that was turned away may try again.
const RETRY_AFTER_S: u64 = 1;

/// The bound on requests in work. A request beyond it is answered at once, so that overload stays quick.
#[derive(Debug)]
pub(crate) struct Admission {
    permits: Arc<Semaphore>,
    large: Semaphore,
}

/// A body above this many bytes is large: as a tree of values it may take twenty times as much.
const LARGE_BODY_BYTES: usize = 1024 * 1024;

/// So many large bodies are read into trees at one time.
const LARGE_AT_ONCE: usize = 2;

impl Admission {
    pub(crate) fn new(concurrency: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(concurrency)), large: Semaphore::new(LARGE_AT_ONCE) }
    }

    /// Waits until a body of this size may be decoded; `None` for the usual ones, which need not wait.
    pub(crate) async fn decode(&self, body_bytes: usize) -> Option<SemaphorePermit<'_>> {
        if body_bytes <= LARGE_BODY_BYTES {
            return None;
        }
        self.large.acquire().await.ok()
    }

    /// Admits a request; dropping the permit lets the next one in.
    ///
    /// # Errors
    /// 429 when as many requests as allowed are in work.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit, Failure> {
        Arc::clone(&self.permits).try_acquire_owned().map_err(|_full| {
            let text = format!(
                "Rate limit exceeded: the service works on as many requests as it may, retry after {RETRY_AFTER_S}s"
            );
            Failure::new(ErrorCode::RateLimited, text).retry_after(RETRY_AFTER_S)
        })
    }
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;

    use super::*;

    #[test]
    fn a_request_too_many_is_turned_away_until_another_is_done() {
        let admission = Admission::new(1);
        let permit = admission.admit().unwrap();
        let reply = admission.admit().unwrap_err().into_reply();
        assert_eq!((reply.status().as_u16(), &reply.headers()[RETRY_AFTER]), (429, &1.into()));
        drop(permit);
        assert!(admission.admit().is_ok());
    }
}
