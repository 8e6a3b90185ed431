//! Blocking work on the state of a service.

use std::sync::Arc;

use websvc_transport::ShutdownError;

use crate::error::TaskError;

/// Runs blocking work, such as an access to the store, on the blocking pool.
///
/// # Errors
/// Those of `work`, or [`TaskError::Stopping`].
pub async fn run_blocking<S: Send + Sync + 'static, T: Send + 'static>(
    state: &Arc<S>,
    work: impl FnOnce(&S) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    let state = Arc::clone(state);
    let working = websvc_transport::run_blocking(move || work(&state));
    working.await.map_err(|_: ShutdownError| TaskError::Stopping)?
}
