//! The error of reading a document.

use websvc_documents::DocumentError;

/// An error of reading a document. The message is shown to the caller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader rejected the document.
    #[error("{0}")]
    Document(#[source] DocumentError),
    /// The worker did not finish before its deadline.
    #[error("reading the document timed out")]
    Timeout,
    /// The worker ended without a response: it crashed, or reached its limit of memory or processor time.
    #[error("the document exceeds the limits of a document worker: {reason}")]
    WorkerDied {
        /// The limit, or the status with which the worker ended.
        reason: String,
    },
    /// The request requires character recognition, which is not installed.
    #[error(
        "character recognition needs `{program}`, which is not installed (packages tesseract-ocr and poppler-utils)"
    )]
    OcrMissing {
        /// The missing program.
        program: &'static str,
    },
    /// Character recognition failed.
    #[error("character recognition failed: {reason}")]
    Ocr {
        /// The failed program and its exit status.
        reason: String,
    },
    /// No document workers are configured.
    #[error("document parsing is not available in this installation")]
    NoWorkers,
    /// The worker process could not be started.
    #[error("the document worker could not be started")]
    Start(#[source] std::io::Error),
}
