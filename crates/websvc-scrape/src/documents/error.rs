//! Why a document gave no text.

use websvc_documents::DocumentError;

/// Why a document gave no text. The messages are what the caller may see.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader says why.
    #[error("{0}")]
    Document(#[source] DocumentError),
    /// The worker was not done within its time.
    #[error("the document could not be read within its time")]
    Timeout,
    /// The worker ended without an answer: it crashed, or a limit of its memory or time was reached.
    #[error("the document exceeds what a worker may use: {reason}")]
    WorkerDied {
        /// How it ended.
        reason: String,
    },
    /// Character recognition was asked for and is not installed.
    #[error(
        "character recognition needs `{program}`, which is not installed (packages tesseract-ocr and poppler-utils)"
    )]
    OcrMissing {
        /// The program that is not there.
        program: &'static str,
    },
    /// Character recognition failed.
    #[error("character recognition failed: {reason}")]
    Ocr {
        /// Output of the worker.
        reason: String,
    },
    /// This installation runs no workers.
    #[error("documents are not read by this installation")]
    NoWorkers,
    /// A worker could not be started.
    #[error("a worker for the document could not be started")]
    Start(#[source] std::io::Error),
}
