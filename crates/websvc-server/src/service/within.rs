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

use super::{Context, Performing, Service};
use crate::authorise::authorise;
use crate::handler;
use crate::reply::Failure;
use crate::trail::Trail;

/// Who asks for what comes within another request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    pub(crate) caller: Option<Caller>,
    /// Where the caller reaches the service; without it, files are in the answers themselves.
    pub(crate) origin: Option<String>,
    pub(crate) address: Option<IpAddr>,
}

/// What can be asked within another request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inner {
    Search,
    Scrape,
    Map,
}

impl Inner {
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
        asker: &Asker,
        inner: Inner,
        body: Bytes,
    ) -> Result<String, Failure> {
        let scope = inner.scope();
        let id = Uuid::now_v7().to_string();
        let span = RequestSpan::within(&id, scope.as_str());
        let trail = self.trail_within(asker, scope, &id);
        let answer = match self.enter(asker, scope, &trail, &id, &span) {
            Ok(context) => span.run(perform(inner, context, asker.origin.clone(), body)).await,
            Err(refused) => Err(refused),
        };
        trail.end_within(&answer);
        answer
    }

    /// Begins the trail of what came within another request.
    fn trail_within(&self, asker: &Asker, scope: KeyScope, id: &str) -> Trail {
        let trail =
            Trail::new(self.parts.audit.as_ref(), Some(scope.as_str()), id, asker.address, Instant::now());
        if let Some(caller) = &asker.caller {
            trail.known(caller);
        }
        trail
    }

    fn enter<'a>(
        &'a self,
        asker: &Asker,
        scope: KeyScope,
        trail: &'a Trail,
        id: &str,
        span: &RequestSpan,
    ) -> Result<Context<'a>, Failure> {
        authorise(asker.caller.as_ref(), scope)?;
        Ok(Context { caller: asker.caller.clone(), ..self.context(trail, id, span.clone()) })
    }
}

/// Does what is asked. The type of the future is left out, as in [`super::perform`].
fn perform(
    inner: Inner,
    context: Context<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Performing<'_, String> {
    Box::pin(dispatch(inner, context, origin, body))
}

async fn dispatch(
    inner: Inner,
    context: Context<'_>,
    origin: Option<String>,
    body: Bytes,
) -> Result<String, Failure> {
    match inner {
        Inner::Search => as_text(&handler::answer_search(context, origin, body).await?),
        Inner::Map => as_text(&handler::answer_map(context, body, read_map).await?),
        Inner::Scrape => {
            let json = handler::answer_scrape(context, origin, body).await?;
            String::from_utf8(json.into())
                .map_err(|error| Failure::internal(&error, "the answer could not be written"))
        }
    }
}

fn as_text<T: Serialize>(answer: &T) -> Result<String, Failure> {
    serde_json::to_string(answer)
        .map_err(|error| Failure::internal(&error, "the answer could not be written"))
}
