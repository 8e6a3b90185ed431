//! Documents that are no web pages, as pages: read by the workers that the service uses too.

use std::time::{Duration, Instant};

use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadError, ReadOptions};

use super::item::{ReadFailure, SkipReason};
use crate::app::document_workers;

/// A document may take so long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a document as an HTML page. It blocks; call it off the async threads.
pub(super) fn as_page(kind: DocumentKind, bytes: Vec<u8>) -> Result<String, ReadFailure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ReadFailure::broken(&error))?;
    let reader = DocumentReader::new(document_workers());
    let options = ReadOptions::default();
    let reading = reader.read_page(kind, bytes.into(), &options, Instant::now() + TIMEOUT);
    runtime.block_on(reading).map_err(|error| match error {
        ReadError::NoWorkers => ReadFailure::new(SkipReason::Unsupported, error.to_string()),
        error => ReadFailure::broken(&error),
    })
}
