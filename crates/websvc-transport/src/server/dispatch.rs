//! Calls the handler for a request of hyper, and returns its response: everything around a call of a handler.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{CONNECTION, DATE, EXPECT, HOST, HeaderValue};
use http::request::Parts;
use http::uri::Authority;
use http::{Request, Response, StatusCode, Version};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::upgrade::OnUpgrade;
use parking_lot::Mutex;

use super::activity::ConnectionActivity;
use super::body::{ServerBody, UnreadIncoming};
use super::{Handler, HandlerFuture, ServerConfig};
use crate::body::{Aborted, Body};
use crate::upgrade::UpgradeHandler;

/// Maximum size of an unread body that is read before the response, so that the connection can be reused.
const SMALL_BODY: u64 = 64 * 1024;
/// Maximum time for that.
const SMALL_BODY_TIME: Duration = Duration::from_millis(500);

/// State shared by the requests of one connection.
#[derive(Debug)]
pub(super) struct ConnectionShared {
    pub(super) peer: SocketAddr,
    pub(super) activity: ConnectionActivity,
    pub(super) config: Arc<ServerConfig>,
    pub(super) upgrade: UpgradeSlot,
}

/// Handler that takes over the connection after an upgrade.
#[derive(Debug, Default)]
pub(super) struct UpgradeSlot(Mutex<Option<UpgradeHandler>>);

impl UpgradeSlot {
    pub(super) fn take(&self) -> Option<UpgradeHandler> {
        self.0.lock().take()
    }

    fn put(&self, handler: UpgradeHandler) {
        *self.0.lock() = Some(handler);
    }
}

/// A request in flight. It ends on drop, after the connection has taken its whole response body.
#[derive(Debug)]
struct InFlight(Arc<ConnectionShared>);

impl InFlight {
    fn begin(shared: &Arc<ConnectionShared>) -> Self {
        shared.activity.request_begins();
        Self(Arc::clone(shared))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.activity.request_ends();
    }
}

/// The body of a response. It keeps the request in flight until the connection has taken the whole body.
#[derive(Debug)]
pub(super) struct ResponseBody {
    body: Body,
    _in_flight: InFlight,
}

/// Calls the handler for one request.
pub(super) fn dispatch(
    handler: &Handler,
    shared: &Arc<ConnectionShared>,
    request: Request<Incoming>,
) -> ResponseFuture {
    let in_flight = InFlight::begin(shared);
    let config = &shared.config;
    let (mut parts, incoming) = request.into_parts();
    // Hyper sets this extension for a request that asks for an upgrade in HTTP/1.1.
    let may_upgrade = parts.extensions.remove::<OnUpgrade>().is_some();
    if !names_one_host(&parts) {
        let step = Step::finished(config.reply(StatusCode::BAD_REQUEST));
        return ResponseFuture::new(in_flight, step, None, may_upgrade);
    }
    let unread = UnreadBody::from_parts(&parts, &incoming);
    let (body, returned) = ServerBody::new(incoming, shared.peer);
    let unread = returned.map(|returned| (returned, unread));
    let request = Request::from_parts(parts, body);
    let step = match catch_unwind(AssertUnwindSafe(|| handler(request))) {
        Ok(call) => Step::Handling(call),
        Err(panic) => Step::finished(panic_response(&*panic, config)),
    };
    ResponseFuture::new(in_flight, step, unread, may_upgrade)
}

/// The future of the response to one request.
pub(super) struct ResponseFuture {
    step: Step,
    in_flight: Option<InFlight>,
    unread: Option<(UnreadIncoming, UnreadBody)>,
    may_upgrade: bool,
}

enum Step {
    /// The handler is working.
    Handling(HandlerFuture),
    Finished(Option<Response<Body>>),
    /// The handler has responded. The part of the request that it has not read is being read.
    Draining(HandlerFuture),
}

impl ResponseFuture {
    fn new(
        in_flight: InFlight,
        step: Step,
        unread: Option<(UnreadIncoming, UnreadBody)>,
        may_upgrade: bool,
    ) -> Self {
        Self { step, in_flight: Some(in_flight), unread, may_upgrade }
    }
}

