//! Documents that are no web pages: read by a worker process with hard limits, and by Tesseract where that is asked.
//!
//! Third-party readers of hostile files may crash, hang or eat memory; none of that may reach the service. So each
//! document is read by a process of its own (this program once more), which limits itself before it reads a byte,
//! and which the parent kills at the deadline.

mod error;
mod ocr;
mod page;
mod protocol;
mod reader;
mod worker;

pub use error::ReadError;
pub use reader::{DocumentReader, DocumentWorkers, ReadMode, ReadOptions};
pub use worker::{WorkerLimits, run_tool, run_worker};

pub(crate) use page::{ConvertedDocument, as_base64, document_kind, options_of};
