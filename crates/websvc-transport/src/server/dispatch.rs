//! From hyper's request to the handler and back: what surrounds every call of a handler.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT, HOST, HeaderValue};
use http::request::Parts;
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};

use super::ServerConfig;
use super::activity::Activity;
use super::body::{Leftover, ServerBody};
use crate::body::{Aborted, Body};

/// An unread body up to this size is read before the answer, which saves the connection.
const SMALL_BODY: u64 = 64 * 1024;
/// How long that may take.
const SMALL_BODY_TIME: Duration = Duration::from_millis(500);

/// What the requests of one connection share.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) peer: SocketAddr,
    pub(super) activity: Activity,
    pub(super) config: Arc<ServerConfig>,
}

/// A request in flight; it ends when this is dropped, which is after its body was handed to the connection.
#[derive(Debug)]
struct InFlight(Arc<Origin>);

impl InFlight {
    fn begin(origin: &Arc<Origin>) -> Self {
        origin.activity.request_begins();
        Self(Arc::clone(origin))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.activity.request_ends();
    }
}

/// A body on its way out; holds the request in flight until the connection has taken all of it.
#[derive(Debug)]
pub(super) struct Outgoing {
    body: Body,
    _in_flight: InFlight,
}

/// Calls the handler for one request.
pub(super) fn dispatch<H, F>(
    handler: H,
    origin: &Arc<Origin>,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<Outgoing>, Infallible>> + Send + use<H, F>
where
    H: Fn(Request<ServerBody>) -> F + Send,
    F: Future<Output = Response<Body>> + Send,
{
    let in_flight = InFlight::begin(origin);
    async move {
        let config = &in_flight.0.config;
        let (parts, incoming) = request.into_parts();
        if parts.version == Version::HTTP_11 && !parts.headers.contains_key(HOST) {
            // RFC 9112, section 3.2.
            let body = config.reply(StatusCode::BAD_REQUEST);
            return Ok(body.map(|body| Outgoing { body, _in_flight: in_flight }));
        }
        let unread = Unread::of(&parts, &incoming);
        let (body, leftover) = ServerBody::new(incoming, in_flight.0.peer);
        let request = Request::from_parts(parts, body);
        let outcome = Caught(pin!(async move { handler(request).await })).await;
        let mut response = outcome.unwrap_or_else(|panic| {
            tracing::error!(panic = message(&*panic), "a handler panicked");
            config.reply(StatusCode::INTERNAL_SERVER_ERROR)
        });
        if let Some(leftover) = leftover {
            settle(&leftover, &unread, &in_flight.0.activity, &mut response).await;
        }
        Ok(response.map(|body| Outgoing { body, _in_flight: in_flight }))
    }
}

/// What is known of a body in case nobody reads it.
struct Unread {
    is_http1: bool,
    awaits_continue: bool,
    is_small: bool,
}

impl Unread {
    fn of(parts: &Parts, incoming: &Incoming) -> Self {
        Self {
            is_http1: parts.version < Version::HTTP_2,
            awaits_continue: parts.headers.contains_key(EXPECT),
            is_small: incoming.size_hint().exact().is_some_and(|length| length <= SMALL_BODY),
        }
    }
}

/// Deals with a body the handler has not read to its end, before the answer goes out.
///
/// HTTP/2 resets the one stream. HTTP/1.1 has to read the rest or give up the connection: a small rest is read; else
/// the answer announces the end, and the stream reads on after it so that the answer is not destroyed.
async fn settle(leftover: &Leftover, unread: &Unread, activity: &Activity, response: &mut Response<Body>) {
    let Some(mut incoming) = leftover.take() else { return };
    if !unread.is_http1 {
        return;
    }
    if unread.is_small && !unread.awaits_continue {
        let rest = async { while let Some(Ok(_)) = incoming.frame().await {} };
        let in_time = tokio::time::timeout(SMALL_BODY_TIME, rest).await.is_ok();
        if in_time && incoming.is_end_stream() {
            return;
        }
    }
    activity.leave_unread();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// A handler's future whose panics end here.
struct Caught<'a, F>(Pin<&'a mut F>);

impl<F: Future> Future for Caught<'_, F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // The future is not polled again after a panic, so no broken state can be seen.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        self.body.poll_chunk(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_finished()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.remaining()
    }
}
