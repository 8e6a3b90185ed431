//! Signed batches by POST, as Standard Webhooks has it (<https://www.standardwebhooks.com>).

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};
use jiff::Timestamp;
use ring::hmac;
use sha2::{Digest, Sha256};
use url::{Host, Url};
use websvc_transport::{Client, ExcessPolicy, FetchError, FetchRequest, RedirectPolicy};

use crate::error::{AuditError, SinkError};
use crate::spool::Batch;

/// How long the other side may take to acknowledge.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is read of an answer: nothing in it counts.
const ANSWER_MAX_BYTES: u64 = 16 * 1024;
/// What a secret begins with that is written in base64, as Standard Webhooks writes them.
const ENCODED: &str = "whsec_";
/// Shorter secrets can be guessed.
const SECRET_MIN_BYTES: usize = 16;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// What batches are signed with.
pub struct WebhookSecret(hmac::Key);

impl WebhookSecret {
    /// Reads a secret: base64 after `whsec_`, or as it stands.
    ///
    /// # Errors
    /// [`AuditError::WebhookSecret`] when it is shorter than 16 bytes or not base64 where it says so.
    pub fn new(text: &str) -> Result<Self, AuditError> {
        let failed = |reason| AuditError::WebhookSecret { reason };
        let bytes = match text.strip_prefix(ENCODED) {
            Some(encoded) => {
                BASE64_STANDARD.decode(encoded).map_err(|_| failed("what follows whsec_ is no base64"))?
            }
            None => text.as_bytes().to_vec(),
        };
        if bytes.len() < SECRET_MIN_BYTES {
            return Err(failed("it is shorter than 16 bytes"));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// Returns the signature of a batch that is sent at a time, in seconds since the Unix epoch.
    fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", BASE64_STANDARD.encode(context.sign()))
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSecret").finish_non_exhaustive()
    }
}

pub(super) struct WebhookSink {
    client: Client,
    url: Url,
    secret: WebhookSecret,
}

impl WebhookSink {
    pub(super) fn new(client: Client, url: Url, secret: WebhookSecret) -> Result<Self, AuditError> {
        let refused = |reason| Err(AuditError::WebhookAddress { reason });
        match (url.scheme(), url.host()) {
            ("https", Some(_)) => {}
            ("http", Some(host)) if is_here(&host) => {}
            ("http", Some(_)) => return refused("events go elsewhere by https alone"),
            _ => return refused("it is no https URL"),
        }
        Ok(Self { client, url, secret })
    }

    pub(super) async fn check(&self) -> Result<(), SinkError> {
        match self.post(&body(&[])).await? {
            Answer::Taken => Ok(()),
            Answer::TooLarge => Err(SinkError::new("it answers with status 413 to an empty batch")),
        }
    }

    pub(super) async fn deliver(&self, batch: &mut Batch) -> Result<(), SinkError> {
        loop {
            match self.post(&body(&batch.events)).await? {
                Answer::Taken => return Ok(()),
                Answer::TooLarge if batch.events.len() == 1 => {
                    return Err(SinkError::new("it answers with status 413 to a single event"));
                }
                Answer::TooLarge => {
                    let before = batch.events.len();
                    batch.halve();
                    if batch.events.len() == before {
                        return Err(SinkError::new("it answers with status 413"));
                    }
                }
            }
        }
    }

    async fn post(&self, body: &Bytes) -> Result<Answer, SinkError> {
        let mut request = FetchRequest::post(self.url.clone(), body.clone());
        // The same for the same events, so that a batch that comes again can be told.
        let id = format!("msg_{}", hexadecimal(&Sha256::digest(body)[..16]));
        let timestamp = Timestamp::now().as_second();
        let signature = self.secret.sign(&id, timestamp, body);
        let value =
            |text: &str| HeaderValue::from_str(text).map_err(|_| SinkError::new("a header is not valid"));
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request.headers.insert(ID, value(&id)?);
        request.headers.insert(TIMESTAMP, HeaderValue::from(timestamp));
        request.headers.insert(SIGNATURE, value(&signature)?);
        request.timeout = PATIENCE;
        request.max_body_bytes = ANSWER_MAX_BYTES;
        request.max_decoded_bytes = ANSWER_MAX_BYTES;
        request.excess = ExcessPolicy::Cut;
        // What was signed for one place does not go to another by itself.
        request.redirects = RedirectPolicy::None;
        let answer = self.client.fetch(request).await.map_err(|error| unreachable(&error))?;
        match answer.status {
            status if status.is_success() => Ok(Answer::Taken),
            StatusCode::PAYLOAD_TOO_LARGE => Ok(Answer::TooLarge),
            status => {
                let seconds =
                    answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
                Err(SinkError {
                    text: format!("it answers with status {}", status.as_u16()),
                    retry_after: seconds.map(Duration::from_secs),
                })
            }
        }
    }
}

impl fmt::Debug for WebhookSink {
    /// Leaves out the address, which may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSink").finish_non_exhaustive()
    }
}

enum Answer {
    Taken,
    TooLarge,
}

/// Returns `{"events":[...]}`. The events are JSON already.
fn body(events: &[Vec<u8>]) -> Bytes {
    let mut body = b"{\"events\":[".to_vec();
    body.extend(events.join(&b","[..]));
    body.extend_from_slice(b"]}");
    body.into()
}

fn is_here(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Tells what went wrong without the host and without any source.
fn unreachable(error: &FetchError) -> SinkError {
    SinkError::new(match error {
        FetchError::Timeout { .. } => "it did not answer in time",
        FetchError::Dns { .. } => "its host was not found",
        FetchError::Connect { .. } => "it cannot be connected to",
        FetchError::Tls { .. } => "there is no secure connection to it",
        _ => "it did not answer",
    })
}

#[cfg(test)]
mod tests {
    use websvc_transport::{AddressGuard, ClientConfig};

    use super::*;

    #[test]
    fn a_signature_is_that_of_the_published_example() {
        // From the test of the reference libraries of Standard Webhooks.
        let secret = WebhookSecret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn secrets_that_can_be_guessed_are_refused() {
        assert!(WebhookSecret::new("").is_err());
        assert!(WebhookSecret::new("fifteen-letters").is_err());
        assert!(WebhookSecret::new("sixteen--letters").is_ok());
        assert!(WebhookSecret::new("whsec_AAAAAAAAAAAAAAAA").is_err(), "twelve bytes");
        assert!(WebhookSecret::new("whsec_not base64, however long it is").is_err());
    }

    #[test]
    fn events_go_elsewhere_by_https_alone() {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let check = |url: &str, expected: bool| {
            let secret = WebhookSecret::new("sixteen--letters").unwrap();
            let made = WebhookSink::new(client.clone(), url.parse().unwrap(), secret);
            assert_eq!(made.is_ok(), expected, "{url}");
        };
        check("https://siem.example/hook", true);
        check("http://127.0.0.1:8080/hook", true);
        check("http://[::1]/hook", true);
        check("http://localhost/hook", true);
        check("http://siem.example/hook", false);
        check("http://192.0.2.1/hook", false);
        check("ftp://siem.example/hook", false);
        check("mailto:siem@example.test", false);
    }
}
