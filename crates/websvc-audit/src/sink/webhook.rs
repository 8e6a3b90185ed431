//! A sink that posts signed batches, following Standard Webhooks (<https://www.standardwebhooks.com>).

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::HeaderMap;
use sha2::{Digest, Sha256};
use url::{Host, Url};
use websvc_notify::webhook::{PostError, SigningSecret as WebhookSecret, WebhookRequest, post};
use websvc_transport::Client;

use crate::error::{AuditError, SinkError};
use crate::spool::Batch;

/// The timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct WebhookSink {
    client: Client,
    url: Url,
    secret: WebhookSecret,
}

impl WebhookSink {
    pub(super) fn new(client: Client, url: Url, secret: WebhookSecret) -> Result<Self, AuditError> {
        let invalid = |reason| Err(AuditError::WebhookAddress { reason });
        match (url.scheme(), url.host()) {
            ("https", Some(_)) => {}
            ("http", Some(host)) if is_loopback(&host) => {}
            ("http", Some(_)) => return invalid("remote webhooks need https"),
            _ => return invalid("not an https URL"),
        }
        Ok(Self { client, url, secret })
    }

    pub(super) async fn check(&self) -> Result<(), SinkError> {
        match self.post(&body(&[])).await? {
            Outcome::Accepted => Ok(()),
            Outcome::TooLarge => Err(SinkError::new("responded with status 413 to an empty batch")),
        }
    }

    pub(super) async fn deliver(&self, batch: &mut Batch) -> Result<(), SinkError> {
        loop {
            match self.post(&body(&batch.events)).await? {
                Outcome::Accepted => return Ok(()),
                Outcome::TooLarge if batch.events.len() == 1 => {
                    return Err(SinkError::new("responded with status 413 to a single event"));
                }
                Outcome::TooLarge => {
                    let before = batch.events.len();
                    batch.halve();
                    if batch.events.len() == before {
                        return Err(SinkError::new("responded with status 413"));
                    }
                }
            }
        }
    }

    async fn post(&self, body: &Bytes) -> Result<Outcome, SinkError> {
        let message = WebhookRequest {
            // The same ID for the same events, so that the receiver recognizes a repeated batch.
            id: format!("msg_{}", HEXLOWER.encode(&Sha256::digest(body)[..16])),
            sent_at: jiff::Timestamp::now(),
            body: body.clone(),
            headers: HeaderMap::new(),
            timeout: TIMEOUT,
        };
        match post(&self.client, self.url.clone(), &self.secret, message).await {
            Ok(_status) => Ok(Outcome::Accepted),
            Err(PostError::Status { status: 413, .. }) => Ok(Outcome::TooLarge),
            Err(error) => Err(SinkError::from(error)),
        }
    }
}

impl fmt::Debug for WebhookSink {
    /// Omits the URL, which may contain a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSink").finish_non_exhaustive()
    }
}

enum Outcome {
    Accepted,
    TooLarge,
}

/// Returns `{"events":[...]}`. The events are JSON already.
fn body(events: &[Vec<u8>]) -> Bytes {
    let mut body = b"{\"events\":[".to_vec();
    body.extend(events.join(&b","[..]));
    body.extend_from_slice(b"]}");
    body.into()
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use websvc_transport::{AddressGuard, ClientConfig};

    use super::*;

    #[test]
    fn remote_webhooks_need_https() {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let check = |url: &str, expected: bool| {
            let secret = WebhookSecret::new("sixteen--letters").unwrap();
            let sink = WebhookSink::new(client.clone(), url.parse().unwrap(), secret);
            assert_eq!(sink.is_ok(), expected, "{url}");
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
