//! Requests that another request or program makes inside the process, such as MCP tool calls. Each is a request of its
//! own in the log, in traces and in audit events.

use std::net::IpAddr;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use uuid::Uuid;
use websvc_stage::RequestSpan;
use websvc_store::{Caller, KeyScope};
use websvc_validate::read_map;

use super::dispatch::BoxHandlerFuture;
use super::{RequestContext, Service};
use crate::audit_trail::{AuditOutcome, AuditTrail};
use crate::authorize::authorize;
use crate::handler;
use crate::response::ApiError;

/// The caller of internal requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct InternalCaller {
    pub(crate) caller: Option<Caller>,
    /// The base URL under which the caller reaches the service; without it, responses contain files inline.
    pub(crate) base_url: Option<String>,
    pub(crate) address: Option<IpAddr>,
}

/// An operation that internal requests may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InternalOperation {
    Search,
    Scrape,
    Map,
}

impl InternalOperation {
    /// Returns the scope that a key needs; the operation has the same name.
    fn scope(self) -> KeyScope {
        match self {
            Self::Search => KeyScope::Search,
            Self::Scrape => KeyScope::Scrape,
            Self::Map => KeyScope::Map,
        }
    }
}

impl Service {
    /// Handles an internal request, and returns the response as JSON.
    pub(crate) async fn handle_internal(
        &self,
        caller: &InternalCaller,
        operation: InternalOperation,
        body: Bytes,
    ) -> Result<String, ApiError> {
        let scope = operation.scope();
        let id = Uuid::now_v7().to_string();
        let span = RequestSpan::within(&id, scope.as_str());
        let trail = self.internal_trail(caller, scope, &id);
        let result = match authorize(caller.caller.as_ref(), scope) {
            Ok(()) => {
                let mut context = RequestContext::new(&self.state, &trail, &id, span.clone());
                context.caller.clone_from(&caller.caller);
                span.run(perform(operation, context, caller.base_url.clone(), body)).await
            }
            Err(error) => Err(error),
        };
        trail.end(AuditOutcome::of_internal(&result));
        result
    }

    /// Begins the audit trail of an internal request.
    fn internal_trail(&self, caller: &InternalCaller, scope: KeyScope, id: &str) -> AuditTrail {
        let trail = AuditTrail::new(
            self.state.audit.as_ref(),
            Some(scope.as_str()),
            id,
            caller.address,
            Instant::now(),
        );
        if let Some(caller) = &caller.caller {
            trail.set_caller(caller);
        }
        trail
    }
}

/// Runs an operation. The future is boxed, as in [`super::dispatch::perform`].
fn perform(
    operation: InternalOperation,
    context: RequestContext<'_>,
    base_url: Option<String>,
    body: Bytes,
) -> BoxHandlerFuture<'_, String> {
    Box::pin(dispatch(operation, context, base_url, body))
}

async fn dispatch(
    operation: InternalOperation,
    context: RequestContext<'_>,
    base_url: Option<String>,
    body: Bytes,
) -> Result<String, ApiError> {
    match operation {
        InternalOperation::Search => to_json(&handler::respond_to_search(context, base_url, body).await?),
        InternalOperation::Map => to_json(&handler::respond_to_map(context, body, read_map).await?),
        InternalOperation::Scrape => {
            let json = handler::respond_to_scrape(context, base_url, body).await?;
            String::from_utf8(json.into())
                .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
        }
    }
}

fn to_json<T: Serialize>(response: &T) -> Result<String, ApiError> {
    serde_json::to_string(response)
        .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
}
