//! Contents in a bucket of an S3-compatible service, through the guarded client.
//!
//! Requests are signed in their URLs (Signature Version 4). Contents are never read through us: a signed URL of ours leads to
//! one of the service, which is valid for minutes.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rusty_s3::{Credentials, S3Action, UrlStyle};
use url::Url;
use websvc_transport::{Client, FetchError, FetchPhase, FetchRequest, FetchResponse, RedirectPolicy};

use crate::error::ArtifactError;
use crate::kind::ArtifactKind;

/// How long the URL is valid that a reader is led to: time to follow it, not to hand it on.
const SIGNED_URL_LIFE: Duration = Duration::from_secs(300);
/// How long the URL of a request of ours is valid: the clocks of the two machines may differ by some minutes.
const REQUEST_LIFE: Duration = Duration::from_secs(900);
/// The time for one request to the service.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Pauses before a request that failed is tried again.
const RETRY_PAUSES: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_millis(800), Duration::from_millis(3_200)];
/// The service's answers are short: errors in XML.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;
/// Characters of what the service said that an error repeats.
const MAX_REASON_CHARS: usize = 300;

/// A bucket and how it is reached.
#[derive(Clone)]
pub struct S3Config {
    /// Reaches the endpoint and nothing that it need not.
    pub client: Client,
    /// The service, such as `https://s3.eu-central-1.amazonaws.com`; the bucket follows in the path.
    pub endpoint: Url,
    /// The region that requests are signed for.
    pub region: String,
    /// The name of the bucket, which has to exist.
    pub bucket: String,
    /// Prefix of all object names; may be empty.
    pub prefix: String,
    /// ID of the access key that signs requests.
    pub access_key_id: String,
    /// Secret of the access key.
    pub secret_access_key: String,
}

