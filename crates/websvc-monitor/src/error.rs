//! Errors of monitors.

use websvc_jobs::JobsError;
use websvc_store::StoreError;

/// The reason why monitors could not be read, changed or checked.
#[derive(Debug, thiserror::Error)]
pub enum MonitorsError {
    /// The store failed.
    #[error("monitors could not be read or changed")]
    Store(#[from] StoreError),
    /// The jobs of a check failed.
    #[error("the jobs of a check could not be read or changed")]
    Jobs(#[from] JobsError),
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Stopping,
}
