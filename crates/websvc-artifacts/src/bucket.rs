//! Contents in a bucket of an S3-compatible service, with the guarded client.
//!
//! Requests are signed in their URLs (Signature Version 4). The server does not read contents: it redirects a signed URL
//! to one of the service, which is valid for a few minutes.

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
use crate::file_name::FileName;
use crate::kind::ArtifactKind;

/// The validity of the URL to which a reader is redirected: enough to follow it, but not to share it.
const SIGNED_URL_TTL: Duration = Duration::from_secs(300);
/// The validity of the signature of a request. The clocks of the two machines may differ by some minutes.
const REQUEST_TTL: Duration = Duration::from_secs(900);
/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The delays before the retries of a failed request.
const RETRY_DELAYS: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_millis(800), Duration::from_millis(3_200)];
/// The maximum size of a response. Responses are short: errors in XML.
const MAX_RESPONSE_BYTES: u64 = 1024 * 1024;
/// The maximum length of the message of the service in an error, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The configuration of a bucket.
#[derive(Clone)]
pub struct S3Config {
    /// The client. It must be allowed to connect to the endpoint, and should not be allowed to connect to other private
    /// addresses.
    pub client: Client,
    /// The URL of the service, such as `https://s3.eu-central-1.amazonaws.com`. The bucket is added to the path.
    pub endpoint: Url,
    /// The region, which is part of the signature.
    pub region: String,
    /// The name of the bucket, which must exist.
    pub bucket: String,
    /// The prefix of all object names. May be empty.
    pub prefix: String,
    /// The ID of the access key that signs requests.
    pub access_key_id: String,
    /// The secret of the access key.
    pub secret_access_key: String,
}

impl fmt::Debug for S3Config {
    /// Omits the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Config")
            .field("endpoint", &self.endpoint.as_str())
            .field("bucket", &self.bucket)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// A bucket.
pub(crate) struct Bucket {
    client: Client,
    service: rusty_s3::Bucket,
    credentials: Credentials,
    /// The prefix of object names: empty, or ending with a slash.
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
    /// Validates the configuration. Sends no request.
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
        let metadata: [(HeaderName, Cow<'static, str>); 3] = [
            (CACHE_CONTROL, "private, immutable".into()),
            (CONTENT_DISPOSITION, kind.content_disposition(id, None).into()),
            (CONTENT_TYPE, kind.media_type().into()),
        ];
        let object = self.object_name(id, kind);
        let mut put = self.service.put_object(Some(&self.credentials), &object);
        let mut headers = HeaderMap::new();
        for (name, value) in metadata {
            let header = HeaderValue::from_str(&value).map_err(|error| self.to_error(error))?;
            put.headers_mut().insert(name.as_str().to_owned(), value);
            headers.insert(name, header);
        }
        let request =
            Request { method: Method::PUT, url: put.sign(REQUEST_TTL), headers, body: Some(content) };
        self.send(request).await
    }

    /// Removes an object. Succeeds if there is none.
    pub(crate) async fn remove(&self, id: &str, kind: ArtifactKind) -> Result<(), ArtifactError> {
        let object = self.object_name(id, kind);
        let url = self.service.delete_object(Some(&self.credentials), &object).sign(REQUEST_TTL);
        let request = Request { method: Method::DELETE, url, headers: HeaderMap::new(), body: None };
        self.send(request).await
    }

    /// Returns a URL of the service for the object. It is only valid for this method.
    pub(crate) fn signed_url(&self, info: &ContentInfo<'_>, method: &Method, remaining_s: u64) -> Url {
        let ContentInfo { id, kind, bytes: _, name } = *info;
        let ttl = SIGNED_URL_TTL.min(Duration::from_secs(remaining_s.max(1)));
        let object = self.object_name(id, kind);
        if *method == Method::HEAD {
            self.service.head_object(Some(&self.credentials), &object).sign(ttl)
        } else {
            let mut get = self.service.get_object(Some(&self.credentials), &object);
            if let Some(name) = name {
                // The object was stored without its name.
                let disposition = kind.content_disposition(id, Some(name));
                get.query_mut().insert("response-content-disposition", disposition);
            }
            get.sign(ttl)
        }
    }

