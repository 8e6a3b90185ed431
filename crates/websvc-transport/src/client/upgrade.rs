//! Upgrades of connections from HTTP to another protocol (RFC 9110, section 7.8).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderMap, HeaderValue, UPGRADE};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Position, Url};

use super::Client;
use super::connect::{Connector, Endpoint, Security, dial, failed_to_connect, server_name};
use super::headers::basic_credentials;
use super::request::TlsPolicy;
use crate::error::{FetchError, FetchPhase};
use crate::tls::public_reason;
use crate::tunnel::{AnyStream, Tunnel};

/// A request for an upgrade of the connection to another protocol.
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// An `http` or `https` URL. A user and password in it are sent as an `Authorization` header.
    pub url: Url,
    /// The name of the protocol, such as `websocket`.
    pub protocol: &'static str,
    /// Headers that the protocol requires.
    pub headers: HeaderMap,
    /// Time limit for name resolution, the connection and the response.
    pub timeout: Duration,
}

/// Outcome of an upgrade request.
#[derive(Debug)]
pub enum Upgrade {
    /// The server switched to the other protocol.
    Switched {
        /// Headers of the response.
        headers: HeaderMap,
        /// Stream of the new protocol, both directions.
        tunnel: Tunnel,
        /// Local address of the connection.
        local_addr: SocketAddr,
        /// Remote address of the connection.
        remote_addr: SocketAddr,
    },
    /// The server sent another response than 101. Redirects are not followed.
    Refused {
        /// Status of the response.
        status: StatusCode,
        /// Remote address of the connection.
        remote_addr: SocketAddr,
    },
}

/// The two addresses of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionAddrs {
    local: SocketAddr,
    remote: SocketAddr,
}

/// The response to an upgrade request.
pub(super) enum UpgradeResponse {
    Switched {
        headers: HeaderMap,
        tunnel: Tunnel,
        addrs: ConnectionAddrs,
    },
    /// Another response than 101, its body still on the wire.
    Refused {
        response: Response<Incoming>,
        addrs: ConnectionAddrs,
    },
}

impl Client {
    /// Requests an upgrade on a new connection, which passes the guard and uses no proxy.
    ///
    /// # Errors
    /// [`FetchError`], as for a fetch.
    pub async fn upgrade(&self, request: UpgradeRequest) -> Result<Upgrade, FetchError> {
        Ok(match self.request_upgrade(&request, request.timeout).await? {
            UpgradeResponse::Switched { headers, tunnel, addrs: ConnectionAddrs { local, remote } } => {
                Upgrade::Switched { headers, tunnel, local_addr: local, remote_addr: remote }
            }
            UpgradeResponse::Refused { response, addrs } => {
                Upgrade::Refused { status: response.status(), remote_addr: addrs.remote }
            }
        })
    }

    /// Does the same with a time limit of its own for the connection, and returns a refusal with its body.
    pub(super) async fn request_upgrade(
        &self,
        request: &UpgradeRequest,
        connect_timeout: Duration,
    ) -> Result<UpgradeResponse, FetchError> {
        let limit = request.timeout;
        let deadline = Instant::now() + limit;
        let timed_out = |phase| move |_| FetchError::Timeout { phase, after: limit };
        let connector = &self.0.connector;
        let endpoint = Endpoint::new(&request.url, TlsPolicy::Verify, None)?;
        let resolved = timeout_at(deadline, connector.addresses(&endpoint)).await;
        let addresses = resolved.map_err(timed_out(FetchPhase::Resolve))??;
        let connect_error = |source| failed_to_connect(endpoint.host.to_string(), source, connect_timeout);
        let dial_deadline = deadline.min(Instant::now() + connect_timeout);
        let stream = dial(&addresses, dial_deadline).await.map_err(connect_error)?;
        let upgrade = connector.upgrade(&endpoint, stream, request);
        timeout_at(deadline, upgrade).await.map_err(timed_out(FetchPhase::Response))?
    }
}

impl Connector {
    /// Starts TLS, if the endpoint requires it, and requests the upgrade.
    async fn upgrade(
        &self,
        endpoint: &Endpoint,
        stream: TcpStream,
        request: &UpgradeRequest,
    ) -> Result<UpgradeResponse, FetchError> {
        let host = || endpoint.host.to_string();
        let connect_error = |source| FetchError::Connect { host: host(), source };
        let addrs = ConnectionAddrs {
            local: stream.local_addr().map_err(connect_error)?,
            remote: stream.peer_addr().map_err(connect_error)?,
        };
        if endpoint.security == Security::Plain {
            return send_upgrade(Box::new(stream), addrs, host(), request).await;
        }
        let tls_error =
            |source: io::Error| FetchError::Tls { host: host(), reason: public_reason(&source), source };
        let name = server_name(&endpoint.host).map_err(tls_error)?;
        // HTTP/2 has no upgrades, so ALPN must not offer it.
        let config = self.trust.for_http1().await.map_err(tls_error)?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(tls_error)?;
        send_upgrade(Box::new(stream), addrs, host(), request).await
    }
}

/// Sends the request on an open stream and reads the head of the response.
async fn send_upgrade(
    stream: AnyStream,
    addrs: ConnectionAddrs,
    host: String,
    request: &UpgradeRequest,
) -> Result<UpgradeResponse, FetchError> {
    let protocol_error =
        |error: hyper::Error| FetchError::Protocol { host: host.clone(), source: error.into() };
    let (mut sender, connection) =
        http1::Builder::new().handshake(TokioIo::new(stream)).await.map_err(protocol_error)?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            // The caller of the request gets the error, too.
            tracing::debug!(%error, "a connection ended with an error");
        }
    });
    let response = sender.send_request(http_request(request)?).await.map_err(protocol_error)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(UpgradeResponse::Refused { response, addrs });
    }
    let headers = response.headers().clone();
    let tunnel = TokioIo::new(hyper::upgrade::on(response).await.map_err(protocol_error)?);
    Ok(UpgradeResponse::Switched { headers, tunnel: Tunnel::through(Box::new(tunnel)), addrs })
}

/// Builds the HTTP/1.1 request of an upgrade.
fn http_request(request: &UpgradeRequest) -> Result<Request<Full<Bytes>>, FetchError> {
    let UpgradeRequest { url, protocol, headers, timeout: _ } = request;
    let bad_url = || FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() };
    let mut http = Request::new(Full::default());
    *http.uri_mut() = url[Position::BeforePath..Position::AfterQuery].parse().map_err(|_| bad_url())?;
    let host =
        HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]).map_err(|_| bad_url())?;
    *http.headers_mut() = headers.clone();
    http.headers_mut().insert(HOST, host);
    http.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    http.headers_mut().insert(UPGRADE, HeaderValue::from_static(protocol));
    if let Some(credentials) = basic_credentials(url) {
        http.headers_mut().insert(AUTHORIZATION, credentials);
    }
    Ok(http)
}
