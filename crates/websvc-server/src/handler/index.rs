//! The embedded index over HTTP, for the command line beside a running server.

use http::{Request, StatusCode};
use websvc_engine::ingest;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::index::{IndexReply, IndexStats};
use websvc_validate::{Checked, read_index_upload};

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// `POST /v2/index/documents`: adds documents, each replacing the older one of its URL.
pub(crate) async fn add_documents(
    context: Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
    let body = body::read(request).await?;
    let Checked { plan: upload, warnings } = context.admission.decode(body, read_index_upload).await?;
    let index = context.engine.index().ok_or_else(no_index)?;
    let accepted = upload.documents.len();
    let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
    ingest(index, upload.documents)
        .await
        .map_err(|error| Failure::internal(&error, "the documents could not be added"))?;
    Ok(json(StatusCode::OK, &IndexReply { success: true, accepted, warning }))
}

/// `GET /v2/index/stats`.
pub(crate) fn index_stats(context: &Context<'_>) -> Result<Reply, Failure> {
    let index = context.engine.index().ok_or_else(no_index)?;
    let stats = index.stats().map_err(|error| Failure::internal(&error, "the index could not be read"))?;
    let stats = IndexStats {
        success: true,
        documents: stats.documents,
        bytes: stats.bytes,
        segments: stats.segments as u64,
    };
    Ok(json(StatusCode::OK, &stats))
}

fn no_index() -> Failure {
    Failure::new(ErrorCode::SearchUnavailable, "this service has no index of its own")
}
