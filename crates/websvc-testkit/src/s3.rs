//! A fake of an S3-compatible service: one bucket, with verification of signed requests.
//!
//! It computes the signature of each request (AWS Signature Version 4) and compares it with the one in the request. The
//! test below checks this with the example that AWS publishes.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use ring::{digest, hmac};
use tokio::task::JoinHandle;
use websvc_transport::{Body, BodyTimeout, Server, ServerBody, ServerConfig};

/// The maximum size of an object, in bytes.
const MAX_OBJECT_BYTES: usize = 64 * 1024 * 1024;
/// The maximum clock skew of a signed request, in seconds.
const MAX_SKEW_S: i64 = 15 * 60;

/// An object of the bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Object {
    /// The content.
    pub content: Bytes,
    /// The headers that it was stored with, such as `content-type`.
    pub headers: BTreeMap<String, String>,
}

/// The credentials that the service accepts.
#[derive(Debug, Clone)]
struct Account {
    access_key_id: &'static str,
    secret: &'static str,
    region: &'static str,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, S3Object>,
    /// The reasons of rejected requests.
    rejections: Vec<String>,
    is_full: bool,
    /// The number of further requests that get 503.
    busy: usize,
}

/// A running service with one bucket, which is stopped when dropped.
#[derive(Debug)]
pub struct FakeS3 {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl FakeS3 {
    /// The name of the bucket.
    pub const BUCKET: &'static str = "artifacts";
    /// The identifier of the accepted access key.
    pub const ACCESS_KEY_ID: &'static str = "AKIDEXAMPLE";
    /// The secret of the access key.
    pub const SECRET: &'static str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    /// The region of the service.
    pub const REGION: &'static str = "eu-test-1";

    /// Starts a service on loopback.
    ///
    /// # Panics
    /// If the system has no free port.
    pub async fn start() -> Self {
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.expect("there is a free port");
        let address = server.local_addr();
        let state = Arc::new(Mutex::new(State::default()));
        let account =
            Account { access_key_id: Self::ACCESS_KEY_ID, secret: Self::SECRET, region: Self::REGION };
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            let handler = move |request| {
                let (account, state) = (account.clone(), Arc::clone(&shared));
                async move { respond(request, &account, &state).await }
            };
            // The task is aborted when the service is dropped.
            let _ = server.run(handler, std::future::pending()).await;
        });
        Self { address, state, task }
    }

    /// Returns the URL of the service.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the objects by name.
    #[must_use]
    pub fn objects(&self) -> BTreeMap<String, S3Object> {
        self.state.lock().objects.clone()
    }

    /// Returns the reasons of rejected requests, in order.
    #[must_use]
    pub fn rejections(&self) -> Vec<String> {
        self.state.lock().rejections.clone()
    }

    /// Rejects all further objects, as a service without free storage does.
    pub fn set_full(&self) {
        self.state.lock().is_full = true;
    }

    /// Responds 503 to the next `count` requests.
    pub fn fail_next_requests(&self, count: usize) {
        self.state.lock().busy = count;
    }
}

