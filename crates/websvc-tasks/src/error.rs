//! The error of durable tasks.

use websvc_store::StoreError;

/// The reason why stored tasks could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The database failed.
    #[error("database error")]
    Store(#[from] StoreError),
    /// A row does not have the form that this program writes.
    #[error("the row was stored by another version of websvc")]
    OtherVersion,
    /// The process is shutting down.
    #[error("the server is shutting down")]
    Stopping,
}
