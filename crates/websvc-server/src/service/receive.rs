//! Receives the body of a request before the request is admitted. One that arrives slowly takes no permit, only a slot here.

use std::pin::pin;
use std::time::Duration;

use http::Request;
use websvc_transport::{BodyTimeout, FairPermit, FairQueue, FairSemaphore, ServerBody};
use websvc_types::ErrorCode;
use websvc_types::limits::{BODY_OPTIONS_MAX_BYTES, BODY_SHORT_MAX_BYTES};

use super::RequestContext;
use crate::handler::{self, ParseForm};
use crate::response::ApiError;
use crate::route::RequestBody;

/// The maximum number of bodies that are arriving, or that are long and wait for the admission of their requests. One team, or
/// one address without a key, has at most half of them.
const MAX_BODIES: usize = 256;

/// The maximum time that a request waits for a slot: as long as a client may be silent while it sends its body.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The slots of bodies that are arriving.
#[derive(Debug)]
pub(crate) struct BodySlots(FairSemaphore);

/// A request whose body has arrived.
pub(super) struct Arrived {
    pub(super) input: RequestInput,
    /// The slot of a long body, to be dropped when the request is admitted.
    pub(super) slot: Option<FairPermit>,
}

/// The input of a handler.
pub(super) enum RequestInput {
    /// A request with its whole body, if the endpoint reads one.
    Request(Request<ServerBody>),
    /// The form of an endpoint that receives a file.
    Form(ParseForm),
}

impl Default for BodySlots {
    fn default() -> Self {
        Self(FairSemaphore::new(FairQueue::new(MAX_BODIES).with_max_per_key(MAX_BODIES / 2)))
    }
}

impl BodySlots {
    /// Returns the number of slots in use.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.0.in_use()
    }

    /// Receives a body of at most `max_bytes`. Returns its slot if it is long.
    async fn receive(
        &self,
        sender: &str,
        body: &mut ServerBody,
        max_bytes: usize,
    ) -> Result<Option<FairPermit>, ApiError> {
        let mut receiving = pin!(body.receive(max_bytes, BodyTimeout::default()));
        // Most bodies arrive with the head of their request, and need no slot.
        let arrived = tokio::select! {
            biased;
            received = &mut receiving => Some(received?),
            () = std::future::ready(()) => None,
        };
        if arrived.is_some_and(|length| length <= BODY_SHORT_MAX_BYTES) {
            return Ok(None);
        }
        let slot = tokio::time::timeout(MAX_WAIT, self.0.acquire(sender)).await.map_err(|_elapsed| {
            let text = format!(
                "Rate limit exceeded: the bodies of {} requests of one team, or of {MAX_BODIES} requests, are \
                 arriving, retry after 1s",
                MAX_BODIES / 2
            );
            ApiError::new(ErrorCode::RateLimited, text).retry_after(1)
        })?;
        let length = match arrived {
            Some(length) => length,
            None => receiving.await?,
        };
        Ok((length > BODY_SHORT_MAX_BYTES).then_some(slot))
    }
}

/// Receives the body of a request, as its endpoint reads it.
///
/// # Errors
/// 413 for a body that is larger than the endpoint reads, 408 for one that does not arrive in time, 400 for one that ends
/// early, 429 if too many are arriving; and those of a form.
pub(super) async fn receive(
    context: &RequestContext<'_>,
    mut request: Request<ServerBody>,
) -> Result<Arrived, ApiError> {
    let body = match context.endpoint.body {
        RequestBody::Form if handler::declares_json(&request) => {
            RequestBody::Whole { max_bytes: BODY_OPTIONS_MAX_BYTES }
        }
        body => body,
    };
    let slot = match body {
        RequestBody::Whole { max_bytes } => {
            let sender = match &context.caller {
                Some(caller) => caller.team.name.clone(),
                None => context.state.client_ip(&request).to_string(),
            };
            context.state.body_slots.receive(&sender, request.body_mut(), max_bytes).await?
        }
        RequestBody::Form => {
            let form = handler::receive_form(context, request).await?;
            return Ok(Arrived { input: RequestInput::Form(form), slot: None });
        }
        RequestBody::None | RequestBody::File => None,
    };
    Ok(Arrived { input: RequestInput::Request(request), slot })
}