impl Drop for FakeS3 {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn respond(request: Request<ServerBody>, account: &Account, state: &Mutex<State>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.read(MAX_OBJECT_BYTES, BodyTimeout::default()).await else {
        return failure(StatusCode::BAD_REQUEST, "IncompleteBody");
    };
    let request = S3Request {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query().unwrap_or_default(),
        headers: &parts.headers,
        body: &body,
    };
    let mut state = state.lock();
    if let Err(reason) = request.verify(account, now_s()) {
        state.rejections.push(reason);
        return failure(StatusCode::FORBIDDEN, "SignatureDoesNotMatch");
    }
    if let Some(remaining) = state.busy.checked_sub(1) {
        state.busy = remaining;
        return failure(StatusCode::SERVICE_UNAVAILABLE, "SlowDown");
    }
    let prefix = format!("/{}/", FakeS3::BUCKET);
    let Some(name) = request.path.strip_prefix(&prefix).filter(|name| !name.is_empty()) else {
        return failure(StatusCode::NOT_FOUND, "NoSuchBucket");
    };
    state.perform(&parts.method, name, &parts.headers, body.clone())
}

impl State {
    fn perform(&mut self, method: &Method, name: &str, headers: &HeaderMap, body: Bytes) -> Response<Body> {
        match *method {
            Method::PUT if self.is_full => failure(StatusCode::INSUFFICIENT_STORAGE, "XMinioStorageFull"),
            Method::PUT => {
                let stored_headers = ["content-type", "content-disposition", "cache-control"];
                let value = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
                let headers = stored_headers
                    .iter()
                    .filter_map(|name| value(name).map(|value| ((*name).to_owned(), value)))
                    .collect();
                self.objects.insert(name.to_owned(), S3Object { content: body, headers });
                let mut response = Response::new(Body::empty());
                response.headers_mut().insert(ETAG, "\"1\"".parse().expect("a header value"));
                response
            }
            Method::GET | Method::HEAD => match self.objects.get(name) {
                Some(object) => {
                    let mut response = Response::new(Body::from(object.content.clone()));
                    for (name, value) in &object.headers {
                        let name: http::HeaderName = name.parse().expect("a header name");
                        response.headers_mut().insert(name, value.parse().expect("a header value"));
                    }
                    response
                }
                None => failure(StatusCode::NOT_FOUND, "NoSuchKey"),
            },
            Method::DELETE => {
                self.objects.remove(name);
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::NO_CONTENT;
                response
            }
            _ => failure(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
        }
    }
}

fn failure(status: StatusCode, code: &str) -> Response<Body> {
    let text = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{code}</Message></Error>");
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, "application/xml".parse().expect("a header value"));
    response
}

/// A received request.
struct S3Request<'a> {
    method: &'a str,
    path: &'a str,
    query: &'a str,
    headers: &'a HeaderMap,
    body: &'a [u8],
}

/// The signature of a request, and the signed values.
struct Signed {
    credential: String,
    date: String,
    headers: String,
    signature: String,
    payload: String,
    /// The query without the signature itself.
    query: String,
    /// The time for which the signature is valid, in seconds.
    ttl_s: i64,
}

