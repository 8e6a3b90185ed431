//! The sink that uploads the documents of an import to a server.

use anyhow::Result;
use websvc::Client;
use websvc::types::index::{IndexDocument, IndexUploadRequest, IndexUploadResponse};
use websvc::types::limits::INDEX_DOCUMENTS_MAX;
use websvc_engine::crawl::{Sink, SinkError, SinkFuture};

use crate::output;

/// Size of the text from which an upload is sent, in bytes. It is well below the maximum size of a request body.
const UPLOAD_BYTES: usize = 2 * 1024 * 1024;

/// A sink that writes to the index of a server.
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
            if bytes >= UPLOAD_BYTES || upload.documents.len() == INDEX_DOCUMENTS_MAX {
                print_warning(self.0.add_documents(&std::mem::take(&mut upload)).await?);
                bytes = 0;
            }
        }
        if !upload.documents.is_empty() {
            print_warning(self.0.add_documents(&upload).await?);
        }
        Ok(())
    }
}

/// Prints the warning of a response, if there is one.
fn print_warning(response: IndexUploadResponse) {
    if let Some(warning) = response.warning {
        output::warn(&warning);
    }
}
