//! A request for an operation on browser sessions, of an HTTP client or of an MCP tool.

use bytes::Bytes;
use http::Request;
use websvc_transport::ServerBody;

use super::{BrowserOperation, forward};
use crate::forwarding::Origin;
use crate::handler;
use crate::response::ApiError;
use crate::service::RequestContext;

/// A request for an operation on sessions. The operations use the fields that they need.
#[derive(Debug, Clone, Default)]
pub(crate) struct BrowserRequest {
    /// The base URL under which the caller reaches the service, for links.
    pub(crate) base_url: Option<String>,
    /// Path, whose third segment is the ID of the session or of the scrape, not yet checked.
    pub(crate) path: String,
    /// Query string.
    pub(crate) query: Option<String>,
    /// Body.
    pub(crate) body: Bytes,
    /// Parts of the HTTP request that other replicas need; `None` for a request that came from one, and for an MCP tool.
    pub(crate) origin: Option<Origin>,
}

impl BrowserRequest {
    /// Reads an HTTP request; its body only for the operations that have one.
    ///
    /// # Errors
    /// 415 for a body of another media type.
    pub(super) fn read(
        context: &RequestContext<'_>,
        operation: BrowserOperation,
        request: Request<ServerBody>,
    ) -> Result<Self, ApiError> {
        let base_url = context.state.base_url(&request);
        let path = request.uri().path().to_owned();
        let query = request.uri().query().map(str::to_owned);
        let origin = forward::origin(context, &request);
        let body = match operation {
            BrowserOperation::Create | BrowserOperation::Execute | BrowserOperation::Interact => {
                handler::read_body(request)?
            }
            BrowserOperation::List
            | BrowserOperation::End
            | BrowserOperation::EndInteract
            | BrowserOperation::Cdp
            | BrowserOperation::Live => Bytes::new(),
        };
        Ok(Self { base_url, path, query, body, origin })
    }
}
