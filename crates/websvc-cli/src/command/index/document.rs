//! Conversion of documents other than web pages to HTML, by the document workers of the service.

use std::time::{Duration, Instant};

use url::Url;
use websvc::types::index::IndexDocument;
use websvc_documents::DocumentKind;
use websvc_scrape::{DocumentReader, ReadError, ReadOptions};

use super::item::{ReadFailure, SkipReason};
use super::page::{Origin, page};
use crate::app::document_workers;

/// Time limit for one document.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Converts a document other than a web page. It blocks, so it must not be called on an async thread.
pub(super) fn page_of_document(
    url: &Url,
    kind: DocumentKind,
    bytes: Vec<u8>,
    origin: Origin<'_>,
) -> Result<Box<IndexDocument>, ReadFailure> {
    let html = to_html(kind, bytes)?;
    let mut page = page(url, html.as_bytes(), "text/html; charset=utf-8", origin)?;
    page.content_type = Some(kind.media_type().to_owned());
    Ok(page)
}

/// Converts a document to an HTML page. It blocks.
fn to_html(kind: DocumentKind, bytes: Vec<u8>) -> Result<String, ReadFailure> {
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
