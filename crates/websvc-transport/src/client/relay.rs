//! Relays: requests that another server of the operator answers. The response is passed on while it arrives.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{Method, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use url::Url;

use super::exchange::{PendingResponse, exchange};
use super::limits::Limits;
use super::redirect::Hop;
use super::request::FetchRequest;
use super::upgrade::{UpgradeRequest, UpgradeResponse};
use super::{Client, headers};
use crate::BoxFuture;
use crate::body::{Body, BodySender};
use crate::error::FetchError;
use crate::tunnel::Tunnel;
use crate::upgrade::ShutdownSignal;

/// The number of chunks of a body that are buffered while the client is slow.
const MAX_CHUNKS: usize = 4;
/// The size of the buffer between the server and the client of an upgraded connection.
const BUFFER_BYTES: usize = 16 * 1024;
/// Headers for one connection only, in addition to those that `Connection` names (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 6] =
    [CONNECTION, HeaderName::from_static("keep-alive"), TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// A request to another server whose response is passed on to a client of this one.
#[derive(Debug)]
pub struct RelayRequest {
    /// The method. An upgrade is always a GET request.
    pub method: Method,
    /// An `http` or `https` URL.
    pub url: Url,
    /// The headers; see [`is_forbidden_header`](super::is_forbidden_header).
    pub headers: HeaderMap,
    /// The body, sent unchanged.
    pub body: Bytes,
    /// Name of the protocol that the request asks for, such as `websocket`; `None` for a request without an upgrade.
    pub upgrade: Option<&'static str>,
    /// Time limit for opening a connection.
    pub connect_timeout: Duration,
    /// Time limit until the head of the response, connection included.
    pub timeout: Duration,
    /// Time limit between two pieces of data from the server, in a body or after an upgrade.
    pub silence_timeout: Duration,
    /// Permit that is released after the body, or when an upgraded connection is closed.
    pub permit: OwnedSemaphorePermit,
}

impl Client {
    /// Sends a request, and returns the response with a body that arrives while it is sent. After an upgrade, the body
    /// of the 101 response connects both sides. Redirects and content codings are passed on, too.
    ///
    /// A body that breaks off, or a server that is silent for too long, closes the connection to the client. So does
    /// the shutdown of this server after an upgrade.
    ///
    /// # Errors
    /// [`FetchError`], as for a fetch, if there is no head of a response.
    pub fn relay<'a>(&'a self, request: RelayRequest) -> BoxFuture<'a, Result<Response<Body>, FetchError>> {
        Box::pin(async move {
            headers::check(&request.headers)?;
            match request.upgrade {
                Some(protocol) => self.relay_upgrade(protocol, request).await,
                None => self.relay_response(request).await,
            }
        })
    }

    async fn relay_response(&self, request: RelayRequest) -> Result<Response<Body>, FetchError> {
        let RelayRequest { method, url, headers, body, permit, silence_timeout, .. } = request;
        let limits = Limits::from_request(&FetchRequest {
            timeout: request.timeout,
            connect_timeout: request.connect_timeout,
            ..FetchRequest::get(url.clone())
        });
        let hop = Hop { method, url, headers, body: Some(body) };
        let sending = timeout(request.timeout, exchange(&self.0, &hop, &limits));
        let PendingResponse { response, pooled } =
            sending.await.map_err(|_| limits.timed_out(request.timeout))??;
        let (parts, incoming) = response.into_parts();
        let (sender, body) = Body::channel(MAX_CHUNKS);
        let client = self.clone();
        // Ends with the body, with the client, or with a silent server.
        tokio::spawn(async move {
            if pass_on(incoming, sender, silence_timeout).await {
                pooled.release(&client.0);
            }
            drop(permit);
        });
        Ok(without_hop_by_hop_headers(Response::from_parts(parts, body)))
    }

    async fn relay_upgrade(
        &self,
        protocol: &'static str,
        request: RelayRequest,
    ) -> Result<Response<Body>, FetchError> {
        let RelayRequest { url, headers, permit, silence_timeout, .. } = request;
        let upgrade = UpgradeRequest { url, protocol, headers, timeout: request.timeout };
        match self.request_upgrade(&upgrade, request.connect_timeout).await? {
            UpgradeResponse::Switched { headers, tunnel, addrs: _ } => {
                let body = Body::upgrade(move |client, shutdown| async move {
                    connect(client, tunnel, shutdown, silence_timeout).await;
                    drop(permit);
                });
                let mut response = Response::new(body);
                *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
                *response.headers_mut() = headers;
                let mut response = without_hop_by_hop_headers(response);
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
                response.headers_mut().insert(UPGRADE, HeaderValue::from_static(protocol));
                Ok(response)
            }
            UpgradeResponse::Refused { response, addrs: _ } => {
                let (parts, incoming) = response.into_parts();
                let (sender, body) = Body::channel(MAX_CHUNKS);
                tokio::spawn(async move {
                    pass_on(incoming, sender, silence_timeout).await;
                    drop(permit);
                });
                Ok(without_hop_by_hop_headers(Response::from_parts(parts, body)))
            }
        }
    }
}

fn without_hop_by_hop_headers(mut response: Response<Body>) -> Response<Body> {
    let named = response.headers().get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> =
        named.flat_map(|names| names.split(',')).filter_map(|name| name.trim().parse().ok()).collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        response.headers_mut().remove(name);
    }
    response
}

/// Passes a body on to the client. Returns whether its end was reached, so that the connection can be reused.
async fn pass_on(mut incoming: Incoming, sender: BodySender, silence: Duration) -> bool {
    while !incoming.is_end_stream() {
        let frame = tokio::select! {
            frame = timeout(silence, incoming.frame()) => frame,
            () = sender.closed() => return false,
        };
        match frame {
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data()
                    && sender.send(data).await.is_err()
                {
                    return false;
                }
            }
            Ok(None) => return true,
            Ok(Some(Err(_))) | Err(_) => {
                sender.abort().await;
                return false;
            }
        }
    }
    true
}

/// Connects both sides until one of them closes, the server is silent, or this server shuts down.
async fn connect(client: Tunnel, server: Tunnel, mut shutdown: ShutdownSignal, silence: Duration) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_server, mut to_server) = tokio::io::split(server);
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        () = copy_until_silent(&mut from_server, &mut to_client, silence) => {}
        () = shutdown.wait() => {}
    }
    // The client may be gone.
    let _ = to_client.shutdown().await;
}

/// Copies what the server sends, until it closes, fails, or sends nothing for `silence`.
async fn copy_until_silent(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
    silence: Duration,
) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let Ok(Ok(read @ 1..)) = timeout(silence, server.read(&mut buffer)).await else { return };
        if client.write_all(&buffer[..read]).await.is_err() || client.flush().await.is_err() {
            return;
        }
    }
}
