//! Errors of artifacts, grouped by what the caller can do.

use std::io;
use std::path::PathBuf;

use websvc_store::StoreError;

/// A failure to store or to remove an artifact.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// Nothing of the request may be stored.
    #[error("nothing may be stored of a request under zero data retention or lockdown")]
    NothingStored,
    /// It does not fit, even without all the older ones.
    #[error(
        "an artifact of {bytes} bytes does not fit: all of them together may have {max_bytes} (artifacts.max_bytes)"
    )]
    NoRoom {
        /// Its size.
        bytes: u64,
        /// The bound on all of them.
        max_bytes: u64,
    },
    /// The disk is full.
    #[error("no space left for an artifact of {bytes} bytes in {}", path.display())]
    DiskFull {
        /// Path of the file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// The directory or a file in it cannot be used.
    #[error("cannot use {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The bucket cannot be used.
    #[error("the bucket {bucket:?} cannot be used")]
    Bucket {
        /// Its name.
        bucket: String,
        /// Error of the bucket service.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Writing took so long that the room for it was given up.
    #[error("an artifact of {bytes} bytes was not written in time")]
    TooSlow {
        /// Its size.
        bytes: u64,
    },
    /// The records cannot be used.
    #[error("the records of artifacts cannot be used")]
    Store(#[from] StoreError),
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes")]
    Random(#[source] getrandom::Error),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// Why an artifact is not handed out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// We never signed such a URL, or it belongs to another team than the caller's. The two read the same.
    #[error("there is no such artifact")]
    NotFound,
    /// It expired, or it made room for others.
    #[error("the artifact has expired or was removed")]
    Gone,
    /// It could not be read.
    #[error("the artifact cannot be read")]
    Failed(#[from] ArtifactError),
}

impl From<StoreError> for FindError {
    fn from(error: StoreError) -> Self {
        Self::Failed(ArtifactError::Store(error))
    }
}
