//! Blocking work.

use std::future::pending;

use websvc_transport::ShutdownError;

/// Runs a function on the blocking pool. Its panic continues here.
pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match websvc_transport::run_blocking(work).await {
        Ok(result) => result,
        // The runtime will drop this task, too.
        Err(ShutdownError) => pending().await,
    }
}