    fn object_name(&self, id: &str, kind: ArtifactKind) -> String {
        format!("{}{id}.{}", self.prefix, kind.extension())
    }

    /// Sends a request, with retries. Writing and removing are idempotent.
    async fn send(&self, request: Request) -> Result<(), ArtifactError> {
        for delay in RETRY_DELAYS {
            match request.send(&self.client).await {
                Err(failure) if failure.is_temporary() => {
                    tracing::debug!(bucket = self.service.name(), %failure, "retrying a request to the bucket");
                    tokio::time::sleep(delay).await;
                }
                result => return result.map_err(|failure| self.to_error(failure)),
            }
        }
        request.send(&self.client).await.map_err(|failure| self.to_error(failure))
    }

    fn to_error(&self, source: impl std::error::Error + Send + Sync + 'static) -> ArtifactError {
        ArtifactError::Bucket { bucket: self.service.name().to_owned(), source: Box::new(source) }
    }
}

/// A signed request.
struct Request {
    method: Method,
    url: Url,
    /// The signed headers.
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Request {
    async fn send(&self, client: &Client) -> Result<(), RequestFailure> {
        let mut headers = self.headers.clone();
        // The client must not decode the response.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let fetch = FetchRequest {
            body: self.body.clone(),
            method: self.method.clone(),
            headers,
            timeout: REQUEST_TIMEOUT,
            max_body_bytes: MAX_RESPONSE_BYTES,
            max_decoded_bytes: MAX_RESPONSE_BYTES,
            redirects: RedirectPolicy::None,
            ..FetchRequest::get(self.url.clone())
        };
        let response = client.fetch(fetch).await?;
        let is_already_removed = self.method == Method::DELETE && response.status == StatusCode::NOT_FOUND;
        if response.status.is_success() || is_already_removed {
            Ok(())
        } else {
            Err(RequestFailure::from_response(&response))
        }
    }
}

/// The failure of a request.
#[derive(Debug, thiserror::Error)]
enum RequestFailure {
    #[error("the service cannot be reached")]
    Fetch(#[from] FetchError),
    #[error("the service responded with status {status}: {reason}")]
    Status { status: StatusCode, reason: String },
}

impl RequestFailure {
    fn from_response(response: &FetchResponse) -> Self {
        let text = String::from_utf8_lossy(&response.body);
        let parts: Vec<&str> = ["Code", "Message"].iter().filter_map(|name| element(&text, name)).collect();
        let reason = if parts.is_empty() { "no message".to_owned() } else { parts.join(", ") };
        Self::Status { status: response.status, reason: reason.chars().take(MAX_REASON_CHARS).collect() }
    }

    /// Returns whether a retry may succeed.
    fn is_temporary(&self) -> bool {
        match self {
            Self::Fetch(
                FetchError::Dns { .. }
                | FetchError::Connect { .. }
                | FetchError::Timeout { phase: FetchPhase::Resolve | FetchPhase::Connect, .. },
            ) => true,
            Self::Fetch(_) => false,
            Self::Status { status, .. } => {
                *status == StatusCode::TOO_MANY_REQUESTS
                    || (status.is_server_error() && *status != StatusCode::INSUFFICIENT_STORAGE)
            }
        }
    }
}

/// Returns the text of the first element with this name. Errors of the service have neither attributes nor nesting.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    Some(rest.split_once('<')?.0)
}

/// The ID, kind and size of a content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContentInfo<'a> {
    pub(crate) id: &'a str,
    pub(crate) kind: ArtifactKind,
    pub(crate) bytes: u64,
    pub(crate) name: Option<&'a FileName>,
}
