//! `[webhooks]`: how the events of jobs are delivered.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::time::Duration;

use serde::Deserialize;
use websvc_server::WebhookConfig;

/// `[webhooks]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Webhooks {
    /// Tries of one event.
    pub(crate) attempts: NonZeroU32,
    /// The pause after the first of them.
    pub(crate) first_pause_ms: u64,
    /// How long a receiver may take.
    pub(crate) timeout_ms: NonZeroU64,
    /// Events at one time.
    pub(crate) concurrency: NonZeroUsize,
    /// Events to one host at one time.
    pub(crate) per_host: NonZeroUsize,
    /// How long a dead letter is kept.
    pub(crate) keep_hours: NonZeroU64,
}

impl Webhooks {
    pub(super) const KEYS: &'static [&'static str] =
        &["attempts", "first_pause_ms", "timeout_ms", "concurrency", "per_host", "keep_hours"];

    /// Returns the bounds of deliveries.
    pub(crate) fn bounds(&self) -> WebhookConfig {
        let Self { attempts, first_pause_ms, timeout_ms, concurrency, per_host, keep_hours } = self;
        let mut bounds = WebhookConfig {
            attempts: attempts.get(),
            patience: Duration::from_millis(timeout_ms.get()),
            concurrency: concurrency.get(),
            per_host: per_host.get(),
            keep: Duration::from_secs(keep_hours.get().saturating_mul(3_600)),
            ..WebhookConfig::default()
        };
        bounds.pauses.initial = Duration::from_millis(*first_pause_ms);
        bounds
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let WebhookConfig { attempts, pauses, patience, concurrency, per_host, bytes: _, keep } =
            WebhookConfig::default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            attempts: NonZeroU32::new(attempts).unwrap_or(NonZeroU32::MIN),
            first_pause_ms: ms(pauses.initial),
            timeout_ms: NonZeroU64::new(ms(patience)).unwrap_or(NonZeroU64::MIN),
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            per_host: NonZeroUsize::new(per_host).unwrap_or(NonZeroUsize::MIN),
            keep_hours: NonZeroU64::new(keep.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
        }
    }
}
