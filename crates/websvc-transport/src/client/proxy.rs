//! Forward proxies: where one is, and the tunnel that it is asked for, by HTTP or by SOCKS5.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::Authority;
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio_socks::tcp::Socks5Stream;
use url::{Host, Url};

use super::headers::{basic_credentials, credentials};
use crate::error::{ClientBuildError, FetchError};
use crate::tunnel::AnyStream;

/// A forward proxy that speaks HTTP, in the clear or over TLS, or SOCKS5 (RFC 1928). Cheap to clone.
///
/// Pages of `https` are reached through a tunnel (`CONNECT`), so the proxy sees no more of them than the host. Pages
/// of `http` are asked of an HTTP proxy itself when the client's guard is open, else through a tunnel too: a guard
/// that has to check addresses checks them before the proxy is asked, and the tunnel leads to the address that was
/// checked. Under an open guard names are resolved by the proxy. A SOCKS proxy only makes tunnels.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy(Arc<Parts>);

#[derive(PartialEq, Eq, Hash)]
struct Parts {
    scheme: ProxyScheme,
    host: Host,
    port: u16,
    /// For HTTP.
    authorization: Option<HeaderValue>,
    /// For SOCKS: user and password (RFC 1929).
    login: Option<(String, String)>,
}

/// The port of SOCKS proxies (RFC 1928, section 3).
const SOCKS_PORT: u16 = 1080;

/// The longest user and password of SOCKS, in bytes.
const SOCKS_LOGIN_BYTES: usize = 255;

/// How the proxy itself is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ProxyScheme {
    Http,
    Https,
    Socks5,
}

impl Proxy {
    /// Reads a proxy's address, such as `http://user:password@proxy.test:3128` or `socks5://proxy.test`. Without a
    /// port it is 80, 443 for `https` and 1080 for `socks5` (`socks5h` is the same). A user and password are sent as
    /// `Proxy-Authorization`, or as SOCKS has them.
    ///
    /// # Errors
    /// [`ClientBuildError::Proxy`] when the scheme is another, or the URL has more than a host, a port and credentials.
    pub fn new(url: &Url) -> Result<Self, ClientBuildError> {
        let refused = |reason| Err(ClientBuildError::Proxy { reason });
        let scheme = match url.scheme() {
            "http" => ProxyScheme::Http,
            "https" => ProxyScheme::Https,
            "socks5" | "socks5h" => ProxyScheme::Socks5,
            _ => return refused("its scheme must be http, https, socks5 or socks5h"),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return refused("it must end after the port");
        }
        let usual = matches!(scheme, ProxyScheme::Socks5).then_some(SOCKS_PORT);
        let (Some(host), Some(port @ 1..)) = (host(url), url.port_or_known_default().or(usual)) else {
            return refused("it must have a host and a usable port");
        };
        let (authorization, login) = match scheme {
            ProxyScheme::Http | ProxyScheme::Https => (basic_credentials(url), None),
            ProxyScheme::Socks5 => (None, credentials(url)),
        };
        let too_long = |text: &String| text.is_empty() || text.len() > SOCKS_LOGIN_BYTES;
        if login.as_ref().is_some_and(|(user, password)| too_long(user) || too_long(password)) {
            return refused("SOCKS takes a user and a password of 1 to 255 bytes each");
        }
        Ok(Self(Arc::new(Parts { scheme, host, port, authorization, login })))
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

    /// Says that the proxy could not be used; its name is for the log only.
    pub(super) fn failed(&self, reason: &str, source: impl fmt::Display) -> FetchError {
        let source = format!("proxy {}:{}: {source}", self.0.host, self.0.port).into();
        FetchError::Proxy { reason: reason.to_owned(), status: None, source }
    }

    fn refused(&self, status: StatusCode) -> FetchError {
        let source = format!("proxy {}:{} answered {status}", self.0.host, self.0.port).into();
        FetchError::Proxy { reason: format!("it answered {status}"), status: Some(status), source }
    }

    /// Asks the proxy on the other end of `stream` for a tunnel to `target` (RFC 9110, section 9.3.6).
    pub(super) async fn tunnel(&self, stream: AnyStream, target: Authority) -> Result<AnyStream, FetchError> {
        let broken = |error: hyper::Error| self.failed("it gave no valid answer", error);
        let (mut sender, connection) =
            http1::Builder::new().handshake(TokioIo::new(stream)).await.map_err(broken)?;
        tokio::spawn(async move {
            if let Err(error) = connection.with_upgrades().await {
                // Whoever waits for the tunnel gets the error, too.
                tracing::debug!(%error, "a connection to a proxy ended with an error");
            }
        });
        let response = sender.send_request(self.connect(target)?).await.map_err(broken)?;
        if !response.status().is_success() {
            return Err(self.refused(response.status()));
        }
        Ok(Box::new(TokioIo::new(hyper::upgrade::on(response).await.map_err(broken)?)))
    }

    /// Asks the SOCKS proxy on the other end of `stream` for a tunnel to `target` (RFC 1928, section 4).
    pub(super) async fn socks_tunnel(
        &self,
        stream: AnyStream,
        target: &Authority,
    ) -> Result<AnyStream, FetchError> {
        // An address of version 6 stands in brackets in a URL, and without them in SOCKS.
        let host = target.host().trim_start_matches('[').trim_end_matches(']');
        let target = (host, target.port_u16().unwrap_or_default());
        let made = match &self.0.login {
            Some((user, password)) => {
                Socks5Stream::connect_with_password_and_socket(stream, target, user, password).await
            }
            None => Socks5Stream::connect_with_socket(stream, target).await,
        };
        match made {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(self.failed(socks_reason(&error), error)),
        }
    }

    fn connect(&self, target: Authority) -> Result<Request<Full<Bytes>>, FetchError> {
        let host = HeaderValue::from_str(target.as_str())
            .map_err(|error| self.failed("it cannot be asked for this host", error))?;
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

/// Returns the host of a proxy's address; of schemes that it does not know, the URL parser leaves it as text.
fn host(url: &Url) -> Option<Host> {
    match url.host()? {
        Host::Domain(name) => Host::parse(name).ok(),
        Host::Ipv4(address) => Some(Host::Ipv4(address)),
        Host::Ipv6(address) => Some(Host::Ipv6(address)),
    }
}

/// Says why a SOCKS proxy made no tunnel, without a word of what is behind it.
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
        _ => "it gave no valid answer",
    }
}

/// Writes a host and port as the target of a tunnel.
pub(super) fn authority(host: impl fmt::Display, port: u16) -> Result<Authority, FetchError> {
    let bad = |_| FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() };
    Authority::try_from(format!("{host}:{port}")).map_err(bad)
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { scheme, host, port, authorization: _, login: _ } = &*self.0;
        f.debug_struct("Proxy")
            .field("scheme", scheme)
            .field("host", &host.to_string())
            .field("port", port)
            .finish_non_exhaustive()
    }
}
