//! One connection from accept to close: TLS handshake, choice of the protocol, and the timeouts while it is open.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::activity::{ConnectionActivity, TimeoutKind};
use super::deadline_timer::{CLOSE_TIMEOUT, DeadlineTimer};
use super::dispatch::{ConnectionShared, ResponseBody, UpgradeSlot, dispatch};
use super::stream::{Stream, Transport};
use super::upgrade::run_upgraded;
use super::{Handler, ServerConfig, prepare};
use crate::tls::ReloadingAcceptor;

/// The connection preface of an HTTP/2 client (RFC 9113, section 3.4).
const H2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Hyper's default limit. Setting it explicitly would clear two arrays for every request.
const HYPER_MAX_HEADERS: usize = 100;
/// Time for an HTTP/2 client to answer a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// A connection from the listener, and what it needs to be served.
pub(super) struct AcceptedStream {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) tls: Option<Arc<ReloadingAcceptor>>,
    pub(super) config: Arc<ServerConfig>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

/// Serves one connection until it ends, or until its requests in flight are finished once `draining` is true.
pub(super) async fn serve(accepted: AcceptedStream, handler: Handler, draining: watch::Receiver<bool>) {
    let AcceptedStream { stream, peer, tls, config } = accepted;
    prepare(&stream);
    let activity = ConnectionActivity::new(&config);
    let opening = async {
        match tls {
            Some(tls) => open_tls(stream, &tls, &config).await,
            None => open_plain(stream, config.header_timeout).await,
        }
    };
    let mut shutdown = draining.clone();
    let result = tokio::select! {
        result = opening => result,
        // Before the first request nothing is in flight.
        _ = shutdown.wait_for(|draining| *draining) => return,
    };
    let (transport, prefix, protocol) = match result {
        Ok(opened) => opened,
        Err(error) => return tracing::debug!(%peer, %error, "a connection ended before its first request"),
    };
    let shared = Arc::new(ConnectionShared { peer, activity, config, upgrade: UpgradeSlot::default() });
    let io = TokioIo::new(Stream::new(transport, prefix, Arc::clone(&shared)));
    let result = match protocol {
        Protocol::Http1 => serve_http1(io, handler, &shared, draining).await,
        Protocol::Http2 => serve_http2(io, handler, &shared, draining).await,
    };
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "a connection ended with an error");
    }
}

async fn open_tls(
    stream: TcpStream,
    tls: &Arc<ReloadingAcceptor>,
    config: &ServerConfig,
) -> io::Result<(Transport, Bytes, Protocol)> {
    let handshake = async { tls.current().await.accept(stream).await };
    let stream = timeout(config.tls_handshake_timeout, handshake).await??;
    let protocol = match stream.get_ref().1.alpn_protocol() {
        Some(b"h2") => Protocol::Http2,
        _ => Protocol::Http1,
    };
    Ok((Transport::Tls(Box::new(stream)), Bytes::new(), protocol))
}

/// Reads until the first bytes decide between HTTP/1 and HTTP/2 with prior knowledge: up to the first difference from
/// the preface, or to its end.
async fn open_plain(mut stream: TcpStream, limit: Duration) -> io::Result<(Transport, Bytes, Protocol)> {
    let mut prefix = BytesMut::with_capacity(1024);
    let decided = async {
        loop {
            if stream.read_buf(&mut prefix).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            }
            let compared = prefix.len().min(H2_PREFACE.len());
            if prefix[..compared] != H2_PREFACE[..compared] {
                return Ok(Protocol::Http1);
            }
            if compared == H2_PREFACE.len() {
                return Ok(Protocol::Http2);
            }
        }
    };
    let protocol = timeout(limit, decided).await??;
    Ok((Transport::Plain(stream), prefix.freeze(), protocol))
}

async fn serve_http1(
    io: TokioIo<Stream>,
    handler: Handler,
    shared: &Arc<ConnectionShared>,
    draining: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let config = &shared.config;
    let connection_shared = Arc::clone(shared);
    let service = service_fn(move |request| dispatch(&handler, &connection_shared, request));
    let mut builder = http1::Builder::new();
    builder.max_buf_size(config.max_header_bytes.max(8192));
    // The connection's own timer has this timeout, without a timer per request.
    builder.header_read_timeout(None);
    if config.max_headers != HYPER_MAX_HEADERS {
        builder.max_headers(config.max_headers);
    }
    let mut connection = builder.serve_connection(io, service);
    match drive(Pin::new(&mut connection), &shared.activity, draining.clone()).await {
        Outcome::Ended(result) => {
            result?;
            let parts = connection.into_parts();
            let mut stream = parts.io.into_inner();
            match shared.upgrade.take() {
                Some(handler) => {
                    stream.push_back(&parts.read_buf);
                    run_upgraded(handler, stream, shared, draining).await;
                }
                // Hyper leaves the shutdown to its user once a request asked for an upgrade, whatever the response.
                // Otherwise it has already shut the stream down.
                None => drop(timeout(CLOSE_TIMEOUT, stream.shutdown()).await),
            }
            Ok(())
        }
        Outcome::Expired(TimeoutKind::Head) if shared.activity.has_partial_head() => {
            let stream = connection.into_parts().io.into_inner();
            // The client is at fault and may have disconnected, so the result does not matter.
            let _ = timeout(CLOSE_TIMEOUT, send_request_timeout(stream, config)).await;
            Ok(())
        }
        Outcome::Expired(_) => Ok(()),
    }
}

