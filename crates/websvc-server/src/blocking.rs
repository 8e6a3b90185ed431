//! Work on tokio's blocking pool.

use websvc_stage::in_current_span;

use crate::response::ApiError;

/// Runs work on the blocking pool that waits for the disk or computes for more than half a millisecond.
///
/// # Errors
/// 500 if the work panics, or cannot start because the service is shutting down.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(in_current_span(work))
        .await
        .map_err(|error| ApiError::internal(&error, "the work on another thread did not complete"))
}
