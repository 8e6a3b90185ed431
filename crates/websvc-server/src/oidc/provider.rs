//! The documents of a provider: its metadata (OpenID Connect Discovery) and its keys, cached within bounds.
//!
//! They are fetched when they are needed and older than [`ProviderTiming::max_age`], or when a token names a key that they do
//! not have, but at most once per [`ProviderTiming::refresh_interval`]: tokens of attackers cause no more. While the provider
//! does not respond, the last documents count until they are older than [`ProviderTiming::max_stale`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::RwLock;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tokio::sync::{Mutex, OwnedMutexGuard};
use url::Url;
use websvc_transport::{Client, FetchRequest, FetchResponse, RedirectPolicy};

use super::key_set::KeySet;
use crate::oauth::is_loopback_http;

/// Maximum size of the metadata, and of a response to a code.
pub(super) const MAX_DOCUMENT_BYTES: u64 = 128 * 1024;
/// Maximum size of the keys.
const MAX_KEY_SET_BYTES: u64 = 512 * 1024;
/// Time limit of a request to the provider.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of a connection to the provider.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The times of the cache.
#[derive(Debug, Clone, Copy)]
pub struct ProviderTiming {
    /// The age from which the documents are fetched again: 15 minutes.
    pub max_age: Duration,
    /// The age up to which they count while the provider does not respond: 24 hours.
    pub max_stale: Duration,
    /// The minimum time between two attempts to fetch them: 30 seconds.
    pub refresh_interval: Duration,
}

impl Default for ProviderTiming {
    fn default() -> Self {
        Self {
            max_age: Duration::from_secs(15 * 60),
            max_stale: Duration::from_secs(24 * 3600),
            refresh_interval: Duration::from_secs(30),
        }
    }
}

/// The error of a provider that gives no documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// It does not respond, or with an error.
    #[error("{url} cannot be fetched: {reason}")]
    Fetch {
        /// The URL of the document.
        url: String,
        /// The reason.
        reason: String,
    },
    /// A document breaks a rule.
    #[error("{url} is not valid: {rule}")]
    Document {
        /// The URL of the document.
        url: String,
        /// The broken rule.
        rule: String,
    },
}

/// The metadata of a provider, as far as they matter here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    #[serde(deserialize_with = "url")]
    jwks_uri: Url,
    #[serde(default, deserialize_with = "optional_url")]
    pub(super) authorization_endpoint: Option<Url>,
    #[serde(default, deserialize_with = "optional_url")]
    pub(super) token_endpoint: Option<Url>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|error| D::Error::custom(format!("{text:?} is not a URL: {error}")))
}

fn optional_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    url(deserializer).map(Some)
}

/// The documents of a provider.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) metadata: Metadata,
    pub(super) keys: KeySet,
    fetched_at: Instant,
}

/// A provider, with its cache.
#[derive(Debug)]
pub(super) struct Provider {
    client: Client,
    issuer: String,
    url: Url,
    timing: ProviderTiming,
    documents: RwLock<Option<Arc<Documents>>>,
    /// The last attempt to fetch the documents. Locked during an attempt.
    attempt: Arc<Mutex<Option<Attempt>>>,
}

#[derive(Debug)]
struct Attempt {
    at: Instant,
    error: Option<ProviderError>,
}

impl Provider {
    /// Returns the provider with this issuer, which was checked before.
    pub(super) fn new(client: Client, issuer: &Url, text: &str, timing: ProviderTiming) -> Self {
        let mut url = issuer.clone();
        let path = format!("{}/.well-known/openid-configuration", issuer.path().trim_end_matches('/'));
        url.set_path(&path);
        let (documents, attempt) = (RwLock::default(), Arc::default());
        Self { client, issuer: text.to_owned(), url, timing, documents, attempt }
    }

    /// Returns the documents: cached ones if they are fresh and enough for the caller, and otherwise new ones, if it is time
    /// for an attempt. They may still not be enough.
    ///
    /// # Errors
    /// [`ProviderError`] of the last attempt, if there are no documents that still count.
    pub(super) async fn documents(
        self: &Arc<Self>,
        is_enough: impl Fn(&Documents) -> bool,
    ) -> Result<Arc<Documents>, ProviderError> {
        let usable = self.cached(self.timing.max_stale).filter(|documents| is_enough(documents));
        if let Some(fresh) = usable.as_ref().filter(|documents| self.is_fresh(documents)) {
            return Ok(Arc::clone(fresh));
        }
        let guard = match (usable, Arc::clone(&self.attempt).try_lock_owned()) {
            (_, Ok(guard)) => guard,
            // Another request is fetching them. Only what needs new ones waits.
            (Some(usable), Err(_)) => return Ok(usable),
            (None, Err(_)) => Arc::clone(&self.attempt).lock_owned().await,
        };
        let cached = self.cached(self.timing.max_stale);
        if let Some(fresh) = cached.as_ref().filter(|cached| self.is_fresh(cached) && is_enough(cached)) {
            return Ok(Arc::clone(fresh));
        }
        let interval = self.timing.refresh_interval;
        match &*guard {
            Some(Attempt { at, error }) if at.elapsed() < interval => match (cached, error) {
                (Some(cached), _) => return Ok(cached),
                (None, Some(error)) => return Err(error.clone()),
                // The last attempt succeeded, and its documents are too old already.
                (None, None) => {}
            },
            Some(_) | None => {}
        }
        // A client that disconnects must not cancel the attempt, which counts for the interval.
        let attempt = tokio::spawn(Arc::clone(self).refresh(guard));
        let fetched = attempt.await.unwrap_or_else(|error| Err(failed(&self.url, &error)));
        fetched.or_else(|error| self.cached(self.timing.max_stale).ok_or(error))
    }

