//! Stage 4, admit: how many requests are worked on at one time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use websvc_types::ErrorCode;

use crate::reply::Failure;

/// Seconds after which a client that was turned away may try again.
const RETRY_AFTER_S: u64 = 1;

/// The bound on requests in work. A request beyond it is answered at once, so that overload stays quick.
#[derive(Debug)]
pub(crate) struct Admission {
    permits: Arc<Semaphore>,
}

impl Admission {
    pub(crate) fn new(concurrency: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(concurrency)) }
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
