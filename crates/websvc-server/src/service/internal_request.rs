//! Requests within other requests, such as the calls of tools: each is a request of its own in the log, in traces and for
//! audit events.

use std::net::IpAddr;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use uuid::Uuid;
use websvc_stage::RequestSpan;
use websvc_store::{Caller, KeyScope};
use websvc_validate::read_map;

use super::{BoxHandlerFuture, RequestContext, Service};
use crate::audit_trail::AuditTrail;
use crate::authorize::authorize;
use crate::handler;
use crate::response::ApiError;

/// Who asks for what comes within another request.
#[derive(Debug, Clone, Default)]
pub(crate) struct InternalCaller {
    pub(crate) caller: Option<Caller>,
    /// Where the caller reaches the service; without it, files are in the answers themselves.
    pub(crate) origin: Option<String>,
    pub(crate) address: Option<IpAddr>,
}

/// What can be asked within another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InternalOperation {
    Search,
    Scrape,
    Map,
}

impl InternalOperation {
    /// Returns the scope that a key has to have; it is named as the operation.
    fn scope(self) -> KeyScope {
        match self {
            Self::Search => KeyScope::Search,
            Self::Scrape => KeyScope::Scrape,
            Self::Map => KeyScope::Map,
        }
    }
}

impl Service {
    /// Answers a request of this asker with JSON: an operation, and its body.
    pub(crate) async fn answer_as(
        &self,
        asker: &InternalCaller,
        inner: InternalOperation,
        body: Bytes,
    ) -> Result<String, ApiError> {
        let scope = inner.scope();
        let id = Uuid::now_v7().to_string();
        let span = RequestSpan::within(&id, scope.as_str());
        let trail = self.trail_within(asker, scope, &id);
        let answer = match self.enter(asker, scope, &trail, &id, &span) {
            Ok(context) => span.run(perform(inner, context, asker.origin.clone(), body)).await,
            Err(refused) => Err(refused),
        };
        trail.end_internal(&answer);
        answer
    }

    /// Begins the trail of what came within another request.
    fn trail_within(&self, asker: &InternalCaller, scope: KeyScope, id: &str) -> AuditTrail {
        let trail = AuditTrail::new(
            self.parts.audit.as_ref(),
            Some(scope.as_str()),
            id,
            asker.address,
            Instant::now(),
        );
        if let Some(caller) = &asker.caller {
            trail.set_caller(caller);
        }
        trail
    }

    fn enter<'a>(
        &'a self,
        asker: &InternalCaller,
        scope: KeyScope,
        trail: &'a AuditTrail,
        id: &str,
        span: &RequestSpan,
    ) -> Result<RequestContext<'a>, ApiError> {
        authorize(asker.caller.as_ref(), scope)?;
        Ok(RequestContext { caller: asker.caller.clone(), ..self.context(trail, id, span.clone()) })
    }
}

/// Does what is asked. The type of the future is left out, as in [`super::perform`].
fn perform(
    inner: InternalOperation,
    context: RequestContext<'_>,
    origin: Option<String>,
    body: Bytes,
) -> BoxHandlerFuture<'_, String> {
    Box::pin(dispatch(inner, context, origin, body))
}

async fn dispatch(
    inner: InternalOperation,
    context: RequestContext<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Result<String, ApiError> {
    match inner {
        InternalOperation::Search => as_text(&handler::answer_search(context, origin, body).await?),
        InternalOperation::Map => as_text(&handler::answer_map(context, body, read_map).await?),
        InternalOperation::Scrape => {
            let json = handler::answer_scrape(context, origin, body).await?;
            String::from_utf8(json.into())
                .map_err(|error| ApiError::internal(&error, "the answer could not be written"))
        }
    }
}

fn as_text<T: Serialize>(answer: &T) -> Result<String, ApiError> {
    serde_json::to_string(answer)
        .map_err(|error| ApiError::internal(&error, "the answer could not be written"))
}
