//! How a client is made.

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

/// Requests to the service at one time, and connections kept for later ones.
const CONNECTIONS: usize = 256;
const KEPT_CONNECTIONS: usize = 32;

/// The settings of a [`Client`]; made by [`Client::builder`].
///
/// ```
/// use std::time::Duration;
/// use websvc::{Client, Retry};
///
/// let client = Client::builder("https://search.example".parse()?)
///     .key("fc-...")
///     .timeout(Duration::from_secs(20))
///     .proxy("http://proxy.example:3128".parse()?)
///     .retry(Retry { attempts: 5, ..Retry::default() })
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

impl ClientBuilder {
    /// Starts from the defaults: no key, no proxy, the system's trust anchors, 10 seconds for a connection, and
    /// [`RetryPolicy::default`].
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

    /// Sends this key with every request, as a bearer token. Without it, or with an empty one, no key is sent.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Bounds every call: all its attempts and the waits between them. A call that is not done by then fails, and
    /// a repetition that could not be done by then is not begun.
    ///
    /// Without it a search has the time that its request gives the service (60 seconds if it does not say) and five
    /// seconds more, so that the service's own 408 arrives; other calls have 60 seconds. To have the service stop
    /// working on a search, give the time to the request, by [`SearchBuilder::timeout`](crate::Search::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Bounds the making of one connection: name, proxy, TLS handshake. Default: 10 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Connects through a forward proxy, such as `http://user:password@proxy.test:3128`; its scheme is `http`,
    /// `https` or `socks5`. Environment variables are not read.
    pub fn proxy(mut self, proxy: Url) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Trusts the certificates of a PEM file beside the system's: for a service, or a proxy, whose certificate an
    /// authority of one's own has signed.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    /// Sends this `User-Agent`. Default: `websvc/` and the version of this crate.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = user_agent.into();
        self
    }

    /// Sends requests that failed again by this policy. Default: [`RetryPolicy::default`].
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Makes the client. Nothing is connected to before the first call.
    ///
    /// # Errors
    /// [`ClientError::Config`] when the base address is not an http or https URL of a host and a path, or when the
    /// key or the user agent cannot be sent in a header; [`ClientError::Transport`] when the proxy's address or the
    /// PEM file cannot be used.
    pub fn build(self) -> Result<Client, ClientError> {
        let Self { base, key, timeout, connect_timeout, proxy, ca_file, user_agent, retry } = self;
        check_base(&base)?;
        let authorization = key.filter(|key| !key.is_empty()).map(|key| bearer(&key)).transpose()?;
        let proxy = proxy.map(|url| Proxy::new(&url)).transpose()?;
        let config = ClientConfig {
            ca_file,
            user_agent: Some(header("the user agent", &user_agent)?),
            connections_per_host: CONNECTIONS,
            idle_per_host: KEPT_CONNECTIONS,
            ..ClientConfig::new(AddressGuard::open())
        };
        let http = websvc_transport::Client::new(config)?;
        let line = HttpTransport { base, authorization, proxy, connect_timeout, retry, http };
        Ok(Client { line: Arc::new(line), timeout })
    }
}

/// The key and the password of the proxy stay out.
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
    let refused = |rule| Err(ClientError::Config { what: "the base address", rule });
    if !matches!(base.scheme(), "http" | "https") {
        return refused("it must begin with http or https");
    }
    if !base.username().is_empty() || base.password().is_some() {
        return refused("it must not have a user or password, the service takes a key");
    }
    if base.query().is_some() || base.fragment().is_some() {
        return refused("it must end with its path");
    }
    Ok(())
}

fn bearer(key: &str) -> Result<HeaderValue, ClientError> {
    let mut value = header("the key", &format!("Bearer {key}"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn header(what: &'static str, text: &str) -> Result<HeaderValue, ClientError> {
    let rule = "it has characters that no header may have";
    HeaderValue::from_str(text).map_err(|_invalid| ClientError::Config { what, rule })
}
