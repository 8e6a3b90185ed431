//! Contents in a bucket of an S3-compatible service, through the guarded client.
//!
//! Contents are never read through us: a signed URL of ours leads to one of the service, which is valid for minutes.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_LENGTH, HOST};
use http::{HeaderValue, Method};
use http_body::Body as _;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpService,
};
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{Attribute, Attributes, ClientOptions, ObjectStore, PutOptions, RetryConfig};
use url::Url;
use websvc_transport::{Client, FetchError, FetchRequest, RedirectPolicy, Stage};

use crate::error::ArtifactError;
use crate::kind::Kind;

/// How long the URL is valid that a reader is led to: time to follow it, not to hand it on.
const SIGNED_URL_LIFE: Duration = Duration::from_secs(300);
/// The time for one request to the service.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How often, and for how long, a request that failed is tried again.
const RETRIES: usize = 3;
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);
/// The service's answers are short: errors in XML.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

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
    /// What the names of all objects begin with; may be empty.
    pub prefix: String,
    /// Who signs.
    pub access_key_id: String,
    /// What it is signed with.
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
    name: String,
    prefix: Path,
    service: AmazonS3,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("name", &self.name)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl Bucket {
    /// Checks the settings; nothing is asked of the service yet.
    pub(crate) fn open(config: S3Config) -> Result<Self, ArtifactError> {
        let S3Config { client, endpoint, region, bucket, prefix, access_key_id, secret_access_key } = config;
        let service = AmazonS3Builder::new()
            .with_endpoint(endpoint.as_str().trim_end_matches('/'))
            .with_allow_http(true)
            .with_region(region)
            .with_bucket_name(&bucket)
            .with_access_key_id(access_key_id)
            .with_secret_access_key(secret_access_key)
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig {
                max_retries: RETRIES,
                retry_timeout: RETRY_TIMEOUT,
                ..RetryConfig::default()
            })
            .with_http_connector(Guarded(client))
            .build();
        let service = service.map_err(|source| failure(&bucket, source))?;
        Ok(Self { prefix: Path::from(prefix), name: bucket, service })
    }

    pub(crate) async fn write(&self, id: &str, kind: Kind, content: Bytes) -> Result<(), ArtifactError> {
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::ContentType, kind.media_type().into());
        attributes.insert(Attribute::ContentDisposition, kind.content_disposition(id).into());
        attributes.insert(Attribute::CacheControl, "private, immutable".into());
        let options = PutOptions { attributes, ..PutOptions::default() };
        let put = self.service.put_opts(&self.object(id, kind), content.into(), options).await;
        put.map(drop).map_err(|source| failure(&self.name, source))
    }

    /// Removes an object; nothing to remove is fine.
    pub(crate) async fn remove(&self, id: &str, kind: Kind) -> Result<(), ArtifactError> {
        use object_store::ObjectStoreExt;
        match self.service.delete(&self.object(id, kind)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(failure(&self.name, source)),
        }
    }

    /// Returns a URL of the service by which the object can be read with this method.
    pub(crate) async fn signed_url(
        &self,
        id: &str,
        kind: Kind,
        method: &Method,
        remaining_s: u64,
    ) -> Result<Url, ArtifactError> {
        let life = SIGNED_URL_LIFE.min(Duration::from_secs(remaining_s));
        let signed = self.service.signed_url(method.clone(), &self.object(id, kind), life).await;
        signed.map_err(|source| failure(&self.name, source))
    }

    fn object(&self, id: &str, kind: Kind) -> Path {
        self.prefix.clone().join(format!("{id}.{}", kind.extension()))
    }
}

fn failure(bucket: &str, source: object_store::Error) -> ArtifactError {
    ArtifactError::Bucket { bucket: bucket.to_owned(), source: Box::new(source) }
}

/// The guarded client as the store of objects wants one.
#[derive(Debug, Clone)]
struct Guarded(Client);

impl HttpConnector for Guarded {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Guarded {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url: Url = parts
            .uri
            .to_string()
            .parse()
            .map_err(|error: url::ParseError| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut headers = parts.headers;
        // The client sets these itself, to the same values.
        headers.remove(HOST);
        headers.remove(CONTENT_LENGTH);
        // An answer is read as it is signed for, not in another coding.
        headers.insert(http::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let body = whole(body).await?;
        let fetch = FetchRequest {
            body: (parts.method == Method::PUT || !body.is_empty()).then_some(body),
            method: parts.method,
            headers,
            timeout: REQUEST_TIMEOUT,
            max_body_bytes: MAX_ANSWER_BYTES,
            max_decoded_bytes: MAX_ANSWER_BYTES,
            redirects: RedirectPolicy::None,
            ..FetchRequest::get(url)
        };
        let fetched = self.0.fetch(fetch).await.map_err(|error| HttpError::new(kind_of(&error), error))?;
        let mut response = HttpResponse::new(fetched.body.into());
        *response.status_mut() = fetched.status;
        *response.headers_mut() = fetched.headers;
        Ok(response)
    }
}

/// Returns a body in one piece; what we send is one already.
async fn whole(mut body: HttpRequestBody) -> Result<Bytes, HttpError> {
    let mut pieces: Vec<Bytes> = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        pieces.extend(frame?.into_data());
    }
    if pieces.len() == 1 {
        return Ok(pieces.remove(0));
    }
    let mut joined = BytesMut::new();
    pieces.iter().for_each(|piece| joined.extend_from_slice(piece));
    Ok(joined.freeze())
}

/// Sorts a failure by whether trying again may help.
fn kind_of(error: &FetchError) -> HttpErrorKind {
    match error {
        FetchError::Dns { .. }
        | FetchError::Connect { .. }
        | FetchError::Timeout { stage: Stage::Resolve | Stage::Connect, .. } => HttpErrorKind::Connect,
        FetchError::Timeout { .. } => HttpErrorKind::Timeout,
        _ => HttpErrorKind::Unknown,
    }
}
