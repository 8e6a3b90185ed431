//! Destination of the pages of a crawl or an import: the index of the data directory, or a server.

use anyhow::Result;
use websvc::Client;
use websvc::types::index::{IndexDocument, IndexUploadRequest, IndexUploadResponse};
use websvc_engine::crawl::{Sink, SinkError, SinkFuture};

use crate::output;

/// Documents of one upload have at most this much text, so that it stays well below the largest request body.
const UPLOAD_BYTES: usize = 2 * 1024 * 1024;

/// A server's index.
#[derive(Debug)]
pub(super) struct ServerSink(pub(super) Client);

impl Sink for ServerSink {
    fn accept(&self, documents: Vec<IndexDocument>) -> SinkFuture<'_> {
        Box::pin(async move { self.upload(documents).await.map_err(|error| SinkError(error.into())) })
    }
}

impl ServerSink {
    async fn upload(&self, documents: Vec<IndexDocument>) -> Result<()> {
        let mut upload = IndexUploadRequest::default();
        let mut bytes = 0;
        for document in documents {
            bytes += document.body.len();
            upload.documents.push(document);
            if bytes >= UPLOAD_BYTES {
                tell(self.0.add_documents(&std::mem::take(&mut upload)).await?);
                bytes = 0;
            }
        }
        if !upload.documents.is_empty() {
            tell(self.0.add_documents(&upload).await?);
        }
        Ok(())
    }
}

/// Tells what the server says beside yes.
fn tell(reply: IndexUploadResponse) {
    if let Some(warning) = reply.warning {
        output::note(&format!("warning: {warning}"));
    }
}
