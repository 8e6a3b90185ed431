//! The classifier: a scanner with a concurrency limit, a timeout, a circuit breaker, a cache of verdicts, and metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout;
use websvc_stage::Histogram;
use websvc_transport::{BreakerHealth, BreakerOpen, CircuitBreaker};
use websvc_validate::RetentionMode;

use crate::threat::error::{Rule, ScanError};
use crate::threat::metrics::ThreatMetrics;
use crate::threat::scanner::{Scanner, Verdict};
use crate::threat::verdicts::VerdictCache;

/// The limits of a classifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassifierConfig {
    /// The time for one scan, including the wait for a permit.
    pub timeout: Duration,
    /// The maximum number of concurrent scans, at least 1.
    pub concurrency: usize,
    /// The number of consecutive failures that open the circuit breaker, at least 1.
    pub failures: u32,
    /// The time for which the circuit breaker stays open.
    pub pause: Duration,
    /// The time for which verdicts of risky URLs are cached; zero disables it.
    pub risky_ttl: Duration,
    /// The time for which verdicts of clean URLs are cached; zero disables it.
    pub clean_ttl: Duration,
}

impl Default for ClassifierConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(3),
            concurrency: 32,
            failures: 5,
            pause: Duration::from_secs(10),
            risky_ttl: Duration::from_secs(600),
            clean_ttl: Duration::from_secs(60),
        }
    }
}

/// A classifier of URL risks, with or without a scanner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Classifier(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    scanner: Option<LimitedScanner>,
    metrics: ThreatMetrics,
}

/// A scanner within its limits.
#[derive(Debug)]
struct LimitedScanner {
    scanner: Scanner,
    timeout: Duration,
    permits: Semaphore,
    breaker: CircuitBreaker,
    verdicts: VerdictCache,
}

impl Default for Classifier {
    /// Returns a classifier without a scanner: see [`none`](Self::none).
    fn default() -> Self {
        Self::none()
    }
}

impl Classifier {
    /// Creates a classifier that uses `scanner`.
    #[must_use]
    pub fn new(scanner: Scanner, config: ClassifierConfig) -> Self {
        let scanner = LimitedScanner {
            scanner,
            timeout: config.timeout,
            permits: Semaphore::new(config.concurrency.max(1)),
            breaker: CircuitBreaker::new(config.failures, config.pause),
            verdicts: VerdictCache::new(config.risky_ttl, config.clean_ttl),
        };
        Self(Arc::new(Inner { scanner: Some(scanner), metrics: ThreatMetrics::default() }))
    }

    /// Creates a classifier without a scanner, so that only the lists decide.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Inner { scanner: None, metrics: ThreatMetrics::default() }))
    }

    /// Returns whether there is a scanner.
    #[must_use]
    pub fn has_scanner(&self) -> bool {
        self.0.scanner.is_some()
    }

    /// Returns the health of the scanner; `None` without one. The reasons contain no URL.
    #[must_use]
    pub fn health(&self) -> Option<BreakerHealth> {
        self.0.scanner.as_ref().map(|scanner| scanner.breaker.health(Instant::now()))
    }

    /// Returns the name of the scanner.
    #[must_use]
    pub fn scanner_name(&self) -> Option<&'static str> {
        self.0.scanner.as_ref().map(|scanner| scanner.scanner.name())
    }

    /// Returns the metrics.
    #[must_use]
    pub fn metrics(&self) -> &ThreatMetrics {
        &self.0.metrics
    }

    /// Returns the score of a URL, 0 to 100; `None` without a scanner. Requests with zero or anonymized retention neither
    /// read nor write the cache.
    ///
    /// # Errors
    /// [`ScanError`] if the scanner returned no verdict.
    pub async fn score(&self, url: &str, retention: RetentionMode) -> Option<Result<u8, ScanError>> {
        let Inner { scanner, metrics } = &*self.0;
        let scanner = scanner.as_ref()?;
        let uses_cache = match retention {
            RetentionMode::Normal => true,
            RetentionMode::Anonymous | RetentionMode::Zero => false,
        };
        if uses_cache && let Some(score) = scanner.verdicts.get(url, Instant::now()) {
            metrics.cached.add(1);
            return Some(Ok(score));
        }
        Some(match scanner.scan(url, &metrics.scans).await {
            Ok(verdict) => {
                metrics.scanned.add(1);
                if uses_cache {
                    scanner.verdicts.insert(url, verdict, Instant::now());
                }
                Ok(verdict.score)
            }
            Err(error) => {
                metrics.failed.at(error.index()).add(1);
                Err(error)
            }
        })
    }

    pub(crate) fn count_blocked(&self, rule: &Rule) {
        self.0.metrics.blocked.at(rule.index()).add(1);
    }
}

impl LimitedScanner {
    async fn scan(&self, url: &str, durations: &Histogram) -> Result<Verdict, ScanError> {
        let started = Instant::now();
        let Ok(Ok(_permit)) = timeout(self.timeout, self.permits.acquire()).await else {
            return Err(ScanError::Timeout { after: self.timeout });
        };
        let attempt = self.breaker.admit(Instant::now());
        let attempt = attempt
            .map_err(|BreakerOpen { retry_after, reason }| ScanError::Paused { retry_after, reason })?;
        let sent = Instant::now();
        let remaining = self.timeout.saturating_sub(started.elapsed());
        let outcome = self.scanner.scan(url, remaining).await;
        durations.count(sent.elapsed());
        let scanner = self.scanner.name();
        match &outcome {
            // These statuses are about the URL, not about the scanner.
            Ok(_) | Err(ScanError::Status { status: 400 | 404 | 414 | 422, .. }) => {
                if attempt.succeed() {
                    tracing::info!(scanner, "circuit breaker of the threat scanner closed");
                }
            }
            Err(error) => {
                let retry_after = match error {
                    ScanError::Status { retry_after, .. } => *retry_after,
                    _ => None,
                };
                let reason = error.to_string();
                if attempt.fail(Instant::now(), &reason, retry_after) {
                    tracing::warn!(scanner, reason, "circuit breaker of the threat scanner opened");
                } else {
                    tracing::info!(scanner, reason, "request to the threat scanner failed");
                }
            }
        }
        outcome
    }
}
