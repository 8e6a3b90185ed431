//! Forward proxies: their addresses, and requests for tunnels over HTTP or SOCKS5.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::Authority;
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
#[cfg(feature = "socks")]
use tokio_socks::tcp::Socks5Stream;
use url::{Host, Url};

use super::headers::{basic_credentials, credentials};
use crate::error::{ClientBuildError, FetchError};
use crate::tunnel::AnyStream;

/// A forward proxy that speaks HTTP, with or without TLS, or SOCKS5 (RFC 1928). Cheap to clone.
///
/// An `https` URL is fetched through a tunnel (`CONNECT`), so the proxy learns only the host. For an `http` URL an HTTP
/// proxy forwards the request itself if the client's guard is open. Otherwise a tunnel is used, too: the guard checks
/// the addresses first, and the tunnel goes to the address that was checked. Under an open guard the proxy resolves the
/// names. A SOCKS proxy only makes tunnels.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy(Arc<Parts>);

#[derive(PartialEq, Eq, Hash)]
struct Parts {
    scheme: ProxyScheme,
    host: Host,
    port: u16,
    /// The `Proxy-Authorization` header of an HTTP proxy.
    authorization: Option<HeaderValue>,
    /// The user and password of a SOCKS proxy (RFC 1929).
    credentials: Option<(String, String)>,
}

/// The default port of SOCKS proxies (RFC 1928, section 3).
const SOCKS_PORT: u16 = 1080;

/// Maximum length of the user and of the password of SOCKS, in bytes.
const SOCKS_LOGIN_BYTES: usize = 255;

/// The protocol between the client and the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ProxyScheme {
    Http,
    Https,
    Socks5,
}

impl Proxy {
    /// Parses the URL of a proxy, such as `http://user:password@proxy.test:3128` or `socks5://proxy.test`.
    ///
    /// The default port is 80 for `http`, 443 for `https` and 1080 for `socks5` (`socks5h` is the same). The user and
    /// password are sent as `Proxy-Authorization`, or in the SOCKS handshake.
    ///
    /// # Errors
    /// [`ClientBuildError::Proxy`] when the scheme is not supported, the URL has a path, query or fragment, or its
    /// credentials are too long for SOCKS.
    pub fn new(url: &Url) -> Result<Self, ClientBuildError> {
        let invalid = |reason| Err(ClientBuildError::Proxy { reason });
        let scheme = match url.scheme() {
            "http" => ProxyScheme::Http,
            "https" => ProxyScheme::Https,
            "socks5" | "socks5h" if cfg!(feature = "socks") => ProxyScheme::Socks5,
            "socks5" | "socks5h" => {
                return invalid("SOCKS needs the feature `socks`, without which this program was built");
            }
            _ => return invalid("its scheme must be http, https, socks5 or socks5h"),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return invalid("it must not have a path, query or fragment");
        }
        let default_port = matches!(scheme, ProxyScheme::Socks5).then_some(SOCKS_PORT);
        let (Some(host), Some(port @ 1..)) = (host(url), url.port_or_known_default().or(default_port)) else {
            return invalid("it must have a host and a usable port");
        };
        let (authorization, socks_credentials) = match scheme {
            ProxyScheme::Http | ProxyScheme::Https => (basic_credentials(url), None),
            ProxyScheme::Socks5 => (None, credentials(url)),
        };
        let bad_length = |text: &String| text.is_empty() || text.len() > SOCKS_LOGIN_BYTES;
        if socks_credentials.as_ref().is_some_and(|(user, password)| bad_length(user) || bad_length(password))
        {
            return invalid("the user and password of a SOCKS proxy must have 1 to 255 bytes each");
        }
        Ok(Self(Arc::new(Parts { scheme, host, port, authorization, credentials: socks_credentials })))
    }

    pub(super) fn scheme(&self) -> ProxyScheme {
        self.0.scheme
    }

    pub(super) fn host(&self) -> &Host {
        &self.0.host
    }

