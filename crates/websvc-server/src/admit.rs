//! Stage 4, admit: how many requests are worked on at one time.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use websvc_types::ErrorCode;
use websvc_validate::Rejection;

use crate::reply::Failure;

/// Seconds after which a client that was turned away may try again.
const RETRY_AFTER_S: u64 = 1;

/// The bound on requests in work. A request beyond it is answered at once, so that overload stays quick.
#[derive(Debug)]
pub(crate) struct Admission {
    permits: Arc<Semaphore>,
    large: Semaphore,
}

/// A body of at most this many bytes is read in a fraction of the half millisecond that an async thread may be held.
const QUICK_BODY_BYTES: usize = 16 * 1024;

/// A body above this many bytes is large: as a tree of values it may take twenty times as much.
const LARGE_BODY_BYTES: usize = 1024 * 1024;

/// So many large bodies are read into trees at one time.
const LARGE_AT_ONCE: usize = 2;

impl Admission {
    pub(crate) fn new(concurrency: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(concurrency)), large: Semaphore::new(LARGE_AT_ONCE) }
    }

    /// Reads a body: in place when that is quick, else where it holds nobody up, and large ones a few at a time.
    ///
    /// # Errors
    /// What `read` refuses, and 500 when the service is stopping.
    pub(crate) async fn decode<T: Send + 'static>(
        &self,
        body: Bytes,
        read: impl FnOnce(&[u8]) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, Failure> {
        if body.len() <= QUICK_BODY_BYTES {
            return Ok(read(&body)?);
        }
        let _permit = if body.len() > LARGE_BODY_BYTES { self.large.acquire().await.ok() } else { None };
        let reading = tokio::task::spawn_blocking(move || read(&body));
        Ok(reading.await.map_err(|error| Failure::internal(&error, "the body could not be read"))??)
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

    #[tokio::test]
    async fn bodies_of_every_size_are_read() {
        let admission = Admission::new(1);
        for length in [0, QUICK_BODY_BYTES, QUICK_BODY_BYTES + 1, LARGE_BODY_BYTES + 1] {
            let read = admission.decode(vec![b' '; length].into(), |body| Ok(body.len())).await;
            assert_eq!(read.unwrap(), length);
            let refusing = |_: &[u8]| -> Result<(), Rejection> {
                Err(Rejection::Forbidden { message: "no".to_owned() })
            };
            let refused = admission.decode(vec![b' '; length].into(), refusing).await.unwrap_err();
            assert_eq!(refused.into_reply().status(), 403, "{length} bytes");
        }
    }

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
