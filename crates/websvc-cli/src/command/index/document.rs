//! Documents that are no web pages, as pages: read by the workers that the service uses too.

use std::time::{Duration, Instant};

use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadError, ReadOptions};

use super::item::{Fault, Why};
use crate::installation::document_workers;

/// A document may take so long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns a document as an HTML page. It blocks; call it off the async threads.
pub(super) fn as_page(kind: DocumentKind, bytes: Vec<u8>) -> Result<String, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Fault::broken(&error))?;
    let reader = DocumentReader::new(document_workers());
    let options = ReadOptions::default();
    let reading = reader.read_page(kind, bytes.into(), &options, Instant::now() + TIMEOUT);
    runtime.block_on(reading).map_err(|error| match error {
        ReadError::NoWorkers => Fault::new(Why::Unsupported, error.to_string()),
        error => Fault::broken(&error),
    })
}
