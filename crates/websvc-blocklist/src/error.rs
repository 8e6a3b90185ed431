//! Errors of blocklists.

use std::io;
use std::path::PathBuf;

/// A list that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlocklistError {
    /// The directory or a file in it cannot be read or written.
    #[error("cannot use the list {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: io::Error,
    },
    /// It is larger than a list may be.
    #[error("a list of {bytes} bytes is too large: at most {max_bytes}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// Size limit of a list.
        max_bytes: u64,
    },
    /// It is no list: a page that says why there is none, for example.
    #[error("this is no list of filters: {reason}")]
    NoList {
        /// Actual content of the file.
        reason: &'static str,
    },
}
