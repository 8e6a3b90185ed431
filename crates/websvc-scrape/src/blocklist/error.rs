//! The errors of blocklists.

use std::io;
use std::path::PathBuf;

/// The error of a list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlocklistError {
    /// The directory or a file in it cannot be read or written.
    #[error("cannot use the list {}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The list exceeds the size limit.
    #[error("the list is too large: {bytes} bytes, the maximum is {max_bytes}")]
    TooLarge {
        /// The size of the list.
        bytes: u64,
        /// The size limit.
        max_bytes: u64,
    },
    /// The content is not a filter list, for example an HTML error page.
    #[error("not a filter list: {reason}")]
    Invalid {
        /// A description of the content.
        reason: &'static str,
    },
}
