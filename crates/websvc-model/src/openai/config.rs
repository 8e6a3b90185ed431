//! The configuration of an endpoint, and the headers that follow from it.

use std::fmt;
use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;
use websvc_transport::{Client, is_forbidden_header};

/// The maximum number of additional headers. Servers limit the size of all headers.
const MAX_HEADERS: usize = 32;

/// The headers that the client sets itself, besides those that no caller may set.
const OWN_HEADERS: [HeaderName; 3] = [ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE];

/// The error of an invalid configuration. It contains no value of a header and no part of the URL, which may be secret.
#[derive(Debug, thiserror::Error)]
pub enum OpenAiError {
    /// The API key is not a valid header value.
    #[error("the key contains characters that are not allowed in a header")]
    Key,
    /// Paths cannot be appended to the URL.
    #[error("the URL must be http or https, without user and fragment")]
    BaseUrl,
    /// The client sets the header itself.
    #[error("the header {name} is set by the client itself")]
    Header {
        /// The name of the header.
        name: HeaderName,
    },
    /// The API key is sent in a header that is configured, too.
    #[error("the header authorization is set twice: here, and by the API key")]
    TwoKeys,
    /// There are too many headers.
    #[error("there are more than {MAX_HEADERS} headers")]
    Headers,
    /// The temperature is out of its range.
    #[error("the temperature must be from 0 to 2")]
    Temperature,
    /// The client sets a parameter itself.
    #[error("`{name}` is set by the client itself{}", key.map_or_else(String::new, |key| format!(", set `{key}` in its place")))]
    ExtraParameter {
        /// The name of the parameter.
        name: &'static str,
        /// The name of the configured value that sets it, if there is one.
        key: Option<&'static str>,
    },
    /// The additional parameters are too long.
    #[error("it is longer than 16 KiB")]
    ExtraBody,
}

impl OpenAiError {
    /// Returns the name of the field of [`OpenAiConfig`] that is invalid.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Key => "api_key",
            Self::BaseUrl => "base_url",
            Self::Header { .. } | Self::TwoKeys | Self::Headers => "headers",
            Self::Temperature => "temperature",
            Self::ExtraParameter { .. } | Self::ExtraBody => "extra_body",
        }
    }
}

/// The configuration of an endpoint.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// The client. It must be allowed to connect to the endpoint, which the operator has configured.
    pub client: Client,
    /// The base URL of `chat/completions`, which usually ends with `/v1`. Its query is a part of every request.
    pub base_url: Url,
    /// The API key, which is sent as a bearer token.
    pub api_key: Option<String>,
    /// Additional headers of every request. Their values are secret.
    pub headers: HeaderMap,
    /// The model for completions.
    pub model: Option<String>,
    /// The model for reranking.
    pub rerank_model: Option<String>,
    /// The `reasoning_effort` of requests, such as `low`. Its values depend on the endpoint.
    pub reasoning_effort: Option<String>,
    /// The temperature of completions, from 0 to 2.
    pub temperature: f64,
    /// The seed of completions; `None` for that of the server.
    pub seed: Option<u32>,
    /// Additional parameters of the body of every completion, up to 16 KiB as JSON.
    pub extra_body: Map<String, Value>,
    /// The time for one request with its retries, from the time at which it may be sent. The deadline of the request may be
    /// earlier.
    pub timeout: Duration,
    /// The maximum number of concurrent requests. Further requests wait.
    pub concurrency: usize,
    /// The maximum length of a request, in characters.
    pub max_input_chars: usize,
    /// True if several formats of a page should share one request.
    pub combine: bool,
    /// The context of the server for a request and its response, in tokens; `None` if it is not known.
    pub context_tokens: Option<u32>,
    /// An upper bound for the length of any response, in tokens.
    pub max_output_tokens: Option<u32>,
}

impl OpenAiConfig {
    /// Returns the defaults: temperature 0, 120 seconds, 4 concurrent requests, 48,000 characters, which are about 12,000
    /// tokens, and no limit of tokens.
    #[must_use]
    pub fn new(client: Client, base_url: Url) -> Self {
        Self {
            client,
            base_url,
            api_key: None,
            headers: HeaderMap::new(),
            model: None,
            rerank_model: None,
            reasoning_effort: None,
            temperature: 0.0,
            seed: None,
            extra_body: Map::new(),
            timeout: Duration::from_secs(120),
            concurrency: 4,
            max_input_chars: 48_000,
            combine: false,
            context_tokens: None,
            max_output_tokens: None,
        }
    }

    /// Checks the URL and the headers, and returns the headers of every request.
    pub(super) fn request_headers(&self) -> Result<HeaderMap, OpenAiError> {
        let Self { base_url, api_key, headers, .. } = self;
        let has_user = !base_url.username().is_empty() || base_url.password().is_some();
        if has_user || base_url.fragment().is_some() || !matches!(base_url.scheme(), "http" | "https") {
            return Err(OpenAiError::BaseUrl);
        }
        if headers.len() > MAX_HEADERS {
            return Err(OpenAiError::Headers);
        }
        let mut own = headers.keys().filter(|name| is_forbidden_header(name) || OWN_HEADERS.contains(name));
        if let Some(name) = own.next() {
            return Err(OpenAiError::Header { name: name.clone() });
        }
        let mut headers = headers.clone();
        headers.values_mut().for_each(|value| value.set_sensitive(true));
        if let Some(key) = api_key.as_deref().filter(|key| !key.is_empty())
            && headers.insert(AUTHORIZATION, bearer(key)?).is_some()
        {
            return Err(OpenAiError::TwoKeys);
        }
        Ok(headers)
    }
}

impl fmt::Debug for OpenAiConfig {
    /// Omits the key, the headers, the additional parameters, and the URL, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Returns the value of the `Authorization` header for an API key.
fn bearer(key: &str) -> Result<HeaderValue, OpenAiError> {
    let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| OpenAiError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}