impl S3Request<'_> {
    /// Verifies the signature, its time, and that it covers this body.
    fn verify(&self, account: &Account, now_s: i64) -> Result<(), String> {
        let signed =
            if self.query.contains("X-Amz-Signature=") { self.signed_query() } else { self.signed_headers() };
        let signed = signed.ok_or_else(|| "the request is not signed".to_owned())?;
        let day = signed.date.get(..8).unwrap_or_default();
        let scope = format!("{day}/{}/s3/aws4_request", account.region);
        if signed.credential != format!("{}/{scope}", account.access_key_id) {
            return Err(format!("the credential {:?} is unknown", signed.credential));
        }
        let signed_at_s = seconds(&signed.date).ok_or_else(|| format!("{:?} is not a time", signed.date))?;
        if now_s < signed_at_s - MAX_SKEW_S || now_s > signed_at_s + signed.ttl_s {
            return Err(format!("the signature of {} is not valid now", signed.date));
        }
        if signed.payload != "UNSIGNED-PAYLOAD" && signed.payload != sha256(self.body) {
            return Err("the signature is of another body".to_owned());
        }
        let to_sign = format!(
            "AWS4-HMAC-SHA256\n{}\n{scope}\n{}",
            signed.date,
            sha256(self.canonical_request(&signed)?.as_bytes())
        );
        let expected = hex(sign(&signing_key(account, day), &to_sign).as_ref());
        if expected == signed.signature {
            Ok(())
        } else {
            Err(format!("{} is the wrong signature", signed.signature))
        }
    }

    fn canonical_request(&self, signed: &Signed) -> Result<String, String> {
        let mut pairs: Vec<String> = signed
            .query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") })
            .collect();
        pairs.sort();
        let mut headers = String::new();
        for name in signed.headers.split(';') {
            let value = self.headers.get(name).and_then(|value| value.to_str().ok());
            let value = value.ok_or_else(|| format!("the signed header {name} is missing"))?;
            headers.push_str(&format!("{name}:{}\n", value.trim()));
        }
        if !signed.headers.split(';').any(|name| name == HOST.as_str()) {
            return Err("the host is not signed".to_owned());
        }
        let (method, path, query) = (self.method, self.path, pairs.join("&"));
        Ok(format!("{method}\n{path}\n{query}\n{headers}\n{}\n{}", signed.headers, signed.payload))
    }

    /// Returns the signature in the headers.
    fn signed_headers(&self) -> Option<Signed> {
        let header = |name: &str| self.headers.get(name)?.to_str().ok();
        let fields = header("authorization")?.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let field = |name: &str| {
            let value =
                fields.split(',').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
            value.map(str::to_owned)
        };
        Some(Signed {
            credential: field("Credential")?,
            date: header("x-amz-date")?.to_owned(),
            headers: field("SignedHeaders")?,
            signature: field("Signature")?,
            payload: header("x-amz-content-sha256")?.to_owned(),
            query: self.query.to_owned(),
            ttl_s: MAX_SKEW_S,
        })
    }

    /// Returns the signature in the query.
    fn signed_query(&self) -> Option<Signed> {
        let value = |name: &str| {
            let raw = self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
            percent_encoding::percent_decode_str(raw).decode_utf8().ok().map(std::borrow::Cow::into_owned)
        };
        let other_pairs = self.query.split('&').filter(|pair| !pair.starts_with("X-Amz-Signature="));
        Some(Signed {
            credential: value("X-Amz-Credential")?,
            date: value("X-Amz-Date")?,
            headers: value("X-Amz-SignedHeaders")?,
            signature: value("X-Amz-Signature")?,
            payload: "UNSIGNED-PAYLOAD".to_owned(),
            query: other_pairs.collect::<Vec<_>>().join("&"),
            ttl_s: value("X-Amz-Expires")?.parse().ok()?,
        })
    }
}

/// Derives the key for the signatures of a day.
fn signing_key(account: &Account, day: &str) -> hmac::Tag {
    let first = hmac::Key::new(hmac::HMAC_SHA256, format!("AWS4{}", account.secret).as_bytes());
    let mut tag = hmac::sign(&first, day.as_bytes());
    for part in [account.region, "s3", "aws4_request"] {
        tag = sign(&tag, part);
    }
    tag
}

fn sign(key: &hmac::Tag, text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()), text.as_bytes())
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads `20130524T000000Z` as seconds since the Unix epoch.
fn seconds(date: &str) -> Option<i64> {
    let parsed = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", date).ok()?;
    Some(parsed.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
}

fn now_s() -> i64 {
    jiff::Timestamp::now().as_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The query of the example of a signed URL in the documentation of Amazon S3.
    const QUERY: &str = "X-Amz-Algorithm=AWS4-HMAC-SHA256\
        &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
        &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
        &X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
    const SIGNED_AT_S: i64 = 1_369_353_600;

    fn check(query: &str, path: &str, now_s: i64) -> Result<(), String> {
        let headers = HeaderMap::from_iter([(HOST, "examplebucket.s3.amazonaws.com".parse().unwrap())]);
        let account = Account {
            access_key_id: "AKIAIOSFODNN7EXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
        };
        S3Request { method: "GET", path, query, headers: &headers, body: b"" }.verify(&account, now_s)
    }

    #[test]
    fn only_the_published_example_is_accepted() {
        assert_eq!(check(QUERY, "/test.txt", SIGNED_AT_S), Ok(()));
        assert_eq!(check(QUERY, "/test.txt", SIGNED_AT_S + 86_400), Ok(()));
        check(QUERY, "/test.txt", SIGNED_AT_S + 86_401).unwrap_err();
        check(QUERY, "/other.txt", SIGNED_AT_S).unwrap_err();
        check(&QUERY.replace("Expires=86400", "Expires=86401"), "/test.txt", SIGNED_AT_S).unwrap_err();
        check("", "/test.txt", SIGNED_AT_S).unwrap_err();
    }
}
