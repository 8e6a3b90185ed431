//! One attempt to deliver one event.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;
use websvc_notify::webhook::{PostError, SigningSecret, WebhookRequest, post};
use websvc_store::{DeliveryOutcome, StoreError, WebhookAttempt, WebhookDelivery};
use websvc_tasks::TaskError;

use super::body::body;
use crate::jobs::Jobs;

/// The HMAC of the body alone, as Firecrawl sends it.
const BODY_SIGNATURE: HeaderName = HeaderName::from_static("x-firecrawl-signature");

/// Delay before the next attempt of an event whose outcome could not be stored.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// The reason why an event was not delivered.
struct DeliveryError {
    status: Option<u16>,
    error: String,
    /// The delay that the receiver requests.
    retry_after: Option<Duration>,
    is_permanent: bool,
}

impl DeliveryError {
    /// Returns an error that no further attempt would change.
    fn permanent(error: impl Into<String>) -> Self {
        Self { status: None, error: error.into(), retry_after: None, is_permanent: true }
    }
}

/// Sends an event once, and stores the outcome.
pub(super) async fn attempt(jobs: Jobs, number: i64) {
    if let Err(error) = try_attempt(&jobs, number).await {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "webhook delivery outcome could not be stored"
        );
        tokio::time::sleep(FAILURE_DELAY).await;
    }
}

async fn try_attempt(jobs: &Jobs, number: i64) -> Result<(), TaskError> {
    let read = jobs
        .with_store(move |store, _| {
            let Some(delivery) = store.webhook_delivery(number)? else { return Ok(None) };
            let secret = match delivery.secret {
                Some(secret) => secret,
                None => store.webhook_secret(&delivery.team)?,
            };
            Ok(Some((delivery, secret)))
        })
        .await;
    let (outcome, delivery) = match read {
        Ok(None) => return Ok(()),
        Ok(Some((delivery, secret))) => {
            let sent = send(jobs, &delivery, &secret).await;
            (next_step(jobs, delivery.attempts, sent), Some(delivery))
        }
        Err(TaskError::Store(error @ StoreError::Corrupt { .. })) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "the document of a webhook event cannot be read");
            (next_step(jobs, 0, Err(DeliveryError::permanent("its document cannot be read"))), None)
        }
        Err(error) => return Err(error),
    };
    report(jobs, delivery.as_ref(), &outcome);
    record(jobs, WebhookAttempt { event: number, outcome }).await
}

/// Stores an attempt, together with others that end at the same time.
async fn record(jobs: &Jobs, attempt: WebhookAttempt) -> Result<(), TaskError> {
    jobs.run_blocking(move |inner| {
        inner.webhook_attempts.write(0, attempt, |attempts| {
            let record = |attempts: &[WebhookAttempt]| {
                inner.store.record_webhook_attempts(attempts, inner.store.now_ms())
            };
            match record(&attempts) {
                Ok(()) => attempts.iter().map(|_| Ok(())).collect(),
                Err(error) if attempts.len() == 1 => vec![Err(error)],
                // One of them made the transaction fail. The others may succeed alone.
                Err(_) => attempts.chunks(1).map(record).collect(),
            }
        })
    })
    .await
}

async fn send(jobs: &Jobs, delivery: &WebhookDelivery, secret: &[u8]) -> Result<(), DeliveryError> {
    let url =
        Url::parse(&delivery.url).map_err(|_| DeliveryError::permanent("the webhook URL is not valid"))?;
    let secret = SigningSecret::new(&SigningSecret::encode(secret))
        .map_err(|error| DeliveryError::permanent(error.to_string()))?;
    let body = body(delivery).map_err(|error| DeliveryError::permanent(error.to_string()))?;
    let mut headers = headers(&delivery.headers).map_err(DeliveryError::permanent)?;
    let signature = format!("sha256={}", secret.sign_body(&body));
    let signature =
        HeaderValue::from_str(&signature).map_err(|error| DeliveryError::permanent(error.to_string()))?;
    headers.insert(BODY_SIGNATURE, signature);
    let request = WebhookRequest {
        id: delivery.id.clone(),
        sent_at: jobs.inner.store.clock().now(),
        body: body.into(),
        headers,
        timeout: jobs.inner.config.webhooks.timeout,
    };
    match post(jobs.client(), url, &secret, request).await {
        Ok(_status) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            let (status, retry_after, is_permanent) = match error {
                // 410 Gone: the receiver wants no more events.
                PostError::Status { status: 410, .. } => (Some(410), None, true),
                PostError::Status { status, retry_after } => (Some(status), retry_after, false),
                PostError::Forbidden => (None, None, true),
                PostError::Unreachable(_) | PostError::NoResponse(_) => (None, None, false),
            };
            Err(DeliveryError { status, error: text, retry_after, is_permanent })
        }
    }
}

fn headers(json: &str) -> Result<HeaderMap, String> {
    let pairs: BTreeMap<String, String> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let mut value = HeaderValue::from_str(&value).map_err(|error| error.to_string())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Returns what to store after an attempt that followed `previous` others.
fn next_step(jobs: &Jobs, previous: u32, sent: Result<(), DeliveryError>) -> DeliveryOutcome {
    let DeliveryError { status, error, retry_after, is_permanent } = match sent {
        Ok(()) => return DeliveryOutcome::Delivered,
        Err(error) => error,
    };
    let config = &jobs.inner.config.webhooks;
    let attempts = previous.saturating_add(1);
    let retry_at_ms = (!is_permanent && attempts < config.max_attempts)
        .then(|| ms_after(jobs, config.backoff.delay(attempts, retry_after)));
    DeliveryOutcome::Failed { status, error, retry_at_ms, expires_at_ms: ms_after(jobs, config.retention) }
}

fn ms_after(jobs: &Jobs, delay: Duration) -> u64 {
    let now_ms = jobs.inner.store.now_ms();
    now_ms.saturating_add(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)).min(i64::MAX as u64)
}

/// Counts and logs an attempt, without URL and headers.
fn report(jobs: &Jobs, delivery: Option<&WebhookDelivery>, outcome: &DeliveryOutcome) {
    let metrics = &jobs.inner.webhook_metrics;
    let id = delivery.map(|delivery| delivery.id.as_str());
    let job = delivery.map(|delivery| delivery.source_id.as_str());
    let event = delivery.map(|delivery| delivery.event.wire_name(delivery.source));
    match outcome {
        DeliveryOutcome::Delivered => {
            metrics.delivered.add(1);
            tracing::debug!(id, job, event, "webhook event delivered");
        }
        DeliveryOutcome::Failed { error, retry_at_ms: Some(_), .. } => {
            metrics.failed.add(1);
            tracing::info!(id, job, event, error, "webhook delivery failed; retrying later");
        }
        DeliveryOutcome::Failed { error, retry_at_ms: None, .. } => {
            metrics.failed.add(1);
            metrics.dead_letters.add(1);
            tracing::warn!(id, job, event, error, "webhook delivery failed; the event is a dead letter now");
        }
    }
}
