//! Opens a connection to an endpoint: resolves the host, checks its addresses, connects, and starts TLS and HTTP.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::connection::{Connection, ConnectionInfo, Sender};
use super::proxy::Proxy;
use super::request::TlsPolicy;
use super::resolve::Resolve;
use crate::error::{FetchError, FetchPhase};
use crate::guard::{AddressGuard, ConnectTarget};
use crate::tls::{TrustStore, public_reason};
use crate::tunnel::AnyStream;

/// Maximum number of addresses of one host that are tried.
const MAX_ATTEMPTS: usize = 6;
/// Minimum time for an attempt before the next address is tried.
const MIN_ATTEMPT: Duration = Duration::from_millis(250);
const H2_WINDOW: u32 = 2 * 1024 * 1024;
const MAX_RESPONSE_HEADERS: usize = 256;
const MAX_RESPONSE_HEADER_BYTES: u32 = 256 * 1024;

/// Opens connections for one client.
pub(super) struct Connector {
    pub(super) guard: AddressGuard,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) trust: TrustStore,
}

/// Destination of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Endpoint {
    pub(super) security: Security,
    pub(super) host: Host,
    pub(super) port: u16,
    pub(super) route: ConnectRoute,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Security {
    Plain,
    Tls(TlsPolicy),
}

/// The direct route to an endpoint, or the route through a proxy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ConnectRoute {
    Direct,
    Through(Proxy),
}

impl Endpoint {
    /// Returns the endpoint of a URL. Refuses schemes other than http and https.
    pub(super) fn new(url: &Url, tls: TlsPolicy, proxy: Option<&Proxy>) -> Result<Self, FetchError> {
        let security = match url.scheme() {
            "http" => Security::Plain,
            "https" => Security::Tls(tls),
            scheme => return Err(FetchError::ForbiddenScheme { scheme: scheme.to_owned() }),
        };
        let bad_url = |reason: &str| FetchError::BadUrl { reason: reason.to_owned() };
        let host = url.host().ok_or_else(|| bad_url("it has no host"))?.to_owned();
        let port = url
            .port_or_known_default()
            .filter(|&port| port > 0)
            .ok_or_else(|| bad_url("it has no usable port"))?;
        let route = proxy.map_or(ConnectRoute::Direct, |proxy| ConnectRoute::Through(proxy.clone()));
        Ok(Self { security, host, port, route })
    }
}

impl Connector {
    /// Opens a connection within `limit`. `on_phase` is called with each phase that begins.
    pub(super) async fn connect(
        &self,
        endpoint: &Endpoint,
        limit: Duration,
        on_phase: impl Fn(FetchPhase),
    ) -> Result<Connection, FetchError> {
        let deadline = Instant::now() + limit;
        let timed_out = |phase| move |_| FetchError::Timeout { phase, after: limit };
        on_phase(FetchPhase::Resolve);
        match &endpoint.route {
            ConnectRoute::Direct => {
                let resolved = timeout_at(deadline, self.addresses(endpoint)).await;
                let addresses = resolved.map_err(timed_out(FetchPhase::Resolve))??;
                on_phase(FetchPhase::Connect);
                let connect_error = |source| failed_to_connect(endpoint.host.to_string(), source, limit);
                let opening = async {
                    let stream = dial(&addresses, deadline).await.map_err(connect_error)?;
                    let remote_addr = stream.peer_addr().map_err(connect_error)?;
                    self.open(endpoint, Box::new(stream), remote_addr).await
                };
                timeout_at(deadline, opening).await.map_err(timed_out(FetchPhase::Connect))?
            }
            ConnectRoute::Through(proxy) => {
                let planned = timeout_at(deadline, self.plan_proxy(endpoint, proxy)).await;
                let plan = planned.map_err(timed_out(FetchPhase::Resolve))??;
                on_phase(FetchPhase::Connect);
                let opening = self.open_through(endpoint, plan, deadline);
                timeout_at(deadline, opening).await.map_err(timed_out(FetchPhase::Connect))?
            }
        }
    }

    /// Returns the addresses of an endpoint that the guard allows. The client connects to exactly these addresses: the
    /// name is not resolved again after the check.
    ///
    /// Of a host with public and internal addresses only the public ones are used.
    pub(super) async fn addresses(&self, endpoint: &Endpoint) -> Result<Vec<SocketAddr>, FetchError> {
        let host = endpoint.host.to_string();
        if let Some(target) = self.guard.target(&host, endpoint.port) {
            return match target {
                ConnectTarget::Address(address) => Ok(vec![*address]),
                ConnectTarget::Name { host, port } => {
                    let addresses =
                        self.resolve(host).await.map_err(|source| not_found(&endpoint.host, source))?;
                    Ok(addresses.into_iter().map(|ip| SocketAddr::new(ip, *port)).collect())
                }
            };
        }
        let found = self.lookup(&endpoint.host).await.map_err(|source| not_found(&endpoint.host, source))?;
        let allowed = found.iter().map(IpAddr::to_canonical).filter(|&ip| self.guard.allows(ip));
        let allowed: Vec<_> = allowed.map(|ip| SocketAddr::new(ip, endpoint.port)).collect();
        if allowed.is_empty() {
            self.log_refusal(&endpoint.host, &found);
            return Err(FetchError::Forbidden);
        }
        Ok(allowed)
    }

