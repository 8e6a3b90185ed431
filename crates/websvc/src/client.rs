//! The typed client of a running service.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;
use websvc_transport::{AddressGuard, ClientConfig, FetchError, FetchRequest, RedirectPolicy};
use websvc_types::index::{IndexReply, IndexStats, IndexUpload};
use websvc_types::limits::SEARCH_TIMEOUT_DEFAULT_MS;
use websvc_types::{ErrorBody, SearchRequest, SearchResponse};

/// What the client waits beyond the time the request itself has, so that the service's own 408 arrives.
const GRACE: Duration = Duration::from_secs(5);

/// How long a request without a time of its own may take.
const TIMEOUT: Duration = Duration::from_millis(SEARCH_TIMEOUT_DEFAULT_MS);

/// Asks a running service. Cheap to clone; connections are reused.
#[derive(Debug, Clone)]
pub struct Client {
    base: Url,
    authorization: Option<HeaderValue>,
    http: websvc_transport::Client,
}

/// Why a request to the service failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The base address is no http or https URL, or the key cannot be sent in a header.
    #[error("{what} is not usable: {rule}")]
    Config {
        /// Which setting.
        what: &'static str,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// The HTTP client could not be made.
    #[error("the http client could not be made")]
    Transport(#[from] websvc_transport::ClientError),
    /// The request could not be written as JSON.
    #[error("the request could not be written as json")]
    Encode(#[source] serde_json::Error),
    /// The service could not be reached, or did not answer in time.
    #[error("the service at {base} did not answer: {source}")]
    Unreachable {
        /// The base address.
        base: String,
        /// Why.
        source: Box<FetchError>,
    },
    /// The service answered with an error.
    #[error("the service answered {status}: {}", body.error)]
    Refused {
        /// The HTTP status.
        status: StatusCode,
        /// Its error body.
        body: Box<ErrorBody>,
    },
    /// The answer is not what the interface promises.
    #[error("the service answered {status} with what is no answer of websvc")]
    Unreadable {
        /// The HTTP status.
        status: StatusCode,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Client {
    /// Makes a client of the service at `base`, such as `http://127.0.0.1:3002`; a path in it is kept.
    ///
    /// # Errors
    /// [`ClientError::Config`]
    pub fn new(base: Url, key: Option<String>) -> Result<Self, ClientError> {
        if !matches!(base.scheme(), "http" | "https") {
            return Err(ClientError::Config {
                what: "the base address",
                rule: "it must begin with http or https",
            });
        }
        let authorization = match key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_invalid| {
                    ClientError::Config { what: "the key", rule: "it has characters that no header may have" }
                })?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let config = ClientConfig::new(AddressGuard::open());
        Ok(Self { base, authorization, http: websvc_transport::Client::new(config)? })
    }

    /// Searches: `POST /v2/search`.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchResponse, ClientError> {
        let timeout = request.timeout.map_or(TIMEOUT, Duration::from_millis);
        self.post("v2/search", request, timeout + GRACE).await
    }

    /// Adds documents to the service's index: `POST /v2/index/documents`.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn add_documents(&self, upload: &IndexUpload) -> Result<IndexReply, ClientError> {
        self.post("v2/index/documents", upload, TIMEOUT).await
    }

    /// Returns the figures of the service's index: `GET /v2/index/stats`.
    ///
    /// # Errors
    /// [`ClientError`]
    pub async fn index_stats(&self) -> Result<IndexStats, ClientError> {
        self.send(Method::GET, "v2/index/stats", None, TIMEOUT).await
    }

    async fn post<Q: Serialize, A: DeserializeOwned>(
        &self,
        path: &str,
        body: &Q,
        timeout: Duration,
    ) -> Result<A, ClientError> {
        let body = serde_json::to_vec(body).map_err(ClientError::Encode)?;
        self.send(Method::POST, path, Some(body.into()), timeout).await
    }

    async fn send<A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        timeout: Duration,
    ) -> Result<A, ClientError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{path}", self.base.path().trim_end_matches('/')));
        let mut request = FetchRequest::get(url);
        request.method = method;
        request.timeout = timeout;
        request.redirects = RedirectPolicy::None;
        if let Some(authorization) = &self.authorization {
            request.headers.insert(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = body {
            request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request.body = Some(body);
        }
        let answer = self.http.fetch(request).await;
        let answer = answer.map_err(|source| ClientError::Unreachable {
            base: self.base.to_string(),
            source: Box::new(source),
        })?;
        read(answer.status, &answer.body)
    }
}

fn read<A: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<A, ClientError> {
    let unreadable = |source| ClientError::Unreadable { status, source };
    if status == StatusCode::OK {
        return serde_json::from_slice(body).map_err(unreadable);
    }
    let body = serde_json::from_slice(body).map_err(unreadable)?;
    Err(ClientError::Refused { status, body: Box::new(body) })
}
