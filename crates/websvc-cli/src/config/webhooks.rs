//! `[webhooks]`: the delivery of job events.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::time::Duration;

use serde::Deserialize;
use websvc_server::WebhookConfig;

/// `[webhooks]`: limits of the delivery of job events.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Webhooks {
    /// Delivery attempts per event.
    pub(crate) attempts: NonZeroU32,
    /// Backoff after the first failed attempt.
    pub(crate) initial_backoff_ms: u64,
    /// Time limit of one delivery.
    pub(crate) timeout_ms: NonZeroU64,
    /// Maximum number of concurrent deliveries.
    pub(crate) concurrency: NonZeroUsize,
    /// Maximum number of concurrent deliveries to one host.
    pub(crate) max_per_host: NonZeroUsize,
    /// Time that a dead letter is stored.
    pub(crate) retention_hours: NonZeroU64,
}

impl Webhooks {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["attempts", "initial_backoff_ms", "timeout_ms", "concurrency", "max_per_host", "retention_hours"];

    /// Returns the configuration of deliveries.
    pub(crate) fn delivery_config(&self) -> WebhookConfig {
        let Self { attempts, initial_backoff_ms, timeout_ms, concurrency, max_per_host, retention_hours } =
            self;
        let mut config = WebhookConfig {
            max_attempts: attempts.get(),
            timeout: Duration::from_millis(timeout_ms.get()),
            concurrency: concurrency.get(),
            max_per_host: max_per_host.get(),
            retention: Duration::from_secs(retention_hours.get().saturating_mul(3_600)),
            ..WebhookConfig::default()
        };
        config.backoff.initial = Duration::from_millis(*initial_backoff_ms);
        config
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let WebhookConfig {
            max_attempts,
            backoff,
            timeout,
            concurrency,
            max_per_host,
            max_document_bytes: _,
            retention,
        } = WebhookConfig::default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            attempts: NonZeroU32::new(max_attempts).unwrap_or(NonZeroU32::MIN),
            initial_backoff_ms: ms(backoff.initial),
            timeout_ms: NonZeroU64::new(ms(timeout)).unwrap_or(NonZeroU64::MIN),
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            max_per_host: NonZeroUsize::new(max_per_host).unwrap_or(NonZeroUsize::MIN),
            retention_hours: NonZeroU64::new(retention.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
        }
    }
}