/// Sends a 408 without hyper, which has no request to respond to yet.
async fn send_request_timeout(mut stream: Stream, config: &ServerConfig) -> io::Result<()> {
    let reply = config.reply(StatusCode::REQUEST_TIMEOUT);
    let body = reply.body().bytes().cloned().unwrap_or_default();
    let mut text =
        format!("HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    if let Some(content_type) =
        reply.headers().get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
    {
        text.push_str(&format!("content-type: {content_type}\r\n"));
    }
    text.push_str("\r\n");
    stream.write_all(text.as_bytes()).await?;
    stream.write_all(&body).await?;
    stream.shutdown().await
}

async fn serve_http2(
    io: TokioIo<Stream>,
    handler: Handler,
    shared: &Arc<ConnectionShared>,
    draining: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let config = &shared.config;
    shared.activity.stop_tracking_heads();
    let connection_shared = Arc::clone(shared);
    let service = service_fn(move |request| dispatch(&handler, &connection_shared, request));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.max_concurrent_streams)
        .max_header_list_size(u32::try_from(config.max_header_bytes).unwrap_or(u32::MAX))
        // Rapid reset (CVE-2023-44487): a client that opens and resets streams faster than this is disconnected.
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(256)
        .keep_alive_interval(config.h2_ping_interval)
        .keep_alive_timeout(PING_TIMEOUT)
        .serve_connection(io, service);
    match drive(pin!(connection), &shared.activity, draining).await {
        Outcome::Ended(result) => result,
        Outcome::Expired(_) => Ok(()),
    }
}

/// A connection of hyper that can shut down gracefully: it ends after its requests in flight.
trait Connection: Future<Output = hyper::Result<()>> {
    fn finish(self: Pin<&mut Self>);
}

impl<S> Connection for http1::Connection<TokioIo<Stream>, S>
where
    S: HttpService<Incoming, ResBody = ResponseBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<S> Connection for http2::Connection<TokioIo<Stream>, S, TokioExecutor>
where
    S: HttpService<Incoming, ResBody = ResponseBody>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send + 'static,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

enum Outcome {
    Ended(hyper::Result<()>),
    Expired(TimeoutKind),
}

/// Runs a connection until it ends or one of its timeouts passes.
///
/// This is polled for every request, while the shutdown signal and the timer hardly ever fire. They are polled only
/// when their state has changed, or when the waker that they hold no longer belongs to this task.
async fn drive<C: Connection>(
    mut connection: Pin<&mut C>,
    activity: &ConnectionActivity,
    mut draining: watch::Receiver<bool>,
) -> Outcome {
    let signal = draining.clone();
    let mut drained = pin!(async move {
        // An error means that the server was dropped, which aborts this task too.
        let _ = draining.wait_for(|draining| *draining).await;
    });
    let timer = pin!(sleep_until(activity.next_check()));
    let mut deadline_timer = DeadlineTimer::new(timer);
    let mut waker = None;
    let mut is_draining = false;
    let mut close_deadline = None;
    std::future::poll_fn(|cx| {
        let is_current = waker.as_ref().is_some_and(|waker: &Waker| waker.will_wake(cx.waker()));
        if !is_current {
            waker = Some(cx.waker().clone());
            deadline_timer.is_armed = false;
        }
        let may_drain = !is_draining && (!is_current || !matches!(signal.has_changed(), Ok(false)));
        if may_drain && drained.as_mut().poll(cx).is_ready() {
            is_draining = true;
            connection.as_mut().finish();
        }
        loop {
            if let Poll::Ready(result) = connection.as_mut().poll(cx) {
                return Poll::Ready(Outcome::Ended(result));
            }
            let due = close_deadline.map(|at| (at, TimeoutKind::Idle)).or_else(|| activity.next_deadline());
            match deadline_timer.check(due, activity, cx) {
                None => return Poll::Pending,
                Some(TimeoutKind::Idle) if close_deadline.is_none() => {
                    close_deadline = Some(Instant::now() + CLOSE_TIMEOUT);
                    connection.as_mut().finish();
                }
                Some(kind) => return Poll::Ready(Outcome::Expired(kind)),
            }
        }
    })
    .await
}
