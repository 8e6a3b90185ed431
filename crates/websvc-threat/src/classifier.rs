//! A scanner within bounds: so many questions at a time, a time for each, a breaker, remembered verdicts, counters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout;
use websvc_validate::RetentionMode;

use crate::breaker::{Breaker, BreakerOpen, ScannerHealth};
use crate::error::{Rule, ScanError};
use crate::metrics::{Counters, ThreatMetrics};
use crate::scanner::Scanner;
use crate::verdicts::Verdicts;

/// How a scanner is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassifierConfig {
    /// The time for one question, the wait for room included.
    pub timeout: Duration,
    /// So many questions are asked at a time; at least 1.
    pub concurrency: usize,
    /// The breaker opens after so many failures in a row; at least 1.
    pub failures: u32,
    /// So long the breaker stays open before a question tries again.
    pub pause: Duration,
    /// How long a risky URL is remembered; not at all when zero.
    pub remember_risky: Duration,
    /// How long a clean URL is remembered; not at all when zero.
    pub remember_clean: Duration,
}

impl Default for ClassifierConfig {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(3),
            concurrency: 32,
            failures: 5,
            pause: Duration::from_secs(10),
            remember_risky: Duration::from_secs(600),
            remember_clean: Duration::from_secs(60),
        }
    }
}

/// Classifier of URL risks, or none. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Classifier(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    asked: Option<ScanRequestGuard>,
    counters: Counters,
}

#[derive(Debug)]
struct ScanRequestGuard {
    scanner: Scanner,
    timeout: Duration,
    room: Semaphore,
    breaker: Breaker,
    verdicts: Verdicts,
}

impl Default for Classifier {
    /// Returns a classifier without a scanner: see [`none`](Self::none).
    fn default() -> Self {
        Self::none()
    }
}

impl Classifier {
    /// Makes a classifier that asks `scanner`.
    #[must_use]
    pub fn new(scanner: Scanner, config: ClassifierConfig) -> Self {
        let asked = ScanRequestGuard {
            scanner,
            timeout: config.timeout,
            room: Semaphore::new(config.concurrency.max(1)),
            breaker: Breaker::new(config.failures, config.pause),
            verdicts: Verdicts::new(config.remember_risky, config.remember_clean),
        };
        Self(Arc::new(Inner { asked: Some(asked), counters: Counters::default() }))
    }

    /// Makes one that has nobody to ask: the lists alone decide.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::new(Inner { asked: None, counters: Counters::default() }))
    }

    /// Returns whether there is a scanner.
    #[must_use]
    pub fn has_scanner(&self) -> bool {
        self.0.asked.is_some()
    }

    /// Returns whether the scanner is asked at present; `None` when there is none.
    #[must_use]
    pub fn condition(&self) -> Option<ScannerHealth> {
        self.0.asked.as_ref().map(|asked| asked.breaker.condition(Instant::now()))
    }

    /// Returns the figures.
    #[must_use]
    pub fn figures(&self) -> ThreatMetrics {
        let scanner = self.0.asked.as_ref().map_or("none", |asked| asked.scanner.name());
        self.0.counters.figures(scanner)
    }

    /// Returns the score of a URL, 0 to 100; `None` when there is nobody to ask. A request of zero or anonymized retention asks anew and
    /// leaves nothing.
    ///
    /// # Errors
    /// [`ScanError`]
    pub async fn score(&self, url: &str, retention: RetentionMode) -> Option<Result<u8, ScanError>> {
        let Inner { asked, counters } = &*self.0;
        let asked = asked.as_ref()?;
        let remembers = match retention {
            RetentionMode::Normal => true,
            RetentionMode::Anonymous | RetentionMode::Zero => false,
        };
        if remembers && let Some(score) = asked.verdicts.find(url, Instant::now()) {
            counters.remembered();
            return Some(Ok(score));
        }
        let scanned = asked.scan(url, counters).await;
        Some(match scanned {
            Ok(verdict) => {
                counters.scanned();
                if remembers {
                    asked.verdicts.keep(url, verdict, Instant::now());
                }
                Ok(verdict.score)
            }
            Err(error) => {
                counters.failed(&error);
                Err(error)
            }
        })
    }

    pub(crate) fn count_blocked(&self, rule: &Rule) {
        self.0.counters.blocked(rule);
    }
}

impl ScanRequestGuard {
    async fn scan(&self, url: &str, counters: &Counters) -> Result<crate::Verdict, ScanError> {
        let started = Instant::now();
        let late = ScanError::Timeout { after: self.timeout };
        let Ok(Ok(_room)) = timeout(self.timeout, self.room.acquire()).await else { return Err(late) };
        let attempt = self.breaker.admit(Instant::now());
        let attempt = attempt
            .map_err(|BreakerOpen { retry_after, reason }| ScanError::Paused { retry_after, reason })?;
        let asked = Instant::now();
        let patience = self.timeout.saturating_sub(started.elapsed());
        let scanned = self.scanner.scan(url, patience).await;
        counters.took(asked.elapsed());
        let scanner = self.scanner.name();
        match &scanned {
            // What is wrong with one URL says nothing about the scanner.
            Ok(_) | Err(ScanError::Status { status: 400 | 404 | 414 | 422, .. }) => {
                if attempt.succeed() {
                    tracing::info!(scanner, "the scanner of URLs answers again");
                }
            }
            Err(error) => {
                let come_back = match error {
                    ScanError::Status { retry_after, .. } => *retry_after,
                    _ => None,
                };
                let reason = error.to_string();
                if attempt.fail(Instant::now(), reason.clone(), come_back) {
                    tracing::warn!(scanner, reason, "the scanner of URLs is paused");
                } else {
                    tracing::info!(scanner, reason, "the scanner of URLs failed");
                }
            }
        }
        scanned
    }
}
