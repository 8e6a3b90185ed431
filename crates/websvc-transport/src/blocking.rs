//! Blocking work.

use std::panic::resume_unwind;

use tokio::task::spawn_blocking;

/// The runtime is shutting down and runs no more work. It will drop the task that waits for the work, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the process is shutting down")]
pub struct ShutdownError;

/// Runs a function on the blocking pool: one that waits for the disk, or computes for more than half a millisecond. Its
/// panic continues in the caller.
///
/// # Errors
/// [`ShutdownError`]
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ShutdownError> {
    match spawn_blocking(work).await {
        Ok(result) => Ok(result),
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        Err(_cancelled) => Err(ShutdownError),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use tokio::runtime::Runtime;

    use super::*;

    #[tokio::test]
    async fn result_and_panic_of_blocking_work_reach_the_caller() {
        assert_eq!(run_blocking(|| 7).await, Ok(7));
        let caller = tokio::spawn(run_blocking(|| panic!("broken")));
        let panic = caller.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"broken"));
    }

    #[test]
    fn work_that_a_shutdown_prevents_is_an_error() {
        let runtime = Runtime::new().unwrap();
        let handle = runtime.handle().clone();
        runtime.shutdown_background();
        let _guard = handle.enter();
        let outcome = pin!(run_blocking(|| 7)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(outcome, Poll::Ready(Err(ShutdownError)));
    }
}
