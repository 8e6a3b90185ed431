//! Requests that another request or program makes inside the process, such as MCP tool calls. Each is a request of its
//! own in the log, in traces and in audit events.

use std::net::IpAddr;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use uuid::Uuid;
use websvc_stage::RequestSpan;
use websvc_store::{ApiVersion, Caller};
use websvc_validate::read_map;

use super::dispatch::BoxHandlerFuture;
use super::{RequestContext, Service};
use crate::audit_trail::{AuditOutcome, AuditTrail};
use crate::authorize::authorize_operation;
use crate::handler::{
    self, AgentCall, AgentOperation, BrowserOperation, BrowserRequest, MonitorOperation, MonitorRequest,
};
use crate::response::ApiError;
use crate::route::Operation;

/// The caller of internal requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct InternalCaller {
    pub(crate) caller: Option<Caller>,
    /// The base URL under which the caller reaches the service; without it, responses contain files inline.
    pub(crate) base_url: Option<String>,
    pub(crate) address: Option<IpAddr>,
}

/// An operation inside the process, with its input.
#[derive(Debug)]
pub(crate) enum InternalRequest {
    /// With the body of a search.
    Search(Bytes),
    /// With the body of a scrape.
    Scrape(Bytes),
    /// With the body of a map.
    Map(Bytes),
    /// An operation on monitors; the base URL is that of the caller.
    Monitor(MonitorOperation, Box<MonitorRequest>),
    /// An operation on browser sessions; the base URL is that of the caller.
    Browser(BrowserOperation, Box<BrowserRequest>),
    /// An operation on agent runs; the base URL is that of the caller.
    Agent(AgentOperation, Box<AgentCall>),
}

impl InternalRequest {
    /// Returns the operation of the same request over HTTP.
    fn operation(&self) -> Operation {
        match self {
            Self::Search(_) => Operation::Search,
            Self::Scrape(_) => Operation::Scrape,
            Self::Map(_) => Operation::Map,
            Self::Monitor(operation, _) => Operation::Monitor(*operation),
            Self::Browser(operation, _) => Operation::Browser(*operation),
            Self::Agent(operation, _) => Operation::Agent(*operation),
        }
    }
}

impl Service {
    /// Handles an internal request, and returns the response as JSON.
    pub(crate) async fn handle_internal(
        &self,
        caller: &InternalCaller,
        request: InternalRequest,
    ) -> Result<String, ApiError> {
        let id = Uuid::now_v7().to_string();
        let operation = request.operation();
        let span = RequestSpan::within(&id, operation.name().unwrap_or_default());
        let trail = self.internal_trail(caller, operation, &id);
        let result = match authorize_operation(caller.caller.as_ref(), operation) {
            Ok(()) => {
                let mut context = RequestContext::new(&self.state, &trail, &id, span.clone(), ApiVersion::V2);
                context.caller.clone_from(&caller.caller);
                span.run(perform(request, context, caller.base_url.clone())).await
            }
            Err(error) => Err(error),
        };
        trail.end(AuditOutcome::of_internal(&result));
        result
    }

    /// Begins the audit trail of an internal request.
    fn internal_trail(&self, caller: &InternalCaller, operation: Operation, id: &str) -> AuditTrail {
        let (audit, started) = (self.state.audit.as_ref(), Instant::now());
        let trail = AuditTrail::new(audit, operation.name(), id, caller.address, started);
        if let Some(caller) = &caller.caller {
            trail.set_caller(caller);
        }
        trail
    }
}

/// Runs an operation. The future is boxed, as in [`super::dispatch::perform`].
fn perform(
    request: InternalRequest,
    context: RequestContext<'_>,
    base_url: Option<String>,
) -> BoxHandlerFuture<'_, String> {
    Box::pin(dispatch(request, context, base_url))
}

async fn dispatch(
    request: InternalRequest,
    context: RequestContext<'_>,
    base_url: Option<String>,
) -> Result<String, ApiError> {
    match request {
        InternalRequest::Search(body) => to_json(&handler::respond_to_search(context, base_url, body).await?),
        InternalRequest::Map(body) => to_json(&handler::respond_to_map(context, body, read_map).await?),
        InternalRequest::Scrape(body) => to_text(handler::respond_to_scrape(context, base_url, body).await?),
        InternalRequest::Monitor(operation, request) => {
            let request = MonitorRequest { base_url, ..*request };
            let response = handler::respond_to_monitor(operation, &context, request).await?;
            to_text(response.body().bytes().cloned().unwrap_or_default())
        }
        InternalRequest::Browser(operation, request) => {
            let request = BrowserRequest { base_url, ..*request };
            let response = handler::respond_to_browser(operation, &context, request).await?;
            to_text(response.body().bytes().cloned().unwrap_or_default())
        }
        InternalRequest::Agent(operation, call) => {
            let call = AgentCall { base_url, ..*call };
            let response = handler::respond_to_agent(operation, &context, call).await?;
            to_text(response.body().bytes().cloned().unwrap_or_default())
        }
    }
}

fn to_text(json: Bytes) -> Result<String, ApiError> {
    String::from_utf8(json.into())
        .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
}

fn to_json<T: Serialize>(response: &T) -> Result<String, ApiError> {
    serde_json::to_string(response)
        .map_err(|error| ApiError::internal(&error, "the response could not be serialized"))
}
