//! The embedded index over HTTP, for the command line beside a running server.

use http::{Request, StatusCode};
use url::Url;
use websvc_engine::ingest;
use websvc_transport::ServerBody;
use websvc_types::index::{IndexDocument, IndexReply, IndexStats, IndexUpload};
use websvc_types::{ErrorCode, Violation, ViolationCode};

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// `POST /v2/index/documents`: adds documents, each replacing the older one of its URL.
pub(crate) async fn add_documents(
    context: Context<'_>,
    request: Request<ServerBody>,
) -> Result<Reply, Failure> {
    let body = body::read(request).await?;
    let decoding = context.admission.decode(body.len()).await;
    let upload: IndexUpload = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
    drop((decoding, body));
    let violations: Vec<Violation> =
        upload.documents.iter().enumerate().filter_map(|(at, document)| violation(at, document)).collect();
    if !violations.is_empty() {
        return Err(Failure::invalid(ErrorCode::BadRequest, violations));
    }
    let index = context.engine.index().ok_or_else(no_index)?;
    let accepted = upload.documents.len();
    ingest(index, upload.documents)
        .await
        .map_err(|error| Failure::internal(&error, "the documents could not be added"))?;
    Ok(json(StatusCode::OK, &IndexReply { success: true, accepted }))
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

fn unreadable(error: &serde_json::Error) -> Failure {
    if error.is_data() {
        let violation = Violation {
            path: String::new(),
            code: ViolationCode::InvalidType,
            message: format!("not a list of documents: {error}"),
        };
        return Failure::invalid(ErrorCode::BadRequest, vec![violation]);
    }
    Failure::new(ErrorCode::BadRequestInvalidJson, format!("Bad request, malformed JSON: {error}"))
}

/// Returns what is wrong with a document, if anything is.
fn violation(at: usize, document: &IndexDocument) -> Option<Violation> {
    if is_address(&document.url) {
        return None;
    }
    Some(Violation {
        path: format!("/documents/{at}/url"),
        code: ViolationCode::InvalidFormat,
        message: format!("url must be an absolute URL with a host, not {:?}", document.url),
    })
}

/// Tells whether the index can take a document of this URL. Were it left to the index, the documents before the
/// mistaken one would be in it already.
fn is_address(url: &str) -> bool {
    let schemes = ["http://", "https://", "file://"];
    schemes.iter().any(|scheme| url.starts_with(scheme)) && Url::parse(url).is_ok_and(|url| url.has_host())
}
