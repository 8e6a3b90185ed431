//! What computes for longer than an async thread may: on threads for it, so many at one time, until a deadline.

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use tokio::sync::Semaphore;
use websvc_stage::in_current_span;

/// One place for each core. The cores are those of the process, so that the places are, too.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    Arc::new(Semaphore::new(cores))
});

/// Why nothing was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    /// The deadline passed, during the work or the wait for a place.
    #[error("it was not done in time")]
    Late,
    /// The work broke off.
    #[error("it failed unexpectedly")]
    Failed,
}

/// Does what computes, within a deadline. Work that goes on beyond it keeps its place until it ends, so that never more than one
/// for each core is done; it has to end by itself.
///
/// # Errors
/// [`ComputeError`]
pub async fn run_blocking<T: Send + 'static>(
    deadline: Instant,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ComputeError> {
    let computing = async {
        let place = Arc::clone(&PLACES).acquire_owned().await;
        let place = place.expect("the places are never closed");
        let working = tokio::task::spawn_blocking(in_current_span(move || {
            let _place = place;
            work()
        }));
        working.await.map_err(|_broken| ComputeError::Failed)
    };
    match tokio::time::timeout_at(deadline.into(), computing).await {
        Ok(done) => done,
        Err(_elapsed) => Err(ComputeError::Late),
    }
}

/// Tells whether there is no time left.
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
    async fn work_is_waited_for_until_the_deadline() {
        let later = Instant::now() + Duration::from_secs(60);
        assert_eq!(run_blocking(later, || 7).await, Ok(7));
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let soon = Instant::now() + Duration::from_millis(50);
        let late = run_blocking(soon, move || wait.recv().is_ok()).await;
        assert_eq!(late, Err(ComputeError::Late));
        drop(go);
        assert_eq!(
            run_blocking(later, || std::panic::resume_unwind(Box::new(()))).await,
            Err::<(), _>(ComputeError::Failed)
        );
    }
}