    /// Fetches the documents, and stores them or the error.
    async fn refresh(
        self: Arc<Self>,
        mut guard: OwnedMutexGuard<Option<Attempt>>,
    ) -> Result<Arc<Documents>, ProviderError> {
        let fetched = self.fetch().await;
        let error = fetched.as_ref().err().cloned();
        if let Some(error) = &error {
            tracing::warn!(%error, "the documents of the identity provider could not be fetched");
        }
        *guard = Some(Attempt { at: Instant::now(), error });
        let documents = Arc::new(fetched?);
        *self.documents.write() = Some(Arc::clone(&documents));
        Ok(documents)
    }

    async fn fetch(&self) -> Result<Documents, ProviderError> {
        let metadata = self.fetch_document(&self.url, MAX_DOCUMENT_BYTES).await?;
        let metadata: Metadata = serde_json::from_slice(&metadata)
            .map_err(|error| invalid(&self.url, format!("it is not the metadata of a provider: {error}")))?;
        self.check(&metadata)?;
        let keys = self.fetch_document(&metadata.jwks_uri, MAX_KEY_SET_BYTES).await?;
        let keys = KeySet::parse(&keys).map_err(|rule| invalid(&metadata.jwks_uri, rule))?;
        Ok(Documents { metadata, keys, fetched_at: Instant::now() })
    }

    /// Checks that the metadata belong to the issuer (OpenID Connect Discovery, section 4.3), and that no address of them is
    /// less protected than its own.
    fn check(&self, metadata: &Metadata) -> Result<(), ProviderError> {
        if metadata.issuer != self.issuer {
            let rule = format!("its issuer is {:?} and not {:?}", metadata.issuer, self.issuer);
            return Err(invalid(&self.url, rule));
        }
        let Metadata { jwks_uri, authorization_endpoint, token_endpoint, .. } = metadata;
        let addresses = [Some(jwks_uri), authorization_endpoint.as_ref(), token_endpoint.as_ref()];
        let is_plain =
            |url: &&Url| url.scheme() != "https" && !(is_loopback_http(url) && is_loopback_http(&self.url));
        match addresses.into_iter().flatten().find(is_plain) {
            Some(plain) => Err(invalid(&self.url, format!("{plain} is not an https URL"))),
            None => Ok(()),
        }
    }

    async fn fetch_document(&self, url: &Url, max_bytes: u64) -> Result<Bytes, ProviderError> {
        let response = self.send(FetchRequest::get(url.clone()), max_bytes).await?;
        if response.status != http::StatusCode::OK {
            let reason = format!("it responds with status {}", response.status.as_u16());
            return Err(ProviderError::Fetch { url: url.to_string(), reason });
        }
        Ok(response.body)
    }

    /// Sends a request to the provider within the bounds. A redirect is not followed.
    pub(super) async fn send(
        &self,
        request: FetchRequest,
        max_bytes: u64,
    ) -> Result<FetchResponse, ProviderError> {
        let url = request.url.clone();
        let request = FetchRequest {
            timeout: TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            max_body_bytes: max_bytes,
            max_decoded_bytes: max_bytes,
            redirects: RedirectPolicy::None,
            ..request
        };
        self.client.fetch(request).await.map_err(|error| failed(&url, &error))
    }

    /// Returns the cached documents, if they are not older.
    fn cached(&self, max_age: Duration) -> Option<Arc<Documents>> {
        let documents = self.documents.read().clone();
        documents.filter(|documents| documents.fetched_at.elapsed() <= max_age)
    }

    fn is_fresh(&self, documents: &Documents) -> bool {
        documents.fetched_at.elapsed() <= self.timing.max_age
    }
}

fn failed(url: &Url, error: &(dyn std::error::Error + 'static)) -> ProviderError {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    ProviderError::Fetch { url: url.to_string(), reason: causes.join(": ") }
}

fn invalid(url: &Url, rule: impl Into<String>) -> ProviderError {
    ProviderError::Document { url: url.to_string(), rule: rule.into() }
}
