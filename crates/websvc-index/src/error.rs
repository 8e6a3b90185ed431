//! Errors of the index, grouped by the remedies that callers have.

use std::path::PathBuf;

use crate::semantic::EncodeError;

/// An error of the embedded index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The directory cannot be created, read or written.
    #[error("cannot use the index directory {}", dir.display())]
    Directory {
        /// The index directory.
        dir: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The directory has an index of another format, or files that are not an index.
    #[error(
        "the index in {} has format {found} but this version needs {expected}: move the directory away and crawl or \
         import again",
        dir.display()
    )]
    Incompatible {
        /// The index directory.
        dir: PathBuf,
        /// Description of the format that was found.
        found: String,
        /// The format of this version.
        expected: &'static str,
    },
    /// Another process writes to the index.
    #[error(
        "the index in {} is being written by another process: stop that process or send the pages through it",
        dir.display()
    )]
    Locked {
        /// The index directory.
        dir: PathBuf,
    },
    /// The URL of a document is not an absolute URL with a host.
    #[error("cannot index \"{url}\": not an absolute URL with a host")]
    InvalidUrl {
        /// The rejected URL.
        url: String,
    },
    /// Earlier changes could not be written. They are in the journal, and are written with the next changes or at the
    /// next start.
    #[error("could not write to the index in {}: {reason}", dir.display())]
    Write {
        /// The index directory.
        dir: PathBuf,
        /// The error text of the operation that failed.
        reason: String,
    },
    /// The disk is full. Changes that were accepted are in the journal, and are written with the next changes or at the
    /// next start.
    #[error("no space left for the index in {}", dir.display())]
    Full {
        /// The index directory.
        dir: PathBuf,
    },
    /// The index was closed.
    #[error("the index in {} is closed", dir.display())]
    Closed {
        /// The index directory.
        dir: PathBuf,
    },
    /// The passages of pages could not be encoded. The pages are found by their words.
    #[error("the passages of pages could not be encoded")]
    Encoder {
        /// Error of the encoder.
        source: EncodeError,
    },
    /// Tantivy failed, for example because of damaged files.
    #[error("the index in {} could not be read", dir.display())]
    Engine {
        /// The index directory.
        dir: PathBuf,
        /// Error of tantivy.
        source: tantivy::TantivyError,
    },
}
