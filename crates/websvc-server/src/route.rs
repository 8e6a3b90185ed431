//! Stage 2, route: finds the endpoint of a method and a path.

mod body;
mod endpoint;
mod group;
mod path;

use http::Method;
use websvc_types::ErrorCode;

use crate::response::ApiError;
use crate::{adapter, dashboard, handler, mcp, not_offered, oauth};
pub(crate) use body::RequestBody;
pub(crate) use endpoint::{AccessLevel, Endpoint, Handler, HandlerFuture, handler};
pub(crate) use group::OperationGroup;
pub(crate) use path::normalize;

/// The endpoints of the service, by the file of their handlers. Only the order within a table matters to clients: it is
/// that of the methods in `Allow`.
static TABLES: &[&[Endpoint]] = &[
    handler::SEARCH,
    handler::MAP,
    handler::SCRAPE,
    handler::PARSE,
    handler::JOBS,
    handler::JOBS_V1,
    handler::CRAWL_PARAMS,
    handler::MONITOR,
    handler::MONITOR_CHANNEL,
    handler::MONITOR_EMAIL,
    handler::BROWSER,
    handler::AGENT,
    handler::EXTRACT,
    handler::WEBHOOK,
    handler::INDEX,
    handler::USAGE,
    handler::ACTIVITY,
    handler::TEAM,
    handler::KEY,
    handler::FEEDBACK,
    handler::STATUS,
    handler::METRICS,
    handler::DOCS,
    handler::ARTIFACT,
    adapter::V1,
    adapter::V1_USAGE,
    adapter::LLMS_TXT,
    adapter::RERANK,
    adapter::SEARXNG,
    adapter::EXTERNAL,
    mcp::ENDPOINTS,
    oauth::ENDPOINTS,
    dashboard::ENDPOINTS,
];

/// Returns every endpoint of the service.
pub(crate) fn endpoints() -> impl Iterator<Item = &'static Endpoint> {
    TABLES.iter().copied().flatten()
}

/// Returns the endpoint of a request. Double and trailing slashes are ignored: clients create them from base URLs with a
/// trailing slash.
///
/// # Errors
/// 404 for an unknown path, 405 for a known one with another method.
pub(crate) fn find(method: &Method, path: &str) -> Result<&'static Endpoint, ApiError> {
    let path = normalize(path);
    let method_or_get = if method == Method::HEAD { &Method::GET } else { method };
    // A literal path has precedence over patterns: `/v2/crawl/active` is not the job with the id `active`.
    let is_literal = endpoints().any(|endpoint| endpoint.path == path);
    let mut allowed = Vec::new();
    for endpoint in endpoints()
        .filter(|endpoint| if is_literal { endpoint.path == path } else { endpoint.matches(&path) })
    {
        if endpoint.method == *method_or_get {
            return Ok(endpoint);
        }
        allowed.push(endpoint.method.as_str());
    }
    if allowed.is_empty() {
        if let Some(text) = not_offered::version_0(&path) {
            return Err(ApiError::new(ErrorCode::Gone, text));
        }
        let reason = match not_offered::operation(&path) {
            Some(operation) => format!(": {}", not_offered::explain(operation)),
            None => String::new(),
        };
        return Err(ApiError::new(ErrorCode::NotFound, format!("Not found: {method} {path}{reason}")));
    }
    Err(ApiError::method_not_allowed(&allowed.join(", ")))
}

#[cfg(test)]
mod tests;
