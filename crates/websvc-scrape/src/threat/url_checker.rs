//! The checks of the URLs of one request. Each URL is scanned once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use url::Url;
use websvc_transport::UrlPolicy;
use websvc_types::ThreatFailurePolicy;
use websvc_validate::ThreatRules;

use crate::threat::classifier::Classifier;
use crate::threat::error::{Blocked, Rule};
use crate::threat::lists::{self, ListDecision};

/// A checker of the URLs of one request. Cheap to clone; clones share their results.
#[derive(Debug, Clone)]
pub struct UrlChecker {
    rules: Arc<ThreatRules>,
    state: Arc<CheckState>,
}

/// The results of the checks of a request.
#[derive(Debug)]
struct CheckState {
    classifier: Classifier,
    /// The scores by URL; `None` for a URL without a verdict.
    scores: Mutex<HashMap<String, Arc<OnceCell<Option<u8>>>>>,
    scanned: AtomicU64,
    unchecked: AtomicU64,
    blocked: Mutex<HashMap<String, Rule>>,
}

/// A summary of the checks of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CheckSummary {
    /// Unique URLs with a verdict of the classifier, including cached verdicts.
    pub scanned: u64,
    /// Unique URLs for which the classifier had no verdict.
    pub unchecked: u64,
}

impl UrlChecker {
    /// Creates a checker for one request.
    #[must_use]
    pub fn new(rules: &ThreatRules, classifier: &Classifier) -> Self {
        let state = CheckState {
            classifier: classifier.clone(),
            scores: Mutex::default(),
            scanned: AtomicU64::new(0),
            unchecked: AtomicU64::new(0),
            blocked: Mutex::default(),
        };
        Self { rules: Arc::new(rules.clone()), state: Arc::new(state) }
    }

    /// Returns a checker with other rules for the same request. Both share the scores.
    #[must_use]
    pub fn with_rules(&self, rules: &ThreatRules) -> Self {
        Self { rules: Arc::new(rules.clone()), state: Arc::clone(&self.state) }
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &Arc<ThreatRules> {
        &self.rules
    }

    /// Checks a URL by the lists, then by the classifier. A URL without a host is allowed, because it causes no connection.
    ///
    /// # Errors
    /// [`Blocked`], with the rule that blocks it.
    pub async fn check(&self, url: &Url) -> Result<(), Blocked> {
        let rule = match lists::look_up(&self.rules, url) {
            Some(decision) => rule_of(decision),
            None if !matches!(url.scheme(), "http" | "https") => None,
            None => self.check_score(url).await,
        };
        self.finish(url, rule)
    }

    /// Checks a URL by the lists only, for URLs that are shown but not visited.
    ///
    /// # Errors
    /// [`Blocked`], with the rule that blocks it.
    pub fn check_lists(&self, url: &Url) -> Result<(), Blocked> {
        let rule = lists::look_up(&self.rules, url).and_then(rule_of);
        self.finish(url, rule)
    }

    /// Returns the checks as a policy for redirects and navigations.
    #[must_use]
    pub fn url_policy(&self) -> UrlPolicy {
        let checker = self.clone();
        UrlPolicy::new(move |url| {
            let checker = checker.clone();
            async move { checker.check(&url).await.map_err(|blocked| blocked.to_string()) }
        })
    }

    /// Returns a summary of the checks so far.
    #[must_use]
    pub fn summary(&self) -> CheckSummary {
        CheckSummary {
            scanned: self.state.scanned.load(Relaxed),
            unchecked: self.state.unchecked.load(Relaxed),
        }
    }

    /// Returns whether the classifier has a scanner.
    #[must_use]
    pub fn has_scanner(&self) -> bool {
        self.state.classifier.has_scanner()
    }

    async fn check_score(&self, url: &Url) -> Option<Rule> {
        let threshold = self.rules.risk_score_threshold();
        match self.score(url).await {
            Some(score) => (score >= threshold).then_some(Rule::Score { score, threshold }),
            None => self.blocks_unchecked().then_some(Rule::Unchecked),
        }
    }

    /// Returns whether a URL without a verdict is blocked. Without a scanner, that is only so if the failure policy is
    /// explicitly closed, because the lists are useful alone.
    fn blocks_unchecked(&self) -> bool {
        match self.rules.failure_policy() {
            Some(ThreatFailurePolicy::Closed) => true,
            Some(ThreatFailurePolicy::Open) => false,
            None => self.has_scanner(),
        }
    }

    /// Returns the score of a URL. Concurrent checks of the same URL share one scan.
    async fn score(&self, url: &Url) -> Option<u8> {
        let state = &*self.state;
        let url = scannable(url);
        let cell = Arc::clone(state.scores.lock().entry(url.clone()).or_default());
        let score = cell.get_or_init(|| async {
            let score = state.classifier.score(&url, self.rules.retention()).await;
            let score = score.and_then(Result::ok);
            let counter = if score.is_some() { &state.scanned } else { &state.unchecked };
            counter.fetch_add(1, Relaxed);
            score
        });
        *score.await
    }

    /// Counts a blocked URL, once per rule, and returns the result of the check.
    fn finish(&self, url: &Url, rule: Option<Rule>) -> Result<(), Blocked> {
        let Some(rule) = rule else { return Ok(()) };
        let previous = self.state.blocked.lock().insert(scannable(url), rule.clone());
        if previous.as_ref() != Some(&rule) {
            self.state.classifier.count_blocked(&rule);
        }
        Err(Blocked { host: lists::host(url).unwrap_or_default(), rule })
    }
}

/// Returns the rule that blocks; `None` if the lists allow the URL.
fn rule_of(decision: ListDecision) -> Option<Rule> {
    match decision {
        ListDecision::Allowed => None,
        ListDecision::Blacklisted => Some(Rule::Blacklist),
        ListDecision::BlockedTld(tld) => Some(Rule::Tld { tld }),
    }
}

/// Returns a URL in the form that is sent to the scanner: without fragment, which is not sent to hosts, and without
/// credentials.
fn scannable(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Fails only for a URL without a host, which has no credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
