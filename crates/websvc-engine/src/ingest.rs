//! From a scraped page to the index.

use std::sync::Arc;

use jiff::Timestamp;
use websvc_index::{Document, Index, IndexError};
use websvc_scrape::IndexCopy;

/// Why pages did not reach the index.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The index refused or failed.
    #[error("the index failed")]
    Index(#[from] IndexError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// Adds pages to the index, off the async threads: the index makes the caller wait when its queue is full.
///
/// # Errors
/// [`IngestError`]
pub async fn ingest(index: &Arc<Index>, copies: Vec<IndexCopy>) -> Result<(), IngestError> {
    let index = Arc::clone(index);
    let now = Timestamp::now();
    let adding = tokio::task::spawn_blocking(move || {
        copies.into_iter().try_for_each(|copy| index.add(to_index_document(copy, now)))
    });
    adding.await.map_err(|_stopping| IngestError::Stopping)?.map_err(IngestError::Index)
}

/// Returns the page as the index takes it; `now` stands in for a date that the page does not name.
fn to_index_document(copy: IndexCopy, now: Timestamp) -> Document {
    let IndexCopy { url, title, headings, body, description, language, published, modified, content_type } =
        copy;
    Document {
        url,
        title,
        headings,
        body,
        description,
        language,
        published: published.as_deref().and_then(date),
        modified: modified.as_deref().and_then(date),
        seen: Some(now),
        content_type,
    }
}

/// Reads a date as pages write them: RFC 3339, else a civil date at midnight UTC.
fn date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse::<Timestamp>().ok().or_else(|| {
        let day: jiff::civil::Date = text.get(..10)?.parse().ok()?;
        day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })
}