    pub(super) fn port(&self) -> u16 {
        self.0.port
    }

    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.0.authorization.as_ref()
    }

    /// Returns the error of a proxy that could not be used. The name of the proxy goes to the log only.
    pub(super) fn error(&self, reason: &str, source: impl fmt::Display) -> FetchError {
        let source = format!("proxy {}:{}: {source}", self.0.host, self.0.port).into();
        FetchError::Proxy { reason: reason.to_owned(), status: None, source }
    }

    fn status_error(&self, status: StatusCode) -> FetchError {
        let source = format!("proxy {}:{} responded with {status}", self.0.host, self.0.port).into();
        FetchError::Proxy { reason: format!("it responded with {status}"), status: Some(status), source }
    }

    /// Requests a tunnel to `target` from the proxy at the other end of `stream` (RFC 9110, section 9.3.6).
    pub(super) async fn tunnel(&self, stream: AnyStream, target: Authority) -> Result<AnyStream, FetchError> {
        let invalid = |error: hyper::Error| self.error("it sent an invalid response", error);
        let (mut sender, connection) =
            http1::Builder::new().handshake(TokioIo::new(stream)).await.map_err(invalid)?;
        tokio::spawn(async move {
            if let Err(error) = connection.with_upgrades().await {
                // The caller of the tunnel gets the error, too.
                tracing::debug!(%error, "a connection to a proxy ended with an error");
            }
        });
        let response = sender.send_request(self.connect_request(target)?).await.map_err(invalid)?;
        if !response.status().is_success() {
            return Err(self.status_error(response.status()));
        }
        Ok(Box::new(TokioIo::new(hyper::upgrade::on(response).await.map_err(invalid)?)))
    }

    /// Requests a tunnel to `target` from the SOCKS proxy at the other end of `stream` (RFC 1928, section 4).
    #[cfg(feature = "socks")]
    pub(super) async fn socks_tunnel(
        &self,
        stream: AnyStream,
        target: &Authority,
    ) -> Result<AnyStream, FetchError> {
        // URLs have brackets around IPv6 addresses, SOCKS does not.
        let host = target.host().trim_start_matches('[').trim_end_matches(']');
        let target = (host, target.port_u16().unwrap_or_default());
        let result = match &self.0.credentials {
            Some((user, password)) => {
                Socks5Stream::connect_with_password_and_socket(stream, target, user, password).await
            }
            None => Socks5Stream::connect_with_socket(stream, target).await,
        };
        match result {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(self.error(socks_reason(&error), error)),
        }
    }

    /// Fails: [`Proxy::new`] has rejected the proxy.
    #[cfg(not(feature = "socks"))]
    pub(super) async fn socks_tunnel(
        &self,
        _stream: AnyStream,
        _target: &Authority,
    ) -> Result<AnyStream, FetchError> {
        Err(self.error("this program was built without SOCKS", "enable the feature `socks`"))
    }

    fn connect_request(&self, target: Authority) -> Result<Request<Full<Bytes>>, FetchError> {
        let host = HeaderValue::from_str(target.as_str())
            .map_err(|error| self.error("it cannot connect to a host with this name", error))?;
        let mut request = Request::new(Full::default());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = Uri::from(target);
        request.headers_mut().insert(HOST, host);
        if let Some(authorization) = self.authorization() {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

/// Returns the host of a proxy URL. The URL parser does not parse the hosts of schemes that it does not know.
fn host(url: &Url) -> Option<Host> {
    match url.host()? {
        Host::Domain(name) => Host::parse(name).ok(),
        Host::Ipv4(address) => Some(Host::Ipv4(address)),
        Host::Ipv6(address) => Some(Host::Ipv6(address)),
    }
}

/// Returns the reason why a SOCKS proxy made no tunnel, without details of its network.
#[cfg(feature = "socks")]
fn socks_reason(error: &tokio_socks::Error) -> &'static str {
    use tokio_socks::Error;
    match error {
        Error::PasswordAuthFailure(_)
        | Error::AuthorizationRequired
        | Error::NoAcceptableAuthMethods
        | Error::UnknownAuthMethod => "it refused the user and password",
        Error::ConnectionNotAllowedByRuleset => "its rules forbid the connection",
        Error::GeneralSocksServerFailure
        | Error::NetworkUnreachable
        | Error::HostUnreachable
        | Error::ConnectionRefused
        | Error::TtlExpired => "it could not reach the host",
        _ => "it sent an invalid response",
    }
}

/// Formats a host and port as the target of a tunnel.
pub(super) fn authority(host: impl fmt::Display, port: u16) -> Result<Authority, FetchError> {
    let bad_url = |_| FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() };
    Authority::try_from(format!("{host}:{port}")).map_err(bad_url)
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { scheme, host, port, authorization: _, credentials: _ } = &*self.0;
        f.debug_struct("Proxy")
            .field("scheme", scheme)
            .field("host", &host.to_string())
            .field("port", port)
            .finish_non_exhaustive()
    }
}