impl fmt::Debug for S3Config {
    /// Leaves out the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Config")
            .field("endpoint", &self.endpoint.as_str())
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// An open bucket.
pub(crate) struct Bucket {
    client: Client,
    service: rusty_s3::Bucket,
    credentials: Credentials,
    /// Empty, or ends with a slash.
    prefix: String,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("name", &self.service.name())
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl Bucket {
    /// Checks the settings; nothing is asked of the service yet.
    pub(crate) fn open(config: S3Config) -> Result<Self, ArtifactError> {
        let S3Config { client, endpoint, region, bucket, prefix, access_key_id, secret_access_key } = config;
        let service = rusty_s3::Bucket::new(endpoint, UrlStyle::Path, bucket.clone(), region)
            .map_err(|source| ArtifactError::Bucket { bucket, source: Box::new(source) })?;
        let prefix = match prefix.trim_matches('/') {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        Ok(Self { client, service, credentials: Credentials::new(access_key_id, secret_access_key), prefix })
    }

    pub(crate) async fn write(
        &self,
        id: &str,
        kind: ArtifactKind,
        content: Bytes,
    ) -> Result<(), ArtifactError> {
        let described: [(HeaderName, Cow<'static, str>); 3] = [
            (CACHE_CONTROL, "private, immutable".into()),
            (CONTENT_DISPOSITION, kind.content_disposition(id).into()),
            (CONTENT_TYPE, kind.media_type().into()),
        ];
        let object = self.object(id, kind);
        let mut put = self.service.put_object(Some(&self.credentials), &object);
        let mut headers = HeaderMap::new();
        for (name, value) in described {
            let sent = HeaderValue::from_str(&value).map_err(|error| self.failure(error))?;
            put.headers_mut().insert(name.as_str().to_owned(), value);
            headers.insert(name, sent);
        }
        let request =
            Request { method: Method::PUT, url: put.sign(REQUEST_LIFE), headers, body: Some(content) };
        self.perform(request).await?;
        Ok(())
    }

    /// Removes an object; nothing to remove is fine.
    pub(crate) async fn remove(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        let object = self.object(id, kind);
        let url = self.service.delete_object(Some(&self.credentials), &object).sign(REQUEST_LIFE);
        let request = Request { method: Method::DELETE, url, headers: HeaderMap::new(), body: None };
        self.perform(request).await
    }

    /// Returns a URL of the service by which the object can be read with this method.
    pub(crate) fn signed_url(&self, id: &str, kind: ArtifactKind, method: &Method, remaining_s: u64) -> Url {
        let life = SIGNED_URL_LIFE.min(Duration::from_secs(remaining_s.max(1)));
        let object = self.object(id, kind);
        if *method == Method::HEAD {
            self.service.head_object(Some(&self.credentials), &object).sign(life)
        } else {
            self.service.get_object(Some(&self.credentials), &object).sign(life)
        }
    }

    fn object(&self, id: &str, kind: ArtifactKind) -> String {
        format!("{}{id}.{}", self.prefix, kind.extension())
    }

    /// Sends a request, again where that may help: writing and removing twice does no harm.
    async fn perform(&self, request: Request) -> Result<(), ArtifactError> {
        for pause in RETRY_PAUSES {
            match request.send(&self.client).await {
                Err(failure) if failure.may_pass() => {
                    tracing::debug!(bucket = self.service.name(), %failure, "a request to the bucket is tried again");
                    tokio::time::sleep(pause).await;
                }
                done => return done.map_err(|failure| self.failure(failure)),
            }
        }
        request.send(&self.client).await.map_err(|failure| self.failure(failure))
    }

    fn failure(&self, source: impl std::error::Error + Send + Sync + 'static) -> ArtifactError {
        ArtifactError::Bucket { bucket: self.service.name().to_owned(), source: Box::new(source) }
    }
}

/// A signed request.
struct Request {
    method: Method,
    url: Url,
    /// Those that are signed.
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Request {
    async fn send(&self, client: &Client) -> Result<(), RequestFailure> {
        let mut headers = self.headers.clone();
        // An answer is read as it is, not in another coding.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let fetch = FetchRequest {
            body: self.body.clone(),
            method: self.method.clone(),
            headers,
            timeout: REQUEST_TIMEOUT,
            max_body_bytes: MAX_ANSWER_BYTES,
            max_decoded_bytes: MAX_ANSWER_BYTES,
            redirects: RedirectPolicy::None,
            ..FetchRequest::get(self.url.clone())
        };
        let fetched = client.fetch(fetch).await?;
        let is_gone = self.method == Method::DELETE && fetched.status == StatusCode::NOT_FOUND;
        if fetched.status.is_success() || is_gone { Ok(()) } else { Err(RequestFailure::refused(&fetched)) }
    }
}

/// Why a request to the service failed.
#[derive(Debug, thiserror::Error)]
enum RequestFailure {
    #[error("the service cannot be reached")]
    Fetch(#[from] FetchError),
    #[error("the service answered {status}: {reason}")]
    Refused { status: StatusCode, reason: String },
}

impl RequestFailure {
    fn refused(fetched: &FetchResponse) -> Self {
        let text = String::from_utf8_lossy(&fetched.body);
        let parts: Vec<&str> = ["Code", "Message"].iter().filter_map(|name| element(&text, name)).collect();
        let reason = if parts.is_empty() { "no reason is given".to_owned() } else { parts.join(", ") };
        Self::Refused { status: fetched.status, reason: reason.chars().take(MAX_REASON_CHARS).collect() }
    }

    /// Returns `true` if the same request may succeed later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Fetch(
                FetchError::Dns { .. }
                | FetchError::Connect { .. }
                | FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. },
            ) => true,
            Self::Fetch(_) => false,
            Self::Refused { status, .. } => {
                *status == StatusCode::TOO_MANY_REQUESTS
                    || (status.is_server_error() && *status != StatusCode::INSUFFICIENT_STORAGE)
            }
        }
    }
}

/// Returns the text of the first element of this name in an error of the service, which has neither attributes nor nesting.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    Some(rest.split_once('<')?.0)
}
