//! Rules of rerank requests.

use websvc_types::limits::{QUERY_RERANK_MAX_CHARS, RERANK_DOCUMENTS_MAX, RERANK_DOCUMENTS_MIN};
use websvc_types::rerank::RerankRequest;

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

/// Checks a request, and returns it.
pub(crate) fn check(report: &mut Report, request: RerankRequest) -> RerankRequest {
    let query = Path::Root.key("query");
    if bounds::not_blank(report, &query, &request.query) {
        bounds::chars(report, &query, &request.query, 1, QUERY_RERANK_MAX_CHARS);
    }
    let documents = Path::Root.key("documents");
    if !report.has(&documents) {
        let count = request.documents.len();
        bounds::number(report, &documents, count, RERANK_DOCUMENTS_MIN, RERANK_DOCUMENTS_MAX);
    }
    request
}
