//! One try of one event.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;
use websvc_store::{DeliveryOutcome, StoreError, WebhookDelivery};
use websvc_webhook::{PostError, SigningSecret, WebhookRequest, post};

use super::body::body;
use crate::jobs::{Jobs, JobsError, now_ms};

/// The HMAC of the body alone, as upstream has it.
const BODY_SIGNATURE: HeaderName = HeaderName::from_static("x-firecrawl-signature");

/// How long an event is left alone whose try could not be noted.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Why an event was not taken.
struct DeliveryError {
    status: Option<u16>,
    error: String,
    /// When the receiver wants to be asked again.
    retry_after: Option<Duration>,
    is_final: bool,
}

impl DeliveryError {
    /// Returns an outcome that no further attempt would change.
    fn permanent(error: impl Into<String>) -> Self {
        Self { status: None, error: error.into(), retry_after: None, is_final: true }
    }
}

/// Tries an event once, and notes what came of it.
pub(super) async fn attempt(jobs: Jobs, number: i64) {
    if let Err(error) = attempt_within(&jobs, number).await {
        tracing::error!(error = &error as &dyn std::error::Error, "an event of a job could not be noted");
        tokio::time::sleep(AFTER_FAILURE).await;
    }
}

async fn attempt_within(jobs: &Jobs, number: i64) -> Result<(), JobsError> {
    let read = jobs
        .with_store(move |store, _| {
            let Some(delivery) = store.webhook_delivery(number)? else { return Ok(None) };
            let secret = store.webhook_secret(&delivery.team)?;
            Ok(Some((delivery, secret)))
        })
        .await;
    let (tried, seen) = match read {
        Ok(None) => return Ok(()),
        Ok(Some((delivery, secret))) => {
            let sent = send(jobs, &delivery, &secret).await;
            (next_step(jobs, delivery.round, sent), Some(delivery))
        }
        Err(JobsError::Store(error @ StoreError::Corrupt { .. })) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "a document of an event cannot be read"
            );
            (next_step(jobs, 0, Err(DeliveryError::permanent("its document cannot be read"))), None)
        }
        Err(error) => return Err(error),
    };
    tell(jobs, seen.as_ref(), &tried);
    jobs.with_store(move |store, _| store.record_webhook_attempt(number, &tried, now_ms())).await
}

async fn send(jobs: &Jobs, delivery: &WebhookDelivery, secret: &[u8]) -> Result<(), DeliveryError> {
    let url = Url::parse(&delivery.url).map_err(|_| DeliveryError::permanent("its address is no URL"))?;
    let secret = SigningSecret::new(&SigningSecret::encode(secret))
        .map_err(|error| DeliveryError::permanent(error.to_string()))?;
    let body = body(delivery).map_err(|error| DeliveryError::permanent(error.to_string()))?;
    let mut headers = headers(&delivery.headers).map_err(DeliveryError::permanent)?;
    let signature = format!("sha256={}", secret.sign_body(&body));
    let signature =
        HeaderValue::from_str(&signature).map_err(|error| DeliveryError::permanent(error.to_string()))?;
    headers.insert(BODY_SIGNATURE, signature);
    let message = WebhookRequest {
        id: delivery.id.clone(),
        body: body.into(),
        headers,
        timeout: jobs.inner.config.webhooks.patience,
    };
    match post(jobs.client(), url, &secret, message).await {
        Ok(_status) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let (status, retry_after, is_final) = match error {
                // Gone: it wants no more of these.
                PostError::Status { status: 410, .. } => (Some(410), None, true),
                PostError::Status { status, retry_after } => (Some(status), retry_after, false),
                PostError::Forbidden => (None, None, true),
                PostError::Unreachable(_) => (None, None, false),
            };
            Err(DeliveryError { status, error: text, retry_after, is_final })
        }
    }
}

fn headers(json: &str) -> Result<HeaderMap, String> {
    let given: BTreeMap<String, String> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let mut value = HeaderValue::from_str(&value).map_err(|error| error.to_string())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Says what follows from a try, the one after `round` others.
fn next_step(jobs: &Jobs, round: u32, sent: Result<(), DeliveryError>) -> DeliveryOutcome {
    let DeliveryError { status, error, retry_after, is_final } = match sent {
        Ok(()) => return DeliveryOutcome::Delivered,
        Err(amiss) => amiss,
    };
    let config = &jobs.inner.config.webhooks;
    let tries = round.saturating_add(1);
    let due_at_ms =
        (!is_final && tries < config.attempts).then(|| later(config.pauses.delay(tries, retry_after)));
    DeliveryOutcome::Failed { status, error, due_at_ms, forget_at_ms: later(config.keep) }
}

fn later(by: Duration) -> u64 {
    now_ms().saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)).min(i64::MAX as u64)
}

/// Counts and logs a try; neither address nor headers are told.
fn tell(jobs: &Jobs, delivery: Option<&WebhookDelivery>, tried: &DeliveryOutcome) {
    let counters = &jobs.inner.deliveries;
    let id = delivery.map(|delivery| delivery.id.as_str());
    let job = delivery.map(|delivery| delivery.job.as_str());
    let event = delivery.map(|delivery| delivery.event.full_name(delivery.kind));
    match tried {
        DeliveryOutcome::Delivered => {
            counters.delivered();
            tracing::debug!(id, job, event, "an event was delivered");
        }
        DeliveryOutcome::Failed { error, due_at_ms: Some(_), .. } => {
            counters.failed();
            tracing::info!(id, job, event, error, "an event was not taken, it is tried again");
        }
        DeliveryOutcome::Failed { error, due_at_ms: None, .. } => {
            counters.failed();
            counters.record_dead_letter();
            tracing::warn!(id, job, event, error, "an event was not taken, it is a dead letter now");
        }
    }
}
