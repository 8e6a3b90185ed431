//! The destination of crawled pages: the index of this process or that of a server.

use std::sync::Arc;

use websvc_index::Index;
use websvc_transport::BoxFuture;
use websvc_types::index::IndexDocument;

use crate::ingest::ingest;

/// Pages could not be added to the index. The crawl stops, because continuing would lose pages.
#[derive(Debug, thiserror::Error)]
#[error("the pages could not be added to the index")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The future a sink returns.
pub type SinkFuture<'a> = BoxFuture<'a, Result<(), SinkError>>;

/// A destination of crawled pages.
pub trait Sink: Send + Sync {
    /// Adds pages to an index. When it returns, the pages will be part of the next commit.
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_>;
}

/// The sink that adds pages to the index of this process.
#[derive(Debug)]
pub struct IndexSink(pub Arc<Index>);

impl Sink for IndexSink {
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_> {
        Box::pin(async move { ingest(&self.0, documents).await.map_err(|error| SinkError(Box::new(error))) })
    }
}
