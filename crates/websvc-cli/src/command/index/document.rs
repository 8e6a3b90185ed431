//! Conversion of documents other than web pages to HTML, by the document workers of the service.

use std::time::{Duration, Instant};

use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadError, ReadOptions};

use super::item::{ReadFailure, SkipReason};
use crate::app::document_workers;

/// Time limit for one document.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Converts a document to an HTML page. It blocks, so it must not be called on an async thread.
pub(super) fn to_html(kind: DocumentKind, bytes: Vec<u8>) -> Result<String, ReadFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ReadFailure::broken(&error))?;
    let reader = DocumentReader::new(document_workers());
    let options = ReadOptions::default();
    let conversion = reader.read_page(kind, bytes.into(), &options, Instant::now() + TIMEOUT);
    runtime.block_on(conversion).map_err(|error| match error {
        ReadError::NoWorkers => ReadFailure::new(SkipReason::Unsupported, error.to_string()),
        error => ReadFailure::broken(&error),
    })
}
