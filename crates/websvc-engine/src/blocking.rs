//! Runs CPU-bound work on the blocking pool, with a process-wide concurrency limit and a deadline.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use tokio::sync::Semaphore;
use websvc_stage::in_current_span;
use websvc_transport::spawn_blocking;

/// One permit per core. The cores are shared by the whole process, so the permits are too.
static PERMITS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Arc::new(Semaphore::new(cores))
});

/// The reason why a computation has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    /// The deadline passed while the work was running or waiting for a permit.
    #[error("not done in time")]
    Late,
    /// The work panicked or was cancelled.
    #[error("failed unexpectedly")]
    Failed,
}

/// Runs CPU-bound `work` on a blocking thread and waits for it until `deadline`.
///
/// At most one such task per core runs at a time. Work that is still running at the deadline keeps its permit until it
/// returns, because a blocking thread cannot be interrupted. So the work must end on its own.
///
/// # Errors
/// [`ComputeError`]
pub async fn run_blocking<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let computation = async {
        let permit = Arc::clone(&PERMITS).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let task = spawn_blocking(in_current_span(move || {
            let _permit = permit;
            work()
        }));
        task.await.map_err(|_join_error| ComputeError::Failed)
    };
    match tokio::time::timeout_at(deadline.into(), computation).await {
        Ok(result) => result,
        Err(_elapsed) => Err(ComputeError::Late),
    }
}

/// Returns an error if the deadline has passed.
///
/// # Errors
/// [`ComputeError::Late`]
pub(crate) fn check_deadline(deadline: Instant) -> Result<(), ComputeError> {
    if Instant::now() < deadline { Ok(()) } else { Err(ComputeError::Late) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn run_blocking_waits_until_the_deadline_and_reports_panics() {
        let far_deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(run_blocking(far_deadline, || 7).await, Ok(7));
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let near_deadline = Instant::now() + Duration::from_millis(50);
        let late = run_blocking(near_deadline, move || wait.recv().is_ok()).await;
        assert_eq!(late, Err(ComputeError::Late));
        drop(go);
        assert_eq!(
            run_blocking(far_deadline, || std::panic::resume_unwind(Box::new(()))).await,
            Err::<(), _>(ComputeError::Failed)
        );
    }
}
