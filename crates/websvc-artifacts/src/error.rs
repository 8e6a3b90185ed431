//! Errors of artifacts.

use std::io;
use std::path::PathBuf;

use websvc_store::StoreError;

/// The error of storing or removing an artifact.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The request does not allow stored data.
    #[error("a request with zero data retention or lockdown stores no artifacts")]
    NothingStored,
    /// There is not enough space, even after the eviction of all older artifacts.
    #[error(
        "no space for an artifact of {bytes} bytes: all artifacts together may use {max_bytes} bytes (artifacts.max_bytes)"
    )]
    NoSpace {
        /// The size of the artifact.
        bytes: u64,
        /// The maximum total size.
        max_bytes: u64,
    },
    /// The disk is full.
    #[error("no space left for an artifact of {bytes} bytes in {}", path.display())]
    DiskFull {
        /// The path of the file.
        path: PathBuf,
        /// The size of the artifact.
        bytes: u64,
    },
    /// The directory or a file in it cannot be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The bucket cannot be used.
    #[error("the bucket {bucket:?} cannot be used")]
    Bucket {
        /// The name of the bucket.
        bucket: String,
        /// The error of the service.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Writing took so long that the reservation of its space was removed.
    #[error("writing an artifact of {bytes} bytes took too long")]
    TooSlow {
        /// The size of the artifact.
        bytes: u64,
    },
    /// The records cannot be read or written.
    #[error("the records of the artifacts cannot be read or written")]
    Store(#[from] StoreError),
    /// The operating system returned no random bytes.
    #[error("the operating system returned no random bytes")]
    Random(#[source] getrandom::Error),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// The error of reading an artifact.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// The signature of the URL is wrong, or the artifact belongs to another team. The message is the same.
    #[error("there is no such artifact")]
    NotFound,
    /// The artifact has expired, or was evicted by a newer one.
    #[error("the artifact has expired or was removed")]
    Gone,
    /// The artifact could not be read.
    #[error("the artifact cannot be read")]
    Failed(#[from] ArtifactError),
}

impl From<StoreError> for FindError {
    fn from(error: StoreError) -> Self {
        Self::Failed(ArtifactError::Store(error))
    }
}