    /// Logs for the operator what the caller must not learn: the refused address and the rule.
    ///
    /// A log line outside a request span cannot be suppressed for a caller with zero data retention, so it has the rule
    /// only.
    pub(super) fn log_refusal(&self, host: &Host, found: &[IpAddr]) {
        let refused = found.iter().find_map(|&ip| Some((ip.to_canonical(), self.guard.rule_against(ip)?)));
        let Some((address, rule)) = refused else { return };
        if tracing::Span::current().is_none() {
            tracing::info!(
                rule,
                "refused to connect: the address is not public, nor in fetch.allow_networks"
            );
        } else {
            tracing::info!(
                %host,
                %address,
                rule,
                "refused to connect: the address is not public, nor in fetch.allow_networks"
            );
        }
    }

    pub(super) async fn lookup(&self, host: &Host) -> Result<Vec<IpAddr>, Option<io::Error>> {
        match host {
            Host::Ipv4(address) => Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => self.resolve(name).await,
        }
    }

    /// Resolves a name to at least one address.
    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, Option<io::Error>> {
        let found = self.resolver.resolve(name).await.map_err(Some)?;
        if found.is_empty() { Err(None) } else { Ok(found) }
    }

    /// Starts TLS, if the endpoint requires it, and HTTP on a stream that is connected to the endpoint.
    pub(super) async fn open(
        &self,
        endpoint: &Endpoint,
        stream: AnyStream,
        remote_addr: SocketAddr,
    ) -> Result<Connection, FetchError> {
        let host = endpoint.host.to_string();
        let protocol_error =
            |error: hyper::Error| FetchError::Protocol { host: host.clone(), source: error.into() };
        let policy = match endpoint.security {
            Security::Plain => {
                let sender = start_http1(stream).await.map_err(protocol_error)?;
                let info = ConnectionInfo { remote_addr, certificate_problem: None, forwarder: None };
                return Ok(Connection { sender, info });
            }
            Security::Tls(policy) => policy,
        };
        let tls_error = |source: io::Error| FetchError::Tls {
            host: host.clone(),
            reason: public_reason(&source),
            source,
        };
        let (config, problem) = match policy {
            TlsPolicy::Verify => (self.trust.verified_config().await.map_err(tls_error)?, None),
            TlsPolicy::SkipVerification => {
                let (config, problem) = self.trust.insecure_config().await.map_err(tls_error)?;
                (config, Some(problem))
            }
        };
        let name = server_name(&endpoint.host).map_err(tls_error)?;
        let stream = TlsConnector::from(config).connect(name, stream).await.map_err(tls_error)?;
        let certificate_problem = problem.and_then(|problem| problem.get().cloned());
        let speaks_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream: AnyStream = Box::new(stream);
        let sender = if speaks_http2 { start_http2(stream).await } else { start_http1(stream).await };
        let info = ConnectionInfo { remote_addr, certificate_problem, forwarder: None };
        Ok(Connection { sender: sender.map_err(protocol_error)?, info })
    }
}

/// Tries the addresses in order. An attempt takes only a part of the remaining time, so that later addresses get a
/// chance.
pub(super) async fn dial(addresses: &[SocketAddr], deadline: Instant) -> io::Result<TcpStream> {
    let addresses = &addresses[..addresses.len().min(MAX_ATTEMPTS)];
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (tried, address) in addresses.iter().enumerate() {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let attempts_left = u32::try_from(addresses.len() - tried).expect("at most MAX_ATTEMPTS");
        let attempt_deadline = Instant::now() + (remaining / attempts_left).max(MIN_ATTEMPT);
        match timeout_at(attempt_deadline.min(deadline), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Without Nagle's algorithm a request is sent at once. A failure only costs latency.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last_error = error,
            Err(_) => last_error = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(last_error)
}

pub(super) async fn start_http1(stream: AnyStream) -> hyper::Result<Sender> {
    let (sender, connection) = http1::Builder::new()
        .max_headers(MAX_RESPONSE_HEADERS)
        .max_buf_size(MAX_RESPONSE_HEADER_BYTES as usize)
        // Servers on the web are less strict than hyper's defaults.
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .handshake(TokioIo::new(stream))
        .await?;
    drive(connection);
    Ok(Sender::Http1(sender))
}

async fn start_http2(stream: AnyStream) -> hyper::Result<Sender> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(H2_WINDOW)
        .initial_connection_window_size(2 * H2_WINDOW)
        .max_header_list_size(MAX_RESPONSE_HEADER_BYTES)
        .handshake(TokioIo::new(stream))
        .await?;
    drive(connection);
    Ok(Sender::Http2(sender))
}

/// Runs a connection; it ends when its sender is dropped or the server closes it.
fn drive(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            // The caller of the request gets the error, too.
            tracing::debug!(%error, "a connection ended with an error");
        }
    });
}

pub(super) fn server_name(host: &Host) -> io::Result<ServerName<'static>> {
    match host {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            ServerName::try_from(name).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
        }
        Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
        Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
    }
}

fn not_found(host: &Host, source: Option<io::Error>) -> FetchError {
    FetchError::Dns { host: host.to_string(), source }
}

pub(super) fn failed_to_connect(host: String, source: io::Error, after: Duration) -> FetchError {
    if source.kind() == io::ErrorKind::TimedOut {
        FetchError::Timeout { phase: FetchPhase::Connect, after }
    } else {
        FetchError::Connect { host, source }
    }
}
