//! Connections that begin with HTTP and go on with another protocol (RFC 9110, section 7.8).

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONNECTION, HOST, HeaderMap, HeaderValue, UPGRADE};
use http::{Request, StatusCode};
use http_body_util::Full;
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

/// Request to switch a connection to another protocol.
#[derive(Debug, Clone)]
pub struct UpgradeRequest {
    /// `http` or `https`. A user and password in it become an `Authorization` header.
    pub url: Url,
    /// The protocol's name, such as `websocket`.
    pub protocol: &'static str,
    /// Headers that the protocol wants.
    pub headers: HeaderMap,
    /// The time for everything: names, the connection, the answer.
    pub timeout: Duration,
}

/// Outcome of an upgrade request.
#[derive(Debug)]
pub enum Upgrade {
    /// The server goes on with the other protocol.
    Switched {
        /// The headers of the server's answer.
        headers: HeaderMap,
        /// Stream of the new protocol, both directions.
        tunnel: Tunnel,
        /// This end of the connection.
        local_addr: SocketAddr,
        /// The other end of the connection.
        remote_addr: SocketAddr,
    },
    /// The server answers otherwise; redirects are not followed.
    Refused {
        /// The status of its answer.
        status: StatusCode,
        /// The other end of the connection.
        remote_addr: SocketAddr,
    },
}

impl Client {
    /// Asks a server to go on with another protocol, on a connection of its own that passes the guard and no proxy.
    ///
    /// # Errors
    /// [`FetchError`] as of a fetch.
    pub async fn upgrade(&self, request: UpgradeRequest) -> Result<Upgrade, FetchError> {
        let limit = request.timeout;
        let deadline = Instant::now() + limit;
        let late = |stage| move |_| FetchError::Timeout { stage, after: limit };
        let connector = &self.0.connector;
        let endpoint = Endpoint::of(&request.url, TlsPolicy::Verify, None)?;
        let found = timeout_at(deadline, connector.addresses(&endpoint)).await;
        let addresses = found.map_err(late(FetchPhase::Resolve))??;
        let failed = |source| failed_to_connect(endpoint.host.to_string(), source, limit);
        let stream = dial(&addresses, deadline).await.map_err(failed)?;
        let asking = connector.ask(&endpoint, stream, &request);
        timeout_at(deadline, asking).await.map_err(late(FetchPhase::Response))?
    }
}

impl Connector {
    async fn ask(
        &self,
        endpoint: &Endpoint,
        stream: TcpStream,
        request: &UpgradeRequest,
    ) -> Result<Upgrade, FetchError> {
        let host = || endpoint.host.to_string();
        let failed = |source| FetchError::Connect { host: host(), source };
        let ends = (stream.local_addr().map_err(failed)?, stream.peer_addr().map_err(failed)?);
        if endpoint.security == Security::Plain {
            return switch(Box::new(stream), ends, host(), request).await;
        }
        let insecure =
            |source: io::Error| FetchError::Tls { host: host(), reason: public_reason(&source), source };
        let name = server_name(&endpoint.host).map_err(insecure)?;
        // HTTP/2 has no upgrades, so it must not be agreed on.
        let config = self.trust.for_http1().await.map_err(insecure)?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(insecure)?;
        switch(Box::new(stream), ends, host(), request).await
    }
}

async fn switch(
    stream: AnyStream,
    (local_addr, remote_addr): (SocketAddr, SocketAddr),
    host: String,
    request: &UpgradeRequest,
) -> Result<Upgrade, FetchError> {
    let broken = |error: hyper::Error| FetchError::Protocol { host: host.clone(), source: error.into() };
    let (mut sender, connection) =
        http1::Builder::new().handshake(TokioIo::new(stream)).await.map_err(broken)?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            // Whoever waits for the answer gets the error, too.
            tracing::debug!(%error, "a connection ended with an error");
        }
    });
    let response = sender.send_request(written(request)?).await.map_err(broken)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Ok(Upgrade::Refused { status: response.status(), remote_addr });
    }
    let headers = response.headers().clone();
    let tunnel = TokioIo::new(hyper::upgrade::on(response).await.map_err(broken)?);
    Ok(Upgrade::Switched { headers, tunnel: Tunnel::through(Box::new(tunnel)), local_addr, remote_addr })
}

fn written(request: &UpgradeRequest) -> Result<Request<Full<Bytes>>, FetchError> {
    let UpgradeRequest { url, protocol, headers, timeout: _ } = request;
    let bad = || FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() };
    let mut written = Request::new(Full::default());
    *written.uri_mut() = url[Position::BeforePath..Position::AfterQuery].parse().map_err(|_| bad())?;
    let host = HeaderValue::from_str(&url[Position::BeforeHost..Position::AfterPort]).map_err(|_| bad())?;
    *written.headers_mut() = headers.clone();
    written.headers_mut().insert(HOST, host);
    written.headers_mut().insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    written.headers_mut().insert(UPGRADE, HeaderValue::from_static(protocol));
    if let Some(credentials) = basic_credentials(url) {
        written.headers_mut().insert(AUTHORIZATION, credentials);
    }
    Ok(written)
}
