//! Where crawled pages go: the index of this process, or a server's.

use std::sync::Arc;

use websvc_index::Index;
use websvc_transport::BoxFuture;
use websvc_types::index::IndexDocument;

use crate::ingest::ingest;

/// Why pages could not be handed over. A crawl stops at it: going on would lose pages.
#[derive(Debug, thiserror::Error)]
#[error("the pages could not be added to the index")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The future a sink returns.
pub type SinkFuture<'a> = BoxFuture<'a, Result<(), SinkError>>;

/// Something that takes pages into an index.
pub trait Sink: Send + Sync {
    /// Takes pages; when it returns they will be in the next commit.
    fn accept(&self, copies: Vec<IndexDocument>) -> SinkFuture<'_>;
}

/// The index of this process.
#[derive(Debug)]
pub struct IndexSink(pub Arc<Index>);

impl Sink for IndexSink {
    fn accept(&self, copies: Vec<IndexDocument>) -> SinkFuture<'_> {
        Box::pin(async move { ingest(&self.0, copies).await.map_err(|error| SinkError(Box::new(error))) })
    }
}
