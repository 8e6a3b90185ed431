//! Scanners: external services that rate the risk of a URL.

mod plain;
mod verdict;
mod web_risk;

use std::fmt;
use std::time::Duration;

use http::header::ACCEPT;
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;
use websvc_transport::{Client, FetchError, FetchResponse, RedirectPolicy, retry_after};

use crate::threat::error::{ScanError, ScannerError};

pub use verdict::Verdict;

/// The endpoint of Google Web Risk for single URLs.
pub const WEB_RISK_URL: &str = "https://webrisk.googleapis.com/v1/uris:search";

/// The maximum size of a response.
const MAX_BODY_BYTES: u64 = 64 * 1024;

/// A client of a service that rates the risk of URLs.
pub struct Scanner {
    client: Client,
    url: Url,
    kind: Kind,
    key: Option<HeaderValue>,
}

/// The protocol of a scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    WebRisk,
}

impl Scanner {
    /// Creates a scanner that receives `POST` requests with `{"url": "..."}` and responds with `{"score": 0..100}`. The API
    /// key is sent as a bearer token. `client` must be allowed to connect to `url`.
    ///
    /// # Errors
    /// [`ScannerError::Key`] if the key is not a valid header value.
    pub fn http(client: Client, url: Url, api_key: Option<&str>) -> Result<Self, ScannerError> {
        let key = api_key.map(|key| sensitive_header(&format!("Bearer {key}"))).transpose()?;
        Ok(Self { client, url, kind: Kind::Plain, key })
    }

    /// Creates a scanner for Google Web Risk, at [`WEB_RISK_URL`] or at a compatible service.
    ///
    /// # Errors
    /// [`ScannerError::Key`] if the key is not a valid header value.
    pub fn web_risk(client: Client, url: Url, api_key: &str) -> Result<Self, ScannerError> {
        Ok(Self { client, url, kind: Kind::WebRisk, key: Some(sensitive_header(api_key)?) })
    }

    /// Returns the name of the scanner in the configuration.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "http",
            Kind::WebRisk => "web-risk",
        }
    }

    /// Scans one URL.
    ///
    /// # Errors
    /// [`ScanError`] if the scanner returns no verdict before the timeout.
    pub async fn scan(&self, url: &str, timeout: Duration) -> Result<Verdict, ScanError> {
        let mut request = match self.kind {
            Kind::Plain => plain::request(&self.url, url),
            Kind::WebRisk => web_risk::request(&self.url, url),
        };
        if let Some(key) = &self.key {
            request.headers.insert(self.key_header(), key.clone());
        }
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        request.timeout = timeout;
        request.max_body_bytes = MAX_BODY_BYTES;
        request.max_decoded_bytes = MAX_BODY_BYTES;
        // A header with a secret must not be sent to another host.
        request.redirects = RedirectPolicy::None;
        let response = self.client.fetch(request).await.map_err(|error| to_scan_error(&error, timeout))?;
        let body = read_json(&response)?;
        match self.kind {
            Kind::Plain => plain::read(&body),
            Kind::WebRisk => web_risk::read(&body, jiff::Timestamp::now()),
        }
    }

    fn key_header(&self) -> HeaderName {
        match self.kind {
            Kind::Plain => http::header::AUTHORIZATION,
            Kind::WebRisk => web_risk::KEY_HEADER,
        }
    }
}

impl fmt::Debug for Scanner {
    /// Omits the key, and the URL, which may contain one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("kind", &self.kind).finish_non_exhaustive()
    }
}

fn sensitive_header(text: &str) -> Result<HeaderValue, ScannerError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ScannerError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Converts an error of the client, without the host and the sources.
fn to_scan_error(error: &FetchError, timeout: Duration) -> ScanError {
    let text = match error {
        FetchError::Timeout { .. } => return ScanError::Timeout { after: timeout },
        FetchError::Dns { .. } => "host not found",
        FetchError::Connect { .. } => "could not connect",
        FetchError::Tls { .. } => "TLS handshake failed",
        FetchError::TooLarge { .. } | FetchError::Decode { .. } => {
            return ScanError::Unreadable { what: "too large or damaged" };
        }
        _ => "no response",
    };
    ScanError::Unreachable { text: text.to_owned() }
}

fn read_json(response: &FetchResponse) -> Result<Value, ScanError> {
    if !response.status.is_success() {
        let retry_after = retry_after(&response.headers);
        return Err(ScanError::Status { status: response.status.as_u16(), retry_after });
    }
    if response.truncated {
        return Err(ScanError::Unreadable { what: "it is incomplete" });
    }
    serde_json::from_slice(&response.body).map_err(|_| ScanError::Unreadable { what: "not valid JSON" })
}
