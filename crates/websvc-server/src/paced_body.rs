//! Bodies of requests that are read as they arrive, within limits of size and time.

use std::time::{Duration, Instant};

use bytes::Bytes;
use websvc_transport::{BodyError, ServerBody};
use websvc_types::ErrorCode;

use crate::response::ApiError;

/// The maximum time between two chunks.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum time for the whole body.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(300);

/// The time that every body has, however little of it arrives.
const GRACE_PERIOD: Duration = Duration::from_secs(20);

/// The minimum rate after the grace period: a slower client would occupy the permit of another one.
const MIN_BYTES_PER_S: u64 = 16 * 1024;

/// A body that is read in chunks. A client that sends too slowly, or too much, is cut off.
#[derive(Debug)]
pub(crate) struct PacedBody {
    body: ServerBody,
    /// The number of bytes that may still arrive.
    remaining: u64,
    max_bytes: u64,
    started: Instant,
}

impl PacedBody {
    /// Begins to read a body of at most `max_bytes` bytes.
    ///
    /// # Errors
    /// 413 if its `Content-Length` is larger.
    pub(crate) fn new(body: ServerBody, max_bytes: u64) -> Result<Self, ApiError> {
        if body.announced_length().is_some_and(|length| length > max_bytes) {
            return Err(too_large(max_bytes));
        }
        Ok(Self { body, remaining: max_bytes, max_bytes, started: Instant::now() })
    }

    /// Returns the next chunk; `None` at the end of the body.
    ///
    /// # Errors
    /// 400 for a broken body, 408 for a slow one and 413 for a large one.
    pub(crate) async fn next_chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let timeout = timeout(self.started.elapsed(), self.max_bytes - self.remaining);
        let timeout = timeout.ok_or_else(|| ApiError::from(BodyError::TimedOut))?;
        let chunk = self.body.next_chunk(timeout).await?;
        if let Some(chunk) = &chunk {
            self.remaining =
                self.remaining.checked_sub(chunk.len() as u64).ok_or_else(|| too_large(self.max_bytes))?;
        }
        Ok(chunk)
    }
}

/// Returns the timeout for the next chunk of a body of which `received` bytes have arrived in `elapsed`; `None` if it is
/// too slow.
fn timeout(elapsed: Duration, received: u64) -> Option<Duration> {
    let allowed = GRACE_PERIOD.saturating_add(Duration::from_secs(received / MIN_BYTES_PER_S));
    let remaining = allowed.min(TOTAL_TIMEOUT).saturating_sub(elapsed);
    (!remaining.is_zero()).then_some(remaining.min(IDLE_TIMEOUT))
}

fn too_large(max_bytes: u64) -> ApiError {
    ApiError::new(ErrorCode::PayloadTooLarge, format!("the body is larger than {max_bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_depends_on_the_elapsed_time_and_the_received_bytes() {
        let check = |elapsed_s: u64, received: u64, expected_s: Option<u64>| {
            let timeout = timeout(Duration::from_secs(elapsed_s), received);
            assert_eq!(timeout, expected_s.map(Duration::from_secs), "{elapsed_s} s, {received} bytes");
        };
        check(0, 0, Some(10));
        check(15, 100, Some(5));
        check(20, 100, None);
        check(20, MIN_BYTES_PER_S, Some(1));
        check(100, 80 * MIN_BYTES_PER_S - 1, None);
        check(100, 100 * MIN_BYTES_PER_S, Some(10));
        check(299, 50 * 1024 * 1024, Some(1));
        check(300, u64::MAX, None);
    }
}
