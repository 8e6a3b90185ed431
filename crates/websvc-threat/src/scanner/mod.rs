//! Scanners: services elsewhere that tell the risk of one URL.

mod plain;
mod web_risk;

use std::fmt;
use std::time::Duration;

use http::header::{ACCEPT, RETRY_AFTER};
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;
use websvc_transport::{Client, FetchError, FetchResponse, RedirectPolicy};

use crate::error::{ScanError, ScannerError};

/// Endpoint of Google Web Risk for single URLs.
pub const WEB_RISK_URL: &str = "https://webrisk.googleapis.com/v1/uris:search";

/// The largest answer that is read.
const MAX_BODY_BYTES: u64 = 64 * 1024;

/// Verdict of a scanner about a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The risk, 0 to 100.
    pub score: u8,
    /// How long the verdict may be remembered, when the scanner says so.
    pub holds_for: Option<Duration>,
}

/// A service that tells the risk of URLs.
pub struct Scanner {
    client: Client,
    url: Url,
    kind: Kind,
    key: Option<HeaderValue>,
}

/// The language a scanner speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    WebRisk,
}

impl Scanner {
    /// Makes a scanner that is asked by `POST` with `{"url": "..."}` and answers `{"score": 0..100}`. A key is sent as a
    /// bearer token. `client` must be allowed to reach `url`.
    ///
    /// # Errors
    /// [`ScannerError::Key`]
    pub fn http(client: Client, url: Url, api_key: Option<&str>) -> Result<Self, ScannerError> {
        let key = api_key.map(|key| secret(&format!("Bearer {key}"))).transpose()?;
        Ok(Self { client, url, kind: Kind::Plain, key })
    }

    /// Makes a scanner that asks Google Web Risk, at [`WEB_RISK_URL`] or where else the same is answered.
    ///
    /// # Errors
    /// [`ScannerError::Key`]
    pub fn web_risk(client: Client, url: Url, api_key: &str) -> Result<Self, ScannerError> {
        Ok(Self { client, url, kind: Kind::WebRisk, key: Some(secret(api_key)?) })
    }

    /// Returns the name of the scanner, as the configuration spells it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "http",
            Kind::WebRisk => "web-risk",
        }
    }

    /// Asks about one URL, for at most `patience`.
    ///
    /// # Errors
    /// [`ScanError`]
    pub async fn scan(&self, url: &str, patience: Duration) -> Result<Verdict, ScanError> {
        let mut request = match self.kind {
            Kind::Plain => plain::request(&self.url, url),
            Kind::WebRisk => web_risk::request(&self.url, url),
        };
        if let Some(key) = &self.key {
            request.headers.insert(self.key_header(), key.clone());
        }
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        request.timeout = patience;
        request.max_body_bytes = MAX_BODY_BYTES;
        request.max_decoded_bytes = MAX_BODY_BYTES;
        // A header with a secret does not go elsewhere by itself.
        request.redirects = RedirectPolicy::None;
        let fetched = self.client.fetch(request).await.map_err(|error| unreachable(&error, patience))?;
        let answer = read_json(&fetched)?;
        match self.kind {
            Kind::Plain => plain::read(&answer),
            Kind::WebRisk => web_risk::read(&answer, jiff::Timestamp::now()),
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
    /// Leaves out the key, and the address, which may hold one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner").field("kind", &self.kind).finish_non_exhaustive()
    }
}

fn secret(text: &str) -> Result<HeaderValue, ScannerError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ScannerError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Tells what went wrong without the host and without any source.
fn unreachable(error: &FetchError, patience: Duration) -> ScanError {
    let text = match error {
        FetchError::Timeout { .. } => return ScanError::Timeout { after: patience },
        FetchError::Dns { .. } => "its host was not found",
        FetchError::Connect { .. } => "it cannot be connected to",
        FetchError::Tls { .. } => "there is no secure connection to it",
        FetchError::TooLarge { .. } | FetchError::Decode { .. } => {
            return ScanError::Unreadable { what: "too large or damaged" };
        }
        _ => "it did not answer",
    };
    ScanError::Unreachable { text: text.to_owned() }
}

fn read_json(fetched: &FetchResponse) -> Result<Value, ScanError> {
    if !fetched.status.is_success() {
        let retry_after =
            fetched.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        return Err(ScanError::Status {
            status: fetched.status.as_u16(),
            retry_after: retry_after.map(Duration::from_secs),
        });
    }
    if fetched.truncated {
        return Err(ScanError::Unreadable { what: "it broke off" });
    }
    serde_json::from_slice(&fetched.body).map_err(|_| ScanError::Unreadable { what: "not valid JSON" })
}