impl Step {
    fn finished(response: Response<Body>) -> Self {
        Self::Finished(Some(response))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let in_flight = this.in_flight.as_ref().expect("a future is not polled after it is ready");
        let response = loop {
            let response = match &mut this.step {
                Step::Draining(drained) => break ready!(drained.as_mut().poll(cx)),
                Step::Finished(response) => response.take().expect("a response is taken once"),
                // The future is not polled again after a panic, so no broken state can be seen.
                Step::Handling(call) => match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))) {
                    Ok(polled) => ready!(polled),
                    Err(panic) => panic_response(&*panic, &in_flight.0.config),
                },
            };
            // Leaving this step drops the handler's future, and with it a body that it has not read.
            this.step = Step::Finished(None);
            let unread = this.unread.take().and_then(|(returned, unread)| Some((returned.take()?, unread)));
            let Some((incoming, unread)) = unread else { break response };
            let drained = drain_unread_body(incoming, unread, Arc::clone(&in_flight.0), response);
            this.step = Step::Draining(Box::pin(drained));
        };
        let in_flight = this.in_flight.take().expect("it was present above");
        let mut response = take_upgrade(response, &in_flight.0, this.may_upgrade);
        let clock = in_flight.0.config.clock;
        response.headers_mut().entry(DATE).or_insert_with(|| date(clock()));
        Poll::Ready(Ok(response.map(|body| ResponseBody { body, _in_flight: in_flight })))
    }
}

/// Returns the value of `Date` for a time. Hyper would write one that it keeps until the clock has passed its second: if
/// the clock was ahead for a moment, the header would be wrong until the clock is there again.
fn date(now: SystemTime) -> HeaderValue {
    // The format has four digits for the year, and begins with the Unix epoch.
    let latest = UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    let text = httpdate::fmt_http_date(now.clamp(UNIX_EPOCH, latest));
    HeaderValue::from_str(&text).expect("a date is ASCII")
}

/// Returns whether a request names its host once, and validly. With two hosts, a proxy in front of this server may have
/// acted on the other one (RFC 9112, section 3.2; RFC 9113, section 8.3.1).
fn names_one_host(parts: &Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let Some(host) = hosts.next() else { return parts.version != Version::HTTP_11 };
    let Ok(host) = host.to_str() else { return false };
    if hosts.next().is_some() {
        return false;
    }
    // `Host` is empty if the target of the request has no host.
    if host.is_empty() {
        return parts.version < Version::HTTP_2;
    }
    let Ok(host_authority) = host.parse::<Authority>() else { return false };
    match parts.uri.authority() {
        // In HTTP/1.1 the host of an absolute target replaces `Host`.
        Some(target) if parts.version >= Version::HTTP_2 => {
            let port = |authority: &Authority| {
                authority.port_u16().or(if parts.uri.scheme_str() == Some("https") {
                    Some(443)
                } else {
                    Some(80)
                })
            };
            target.host().eq_ignore_ascii_case(host_authority.host()) && port(target) == port(&host_authority)
        }
        Some(_) | None => !host.contains('@'),
    }
}

/// Moves the protocol of a 101 response to the connection.
fn take_upgrade(response: Response<Body>, shared: &ConnectionShared, may_upgrade: bool) -> Response<Body> {
    if !response.body().is_upgrade() {
        return response;
    }
    let (parts, body) = response.into_parts();
    match body.into_upgrade() {
        Some(handler) if may_upgrade && parts.status == StatusCode::SWITCHING_PROTOCOLS => {
            shared.upgrade.put(handler);
            Response::from_parts(parts, Body::empty())
        }
        Some(_) | None => {
            tracing::error!(
                status = parts.status.as_u16(),
                "handler returned 101 without an upgrade request"
            );
            shared.config.reply(StatusCode::INTERNAL_SERVER_ERROR)
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
    fn from_parts(parts: &Parts, incoming: &Incoming) -> Self {
        Self {
            is_http1: parts.version < Version::HTTP_2,
            awaits_continue: parts.headers.contains_key(EXPECT),
            is_small: incoming.size_hint().exact().is_some_and(|length| length <= SMALL_BODY),
        }
    }
}

/// Handles a body that the handler has not read to its end, before the response is sent.
///
/// HTTP/2 resets the one stream. HTTP/1.1 has to read the rest or close the connection. A small rest is read. Otherwise
/// the response announces the close, and the stream keeps reading after it, so that the response is not destroyed.
async fn drain_unread_body(
    mut incoming: Incoming,
    unread: UnreadBody,
    shared: Arc<ConnectionShared>,
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
    shared.activity.leave_unread();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Returns the message of a panic if it is a literal of the program. A formatted message may contain content of the
/// request, which must not be stored for callers with zero data retention.
pub(super) fn message(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().unwrap_or("message withheld: it may contain request content")
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
    fn http1_request_must_name_one_valid_host() {
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
    fn http2_host_must_equal_the_authority() {
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
