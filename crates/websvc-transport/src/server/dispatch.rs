//! From hyper's request to the handler and back: what surrounds every call of a handler.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, EXPECT, HOST, HeaderValue};
use http::request::Parts;
use http::uri::Authority;
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::upgrade::OnUpgrade;

use super::activity::ConnectionActivity;
use super::body::{ServerBody, UnreadIncoming};
use super::upgrade::UpgradeHandler;
use super::{Answer, Handler, ServerConfig};
use crate::body::{Aborted, Body};

/// An unread body up to this size is read before the answer, which saves the connection.
const SMALL_BODY: u64 = 64 * 1024;
/// How long that may take.
const SMALL_BODY_TIME: Duration = Duration::from_millis(500);

/// State shared by the requests of one connection.
#[derive(Debug)]
pub(super) struct ConnectionShared {
    pub(super) peer: SocketAddr,
    pub(super) activity: ConnectionActivity,
    pub(super) config: Arc<ServerConfig>,
    pub(super) switch: UpgradeSlot,
}

/// Handler that takes over the connection after an upgrade.
#[derive(Debug, Default)]
pub(super) struct UpgradeSlot(Mutex<Option<UpgradeHandler>>);

impl UpgradeSlot {
    pub(super) fn take(&self) -> Option<UpgradeHandler> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, switch: UpgradeHandler) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(switch);
    }
}

/// A request in flight; it ends when this is dropped, which is after its body was handed to the connection.
#[derive(Debug)]
struct InFlight(Arc<ConnectionShared>);

impl InFlight {
    fn begin(origin: &Arc<ConnectionShared>) -> Self {
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
pub(super) struct ResponseBody {
    body: Body,
    _in_flight: InFlight,
}

/// Calls the handler for one request.
pub(super) fn dispatch(
    handler: &Handler,
    origin: &Arc<ConnectionShared>,
    request: Request<Incoming>,
) -> ResponseFuture {
    let in_flight = InFlight::begin(origin);
    let config = &origin.config;
    let (mut parts, incoming) = request.into_parts();
    // It is there when the request asks for another protocol in HTTP/1.1.
    let may_switch = parts.extensions.remove::<OnUpgrade>().is_some();
    if !names_one_host(&parts) {
        let refused = Step::answered(config.reply(StatusCode::BAD_REQUEST));
        return ResponseFuture::new(in_flight, refused, None, may_switch);
    }
    let unread = UnreadBody::of(&parts, &incoming);
    let (body, leftover) = ServerBody::new(incoming, origin.peer);
    let rest = leftover.map(|leftover| (leftover, unread));
    let request = Request::from_parts(parts, body);
    let step = match catch_unwind(AssertUnwindSafe(|| handler(request))) {
        Ok(call) => Step::Handling(call),
        Err(panic) => Step::answered(panic_response(&*panic, config)),
    };
    ResponseFuture::new(in_flight, step, rest, may_switch)
}

/// The answer to one request on its way.
pub(super) struct ResponseFuture {
    step: Step,
    in_flight: Option<InFlight>,
    rest: Option<(UnreadIncoming, UnreadBody)>,
    may_switch: bool,
}

enum Step {
    /// The handler works on it.
    Handling(Answer),
    Answered(Option<Response<Body>>),
    /// The handler has answered; what it has not read of the request is read.
    Settling(Answer),
}

impl ResponseFuture {
    fn new(
        in_flight: InFlight,
        step: Step,
        rest: Option<(UnreadIncoming, UnreadBody)>,
        may_switch: bool,
    ) -> Self {
        Self { step, in_flight: Some(in_flight), rest, may_switch }
    }
}

impl Step {
    fn answered(response: Response<Body>) -> Self {
        Self::Answered(Some(response))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let in_flight = this.in_flight.as_ref().expect("a future is not polled after it is ready");
        let response = loop {
            let response = match &mut this.step {
                Step::Settling(settled) => break ready!(settled.as_mut().poll(cx)),
                Step::Answered(response) => response.take().expect("an answer is taken once"),
                // The future is not polled again after a panic, so no broken state can be seen.
                Step::Handling(call) => match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))) {
                    Ok(polled) => ready!(polled),
                    Err(panic) => panic_response(&*panic, &in_flight.0.config),
                },
            };
            // Leaving the step drops the handler's future, and with it a body that it has not read.
            this.step = Step::Answered(None);
            let unread = this.rest.take().and_then(|(leftover, unread)| Some((leftover.take()?, unread)));
            let Some((incoming, unread)) = unread else { break response };
            let settled = drain_unread_body(incoming, unread, Arc::clone(&in_flight.0), response);
            this.step = Step::Settling(Box::pin(settled));
        };
        let in_flight = this.in_flight.take().expect("it was there above");
        let response = take_upgrade(response, &in_flight.0, this.may_switch);
        Poll::Ready(Ok(response.map(|body| ResponseBody { body, _in_flight: in_flight })))
    }
}

