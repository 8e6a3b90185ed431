//! Work on tokio's blocking pool.

use std::task::{Context, Poll, Waker};

use websvc_stage::in_current_span;
use websvc_transport::spawn_blocking;

use crate::response::ApiError;

/// Runs work on the blocking pool that waits for the disk or computes for more than half a millisecond.
///
/// # Errors
/// 500 if the work panics, or cannot start because the service is shutting down.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    spawn_blocking(in_current_span(work))
        .await
        .map_err(|error| ApiError::internal(&error, "the work on another thread did not complete"))
}

/// Runs a future whose first step computes for more than half a millisecond: that step on the blocking pool, the others
/// where the caller runs.
///
/// # Errors
/// Those of [`run_blocking`], for the first step.
pub(crate) async fn start_blocking<F>(future: F) -> Result<F::Output, ApiError>
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut future = Box::pin(future);
    let first_step = run_blocking(move || {
        // The caller polls again at once, so no wake-up is missed.
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (polled, future)
    });
    match first_step.await? {
        (Poll::Ready(output), _finished) => Ok(output),
        (Poll::Pending, future) => Ok(future.await),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn only_the_first_step_runs_on_the_blocking_pool() {
        let steps = start_blocking(async {
            let first = thread::current().id();
            yield_now().await;
            [first, thread::current().id()]
        });
        let [first, second] = steps.await.unwrap();
        assert_ne!(first, thread::current().id());
        assert_eq!(second, thread::current().id());
        assert_eq!(start_blocking(async { 7 }).await.unwrap(), 7);
    }
}
