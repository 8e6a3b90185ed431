//! Settings of a client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use url::Url;
use websvc_transport::{AddressGuard, ClientConfig, Proxy};

use crate::call::HttpTransport;
use crate::client::Client;
use crate::error::ClientError;
use crate::retry::RetryPolicy;

/// Maximum number of concurrent connections to the service.
const MAX_CONNECTIONS: usize = 256;

/// Maximum number of idle connections that stay open.
const MAX_IDLE_CONNECTIONS: usize = 32;

/// Builder of a [`Client`], created by [`Client::builder`].
///
/// | Setting | Default |
/// |---|---|
/// | [`key`](Self::key) | none: requests are sent without authentication |
/// | [`timeout`](Self::timeout) | the timeout of the request and 5 seconds, otherwise 60 seconds |
/// | [`connect_timeout`](Self::connect_timeout) | 10 seconds |
/// | [`proxy`](Self::proxy) | none; environment variables are not read |
/// | [`ca_file`](Self::ca_file) | the certificates of the system |
/// | [`user_agent`](Self::user_agent) | `websvc/` and the version of this crate |
/// | [`retry`](Self::retry) | [`RetryPolicy::default`] |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use websvc::{Client, RetryPolicy};
///
/// let client = Client::builder("https://search.example".parse()?)
///     .key("fc-...")
///     .timeout(Duration::from_secs(20))
///     .proxy("http://proxy.example:3128".parse()?)
///     .retry(RetryPolicy { attempts: 5, ..RetryPolicy::default() })
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct ClientBuilder {
    base: Url,
    key: Option<String>,
    timeout: Option<Duration>,
    connect_timeout: Duration,
    proxy: Option<Url>,
    ca_file: Option<PathBuf>,
    user_agent: String,
    retry: RetryPolicy,
}

impl Client {
    /// Creates a builder for a client of the service at the URL `base`.
    ///
    /// # Examples
    ///
    /// ```
    /// let client = websvc::Client::builder("https://search.example".parse()?).user_agent("links/1.0").build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(base: Url) -> ClientBuilder {
        ClientBuilder::new(base)
    }
}

impl ClientBuilder {
    /// Creates a builder with the default settings, the same as [`Client::builder`].
    pub fn new(base: Url) -> Self {
        Self {
            base,
            key: None,
            timeout: None,
            connect_timeout: Duration::from_secs(10),
            proxy: None,
            ca_file: None,
            user_agent: concat!("websvc/", env!("CARGO_PKG_VERSION")).to_owned(),
            retry: RetryPolicy::default(),
        }
    }

    /// Sets the API key, which is sent with every request as a bearer token. An empty key is not sent.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the time limit of a whole call: all attempts and the waits between them.
    ///
    /// A call that exceeds it fails. Another attempt that could not finish within it is not made.
    ///
    /// Default: for a search, a scrape or a map, the timeout of the request (60 seconds if it has none) and 5 seconds,
    /// so that a 408 of the service arrives; for other calls 60 seconds. To limit the time that the service spends on a
    /// search, set the timeout of the request with [`SearchBuilder::timeout`](crate::SearchBuilder::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the time limit of opening a connection: name resolution, proxy, TLS handshake. Default: 10 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Connects through a forward proxy, such as `http://user:password@proxy.example:3128`. The scheme is `http`, `https`,
    /// or `socks5` with the feature `socks`. Environment variables such as `HTTPS_PROXY` are not read.
    pub fn proxy(mut self, proxy: Url) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Trusts the certificates of a PEM file in addition to those of the system, for a service or a proxy with a
    /// certificate of a private authority.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    /// Sets the `User-Agent` of the requests. Default: `websvc/` and the version of this crate.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = user_agent.into();
        self
    }

    /// Sets the policy for repeating failed requests. Default: [`RetryPolicy::default`].
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Creates the client. No connection is opened before the first call.
    ///
    /// # Errors
    /// - [`ClientError::Config`] if the base URL is not an http or https URL without user name, query and fragment, or if
    ///   the key or the user agent cannot be sent in a header.
    /// - [`ClientError::Transport`] if the proxy URL or the PEM file is invalid.
    pub fn build(self) -> Result<Client, ClientError> {
        let Self { base, key, timeout, connect_timeout, proxy, ca_file, user_agent, retry } = self;
        check_base(&base)?;
        let authorization = key.filter(|key| !key.is_empty()).map(|key| bearer(&key)).transpose()?;
        let proxy = proxy.map(|url| Proxy::new(&url)).transpose()?;
        let config = ClientConfig {
            ca_file,
            user_agent: Some(header("user agent", &user_agent)?),
            connections_per_host: MAX_CONNECTIONS,
            idle_per_host: MAX_IDLE_CONNECTIONS,
            ..ClientConfig::new(AddressGuard::open())
        };
        let http = websvc_transport::Client::new(config)?;
        let transport = HttpTransport { base, authorization, proxy, connect_timeout, retry, http };
        Ok(Client { transport: Arc::new(transport), timeout })
    }
}

/// Omits the API key, and the proxy, whose URL may contain a password.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("base", &self.base.host_str())
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("ca_file", &self.ca_file)
            .field("user_agent", &self.user_agent)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

fn check_base(base: &Url) -> Result<(), ClientError> {
    let invalid = |rule| Err(ClientError::Config { setting: "base URL", rule });
    if !matches!(base.scheme(), "http" | "https") {
        return invalid("the scheme must be http or https");
    }
    if !base.username().is_empty() || base.password().is_some() {
        return invalid("it must not contain a user name or password; the service expects an API key");
    }
    if base.query().is_some() || base.fragment().is_some() {
        return invalid("it must not have a query or fragment");
    }
    Ok(())
}

fn bearer(key: &str) -> Result<HeaderValue, ClientError> {
    let mut value = header("API key", &format!("Bearer {key}"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn header(setting: &'static str, text: &str) -> Result<HeaderValue, ClientError> {
    let rule = "it contains characters that are not allowed in a header";
    HeaderValue::from_str(text).map_err(|_invalid| ClientError::Config { setting, rule })
}