/// Tells whether a request says which host is meant, once and readably: with two answers, a proxy before us may have
/// acted on the other one (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
fn names_one_host(parts: &Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let Some(host) = hosts.next() else { return parts.version != Version::HTTP_11 };
    let Ok(host) = host.to_str() else { return false };
    if hosts.next().is_some() {
        return false;
    }
    // Empty where the target of the request has no host.
    if host.is_empty() {
        return parts.version < Version::HTTP_2;
    }
    let Ok(named) = host.parse::<Authority>() else { return false };
    match parts.uri.authority() {
        // In HTTP/1.1 an absolute target counts alone.
        Some(asked) if parts.version >= Version::HTTP_2 => {
            let port = |authority: &Authority| {
                authority.port_u16().or(if parts.uri.scheme_str() == Some("https") {
                    Some(443)
                } else {
                    Some(80)
                })
            };
            asked.host().eq_ignore_ascii_case(named.host()) && port(asked) == port(&named)
        }
        Some(_) | None => !host.contains('@'),
    }
}

/// Keeps what is to follow an answer 101 for the connection.
fn take_upgrade(response: Response<Body>, origin: &ConnectionShared, may_switch: bool) -> Response<Body> {
    if !response.body().is_switch() {
        return response;
    }
    let (parts, body) = response.into_parts();
    match body.into_switch() {
        Some(switch) if may_switch && parts.status == StatusCode::SWITCHING_PROTOCOLS => {
            origin.switch.put(switch);
            Response::from_parts(parts, Body::empty())
        }
        Some(_) | None => {
            tracing::error!(status = parts.status.as_u16(), "a handler switches where nobody asked for it");
            origin.config.reply(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

fn panic_response(panic: &(dyn Any + Send), config: &ServerConfig) -> Response<Body> {
    tracing::error!(panic = message(panic), "a handler panicked");
    config.reply(StatusCode::INTERNAL_SERVER_ERROR)
}

/// State of a request body that the handler may leave unread.
struct UnreadBody {
    is_http1: bool,
    awaits_continue: bool,
    is_small: bool,
}

impl UnreadBody {
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
async fn drain_unread_body(
    mut incoming: Incoming,
    unread: UnreadBody,
    origin: Arc<ConnectionShared>,
    mut response: Response<Body>,
) -> Response<Body> {
    if !unread.is_http1 {
        return response;
    }
    if unread.is_small && !unread.awaits_continue {
        let rest = async { while let Some(Ok(_)) = incoming.frame().await {} };
        let in_time = tokio::time::timeout(SMALL_BODY_TIME, rest).await.is_ok();
        if in_time && incoming.is_end_stream() {
            return response;
        }
    }
    origin.activity.leave_unread();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Returns the text of a panic where it is one of the program. One that was put together may hold what was worked on, of
/// which perhaps nothing may be kept.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .unwrap_or("its message may have content of the request and is not told")
}

impl HttpBody for ResponseBody {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: Version, uri: &str, hosts: &[&str], expected: bool) {
        let mut request = Request::builder().version(version).uri(uri);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(names_one_host(&parts), expected, "{version:?} {uri} {hosts:?}");
    }

    #[test]
    fn request_names_its_host_once_and_readably() {
        for (hosts, expected) in [
            (&["a.test"][..], true),
            (&["a.test:80"], true),
            (&["[::1]:3002"], true),
            (&[""], true),
            (&[], false),
            (&["a.test", "a.test"], false),
            (&["a.test", "b.test"], false),
            (&["a.test, b.test"], false),
            (&["a.test/path"], false),
            (&["user@a.test"], false),
        ] {
            check(Version::HTTP_11, "/", hosts, expected);
        }
        check(Version::HTTP_10, "/", &[], true);
        check(Version::HTTP_10, "/", &["a.test", "b.test"], false);
        check(Version::HTTP_11, "http://a.test/", &["b.test"], true);
    }

    #[test]
    fn host_of_http_2_is_that_of_the_authority() {
        for (host, expected) in [
            ("a.test", true),
            ("A.TEST", true),
            ("a.test:80", true),
            ("b.test", false),
            ("a.test:81", false),
            ("", false),
        ] {
            check(Version::HTTP_2, "http://a.test/", &[host], expected);
        }
        check(Version::HTTP_2, "https://a.test/", &["a.test:443"], true);
        check(Version::HTTP_2, "https://a.test/", &["a.test:80"], false);
        check(Version::HTTP_2, "http://a.test/", &[], true);
        check(Version::HTTP_2, "http://a.test/", &["a.test", "a.test"], false);
    }
}
