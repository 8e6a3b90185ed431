//! Blocking work.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use tokio::task::{JoinError, JoinHandle};

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

/// Starts a function on the blocking pool. It runs to its end even if the task is dropped.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> BlockingTask<T> {
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    BlockingTask { task: spawn(Box::new(move || *slot.lock() = Some(work()))), result }
}

/// Spawns work without type parameters: tokio's task is compiled once, not for each function.
fn spawn(work: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    tokio::task::spawn_blocking(work)
}

/// A function on the blocking pool. The future returns its result, or an error if it panicked, or if the runtime shut down
/// before it began.
#[derive(Debug)]
pub struct BlockingTask<T> {
    task: JoinHandle<()>,
    result: Arc<Mutex<Option<T>>>,
}

impl<T> Future for BlockingTask<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(Pin::new(&mut self.task).poll(context))?;
        let result = self.result.lock().take();
        Poll::Ready(Ok(result.expect("a function that ended without a panic has stored its result")))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

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
