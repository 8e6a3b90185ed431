//! The decisions on the URLs of one request, each URL scanned once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use url::Url;
use websvc_transport::UrlPolicy;
use websvc_types::ThreatFailurePolicy;
use websvc_validate::ThreatRules;

use crate::classifier::Classifier;
use crate::error::{Blocked, Rule};
use crate::lists::{self, ListDecision};

/// Checker of the URLs of a request. Cheap to clone; clones share their results.
#[derive(Debug, Clone)]
pub struct UrlChecker {
    protection: Arc<ThreatRules>,
    found: Arc<CheckState>,
}

/// Results of the checks of a request.
#[derive(Debug)]
struct CheckState {
    classifier: Classifier,
    scores: Mutex<HashMap<String, Arc<OnceCell<Option<u8>>>>>,
    scanned: AtomicU64,
    unchecked: AtomicU64,
    blocked: Mutex<HashMap<String, Rule>>,
}

/// Summary of the checks of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckSummary {
    /// Unique URLs that have a verdict of the classifier, whether it was asked now or a moment ago.
    pub scanned: u64,
    /// URLs that it could not be asked about.
    pub unchecked: u64,
}

impl UrlChecker {
    /// Makes one for a request.
    #[must_use]
    pub fn new(protection: &ThreatRules, classifier: &Classifier) -> Self {
        let found = CheckState {
            classifier: classifier.clone(),
            scores: Mutex::default(),
            scanned: AtomicU64::new(0),
            unchecked: AtomicU64::new(0),
            blocked: Mutex::default(),
        };
        Self { protection: Arc::new(protection.clone()), found: Arc::new(found) }
    }

    /// Returns one by other rules for the same request: what was scanned is not scanned again.
    #[must_use]
    pub fn with_classifier(&self, protection: &ThreatRules) -> Self {
        Self { protection: Arc::new(protection.clone()), found: Arc::clone(&self.found) }
    }

    /// Returns the rules that it goes by.
    #[must_use]
    pub fn protection(&self) -> &Arc<ThreatRules> {
        &self.protection
    }

    /// Decides on a URL: by the lists, then by the classifier. What has no host leads nowhere and passes.
    ///
    /// # Errors
    /// [`Blocked`], with the rule that blocks it.
    pub async fn check(&self, url: &Url) -> Result<(), Blocked> {
        let rule = match lists::look_up(&self.protection, url) {
            Some(listed) => of_list(listed),
            None if !matches!(url.scheme(), "http" | "https") => None,
            None => self.by_score(url).await,
        };
        self.decided(url, rule)
    }

    /// Decides on a URL by the lists alone, for what is shown and not gone to.
    ///
    /// # Errors
    /// [`Blocked`], with the rule that blocks it.
    pub fn check_lists(&self, url: &Url) -> Result<(), Blocked> {
        let rule = lists::look_up(&self.protection, url).and_then(of_list);
        self.decided(url, rule)
    }

    /// Returns the rule for where pages lead on to.
    #[must_use]
    pub fn rule(&self) -> UrlPolicy {
        let inspection = self.clone();
        UrlPolicy::new(move |url| {
            let inspection = inspection.clone();
            async move { inspection.check(&url).await.map_err(|blocked| blocked.to_string()) }
        })
    }

    /// Returns what the checks came to so far.
    #[must_use]
    pub fn tally(&self) -> CheckSummary {
        CheckSummary {
            scanned: self.found.scanned.load(Relaxed),
            unchecked: self.found.unchecked.load(Relaxed),
        }
    }

    /// Returns whether there is a classifier to ask.
    #[must_use]
    pub fn has_scanner(&self) -> bool {
        self.found.classifier.has_scanner()
    }

    async fn by_score(&self, url: &Url) -> Option<Rule> {
        let threshold = self.protection.risk_score_threshold();
        match self.score(url).await {
            Some(score) => (score >= threshold).then_some(Rule::Score { score, threshold }),
            None => self.blocks_unchecked().then_some(Rule::Unchecked),
        }
    }

    /// Returns whether a URL without a verdict is blocked. Where no scanner is configured, only if somebody asked for that in
    /// so many words: the lists are of use alone.
    fn blocks_unchecked(&self) -> bool {
        match self.protection.failure_policy() {
            Some(ThreatFailurePolicy::Closed) => true,
            Some(ThreatFailurePolicy::Open) => false,
            None => self.has_scanner(),
        }
    }

    /// Returns the score of a URL; the first who asks has it scanned, and who asks meanwhile waits.
    async fn score(&self, url: &Url) -> Option<u8> {
        let found = &*self.found;
        let url = scannable(url);
        let cell = Arc::clone(lock(&found.scores).entry(url.clone()).or_default());
        let score = cell.get_or_init(|| async {
            let score = found.classifier.score(&url, self.protection.retention()).await;
            let score = score.and_then(Result::ok);
            let counter = if score.is_some() { &found.scanned } else { &found.unchecked };
            counter.fetch_add(1, Relaxed);
            score
        });
        *score.await
    }

    fn decided(&self, url: &Url, rule: Option<Rule>) -> Result<(), Blocked> {
        let Some(rule) = rule else { return Ok(()) };
        let known = lock(&self.found.blocked).insert(scannable(url), rule.clone());
        if known.as_ref() != Some(&rule) {
            self.found.classifier.count_blocked(&rule);
        }
        Err(Blocked { host: lists::host(url).unwrap_or_default(), rule })
    }
}

fn of_list(listed: ListDecision) -> Option<Rule> {
    match listed {
        ListDecision::Allowed => None,
        ListDecision::Blacklisted => Some(Rule::Blacklist),
        ListDecision::BlockedTld(tld) => Some(Rule::Tld { tld }),
    }
}

/// Returns a URL as a scanner is asked about it: what is not sent to its host, and what is nobody else's business, is left
/// out.
fn scannable(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Only URLs without a host refuse this, and they have no user.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
