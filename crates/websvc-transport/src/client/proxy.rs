//! Forward proxies: where one is, and the tunnel that it is asked for.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::Authority;
use http::{Method, Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use url::{Host, Url};

use super::headers::basic_credentials;
use crate::error::{ClientError, FetchError};

/// A forward proxy that speaks HTTP, in the clear or over TLS. Cheap to clone.
///
/// Pages of `https` are reached through a tunnel (`CONNECT`), so the proxy sees no more of them than the host. Pages
/// of `http` are asked of the proxy itself when the client's guard is open, else through a tunnel too: a guard
/// that has to check addresses checks them before the proxy is asked, and the tunnel leads to the address that was
/// checked. Under an open guard names are resolved by the proxy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Proxy(Arc<Parts>);

#[derive(PartialEq, Eq, Hash)]
struct Parts {
    scheme: ProxyScheme,
    host: Host,
    port: u16,
    authorization: Option<HeaderValue>,
}

/// How the proxy itself is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ProxyScheme {
    Http,
    Https,
}

impl Proxy {
    /// Reads a proxy's address, such as `http://user:password@proxy.test:3128`. Without a port it is 80, or 443 for
    /// `https`. A user and password are sent as `Proxy-Authorization`.
    ///
    /// # Errors
    /// [`ClientError::Proxy`] when the scheme is another, or the URL has more than a host, a port and credentials.
    pub fn new(url: &Url) -> Result<Self, ClientError> {
        let refused = |reason| Err(ClientError::Proxy { reason });
        let scheme = match url.scheme() {
            "http" => ProxyScheme::Http,
            "https" => ProxyScheme::Https,
            _ => return refused("its scheme must be http or https"),
        };
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return refused("it must end after the port");
        }
        let (Some(host), Some(port @ 1..)) = (url.host(), url.port_or_known_default()) else {
            return refused("it must have a host and a usable port");
        };
        let authorization = basic_credentials(url);
        Ok(Self(Arc::new(Parts { scheme, host: host.to_owned(), port, authorization })))
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
    pub(super) async fn tunnel<T>(
        &self,
        stream: T,
        target: Authority,
    ) -> Result<TokioIo<Upgraded>, FetchError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
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
        Ok(TokioIo::new(hyper::upgrade::on(response).await.map_err(broken)?))
    }

    fn connect(&self, target: Authority) -> Result<Request<Empty<Bytes>>, FetchError> {
        let host = HeaderValue::from_str(target.as_str())
            .map_err(|error| self.failed("it cannot be asked for this host", error))?;
        let mut request = Request::new(Empty::new());
        *request.method_mut() = Method::CONNECT;
        *request.uri_mut() = Uri::from(target);
        request.headers_mut().insert(HOST, host);
        if let Some(authorization) = self.authorization() {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

/// Writes a host and port as the target of a tunnel.
pub(super) fn authority(host: impl fmt::Display, port: u16) -> Result<Authority, FetchError> {
    let bad = |_| FetchError::BadUrl { reason: "it cannot be written as a request".to_owned() };
    Authority::try_from(format!("{host}:{port}")).map_err(bad)
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { scheme, host, port, authorization: _ } = &*self.0;
        f.debug_struct("Proxy")
            .field("scheme", scheme)
            .field("host", &host.to_string())
            .field("port", port)
            .finish_non_exhaustive()
    }
}
