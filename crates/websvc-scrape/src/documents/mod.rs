//! Documents that are not web pages: read by a worker process with hard limits, and by Tesseract if requested.
//!
//! A reader of hostile files may crash, hang or exhaust memory, and none of that may affect the service. So a process
//! of its own reads each document. It runs the same program, limits itself before it reads the first byte, and the
//! service kills it at the deadline.

mod error;
mod ocr;
mod page;
mod protocol;
mod reader;
mod worker;

pub use error::ReadError;
pub use reader::{DocumentReader, DocumentWorkers, ReadMode, ReadOptions};
pub use worker::{WorkerLimits, run_tool, run_worker};

pub(crate) use page::{ConvertedDocument, DocumentPart, document_kind, options_of, part_page};
