//! One connection of the client, HTTP/1.1 or HTTP/2, on which requests are sent.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, Uri, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use url::{Position, Url};

use super::proxy::Proxy;
use super::redirect::Hop;
use crate::error::FetchError;

/// Time for a connection to become ready for the next request after a response.
const READY: std::time::Duration = std::time::Duration::from_millis(50);

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: Sender,
    pub(super) info: ConnectionInfo,
}

/// Properties that a connection has from its start.
#[derive(Debug, Clone)]
pub(super) struct ConnectionInfo {
    pub(super) remote_addr: SocketAddr,
    /// Reason why the certificate is not valid, if verification is skipped.
    pub(super) certificate_problem: Option<String>,
    /// The proxy at the other end, if it forwards requests and so needs whole URLs in them.
    pub(super) forwarder: Option<Proxy>,
}

#[derive(Debug)]
pub(super) enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// A request that got no response.
pub(super) struct SendFailure {
    pub(super) error: hyper::Error,
    /// True if no part of the request has reached the server.
    pub(super) is_unsent: bool,
}

impl Connection {
    /// Returns whether another request may be sent. Waits briefly until the previous exchange is finished.
    pub(super) async fn is_usable(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) if sender.is_ready() => true,
            Sender::Http1(sender) => {
                !sender.is_closed() && matches!(tokio::time::timeout(READY, sender.ready()).await, Ok(Ok(())))
            }
            Sender::Http2(sender) => sender.is_ready(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    /// Returns a second handle, if the protocol can multiplex requests.
    pub(super) fn share(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => {
                Some(Self { sender: Sender::Http2(sender.clone()), info: self.info.clone() })
            }
        }
    }

    /// Sends `request`, which [`prepare`](Self::prepare) has built for this connection.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, SendFailure> {
        let result = match &mut self.sender {
            Sender::Http1(sender) => sender.try_send_request(request).await,
            Sender::Http2(sender) => sender.try_send_request(request).await,
        };
        result.map_err(|mut failure: TrySendError<_>| SendFailure {
            is_unsent: failure.take_message().is_some(),
            error: failure.into_error(),
        })
    }

    /// Builds the request of a hop in the form that the protocol requires: path and `Host`, or the whole URL.
    pub(super) fn prepare(&self, hop: &Hop) -> Result<Request<Full<Bytes>>, FetchError> {
        let mut request = Request::new(Full::new(hop.body.clone().unwrap_or_default()));
        *request.method_mut() = hop.method.clone();
        request.headers_mut().reserve(hop.headers.len() + 1);
        let authority = &hop.url[Position::BeforeHost..Position::AfterPort];
        match &self.sender {
            Sender::Http1(_) => {
                let host = HeaderValue::from_str(authority).map_err(|_| bad_url())?;
                request.headers_mut().insert(HOST, host);
                *request.uri_mut() = match &self.info.forwarder {
                    Some(_) => absolute_uri(&hop.url, authority)?,
                    None => Uri::from(path(&hop.url)?),
                };
            }
            Sender::Http2(_) => {
                *request.uri_mut() = absolute_uri(&hop.url, authority)?;
                *request.version_mut() = Version::HTTP_2;
            }
        }
        if let Some(authorization) = self.info.forwarder.as_ref().and_then(Proxy::authorization) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        for (name, value) in &hop.headers {
            request.headers_mut().append(name, value.clone());
        }
        Ok(request)
    }
}

fn absolute_uri(url: &Url, authority: &str) -> Result<Uri, FetchError> {
    let scheme = Scheme::try_from(url.scheme()).map_err(|_| bad_url())?;
    let authority = Authority::try_from(authority).map_err(|_| bad_url())?;
    let builder = Uri::builder().scheme(scheme).authority(authority).path_and_query(path(url)?);
    builder.build().map_err(|_| bad_url())
}

fn path(url: &Url) -> Result<PathAndQuery, FetchError> {
    PathAndQuery::try_from(&url[Position::BeforePath..Position::AfterQuery]).map_err(|_| bad_url())
}

fn bad_url() -> FetchError {
    FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() }
}
