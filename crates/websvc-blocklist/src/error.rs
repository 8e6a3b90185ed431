//! What can go wrong with lists.

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
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is larger than a list may be.
    #[error("a list of {bytes} bytes is too large: at most {max_bytes}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// What a list may have.
        max_bytes: u64,
    },
    /// It is no list: a page that says why there is none, for example.
    #[error("this is no list of filters: {reason}")]
    NoList {
        /// What it is instead.
        reason: &'static str,
    },
}
