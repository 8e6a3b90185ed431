//! Adds scraped pages and uploaded documents to the index.

use std::sync::Arc;

use jiff::Timestamp;
use websvc_index::{Document, Image, Index, IndexError, Link, News};
use websvc_scrape::{Page, date, remove_credentials};
use websvc_stage::in_current_span;
use websvc_store::PageOwner;
use websvc_transport::spawn_blocking;
use websvc_types::index::{IndexDocument, IndexImage, IndexLink, IndexNews};

/// Pages could not be added to the index.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The index rejected the pages or failed.
    #[error("writing to the index failed")]
    Index(#[from] IndexError),
    /// The service is stopping.
    #[error("the service is stopping")]
    Stopping,
}

/// A page for an index.
#[derive(Debug, Clone)]
pub struct IndexCopy {
    /// The page as it is indexed.
    pub document: IndexDocument,
    /// The time at which it was fetched, in milliseconds since the Unix epoch. An index on a server has the page that was
    /// fetched last.
    pub fetched_at_ms: u64,
    /// The team that owns the page; `None` for a page of all teams.
    pub owner: Option<PageOwner>,
}

impl IndexCopy {
    /// Takes the document for the index from a page.
    pub(crate) fn take(page: &mut Page) -> Option<Self> {
        let document = *page.index_copy.take()?;
        Some(Self { document, fetched_at_ms: page.fetched_at_ms, owner: None })
    }
}

/// The result of adding pages to the indexes of a service.
#[derive(Debug, Default)]
pub struct IndexingOutcome {
    /// Warnings for the caller.
    pub warnings: Vec<String>,
    /// The reason why pages are missing in an index.
    pub failure: Option<IndexingFailure>,
}

/// A reason why pages are missing in an index, the least serious first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexingFailure {
    /// The index, or the outbox of a server, accepts no pages.
    Refused,
    /// The database of the outbox failed. Work whose result is stored there must not be acknowledged.
    Database,
}

impl IndexingOutcome {
    pub(crate) fn add(&mut self, other: Self) {
        self.warnings.extend(other.warnings);
        self.failure = self.failure.max(other.failure);
    }
}

/// Adds pages to the index on a blocking thread, because the index makes the caller wait when its queue is full. They
/// survive the end of the process, but not a power failure. They can be fetched again.
///
/// # Errors
/// [`IngestError`]
pub async fn ingest(index: &Arc<Index>, documents: Vec<IndexDocument>) -> Result<(), IngestError> {
    add(index, documents, |_| Ok(())).await
}

/// Adds documents as [`ingest`] does, and waits until they would survive a power failure.
///
/// # Errors
/// [`IngestError`]
pub async fn ingest_durably(index: &Arc<Index>, documents: Vec<IndexDocument>) -> Result<(), IngestError> {
    add(index, documents, Index::sync).await
}

async fn add(
    index: &Arc<Index>,
    documents: Vec<IndexDocument>,
    finish: fn(&Index) -> Result<(), IndexError>,
) -> Result<(), IngestError> {
    let index = Arc::clone(index);
    let now = Timestamp::now();
    let task = spawn_blocking(in_current_span(move || {
        documents.into_iter().try_for_each(|document| index.add(to_index_document(document, now)))?;
        finish(&index)
    }));
    task.await.map_err(|_shutdown| IngestError::Stopping)?.map_err(IngestError::Index)
}

/// Converts a page to a document of the index. `now` is stored as the time it was seen.
pub(crate) fn to_index_document(mut document: IndexDocument, now: Timestamp) -> Document {
    remove_credentials(&mut document);
    let IndexDocument {
        url,
        title,
        headings,
        body,
        description,
        language,
        published,
        modified,
        content_type,
        country,
        explicit,
        images,
        links,
        news,
    } = document;
    Document {
        url,
        title,
        headings,
        body,
        description,
        language,
        published: published.as_deref().and_then(date::read),
        modified: modified.as_deref().and_then(date::read),
        seen: Some(now),
        content_type,
        country,
        explicit,
        images: images.into_iter().map(to_index_image).collect(),
        links: links.into_iter().map(|IndexLink { url, text }| Link { url, text }).collect(),
        news: news.map(|IndexNews { image_url }| News { image_url }),
    }
}

fn to_index_image(image: IndexImage) -> Image {
    let IndexImage { url, alt, caption, context, width, height } = image;
    Image { url, alt, caption, context, width, height }
}
