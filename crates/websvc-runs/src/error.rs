//! Errors of runs.

use websvc_store::StoreError;

/// The reason why runs could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// The store failed.
    #[error("runs could not be read or changed")]
    Store(#[from] StoreError),
    /// A row does not have the form that this program writes.
    #[error("a run was stored by another version of websvc")]
    OtherVersion,
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Stopping,
}
