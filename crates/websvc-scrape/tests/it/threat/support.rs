//! Shared support of the tests: a fake scanner that scores URLs by their host, and rules of requests.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;
use websvc_scrape::threat::{Classifier, ClassifierConfig, Scanner, UrlChecker};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};
use websvc_types::SearchRequest;
use websvc_validate::{FeaturePolicy, Policy, ThreatPolicy, ThreatRules, read_request};

pub(crate) const SCANNER: &str = "http://scanner.test/scan";

/// Starts a scanner with these responses.
pub(crate) async fn scanner(respond: impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static) -> TestWeb {
    TestWeb::builder().page_with(SCANNER, respond).start().await
}

/// Responds with the score at the beginning of the host, such as 80 for `http://s80.test/`, otherwise with 0.
pub(crate) fn score_by_host(request: &ReceivedRequest) -> Page {
    let url: Url = scanned_url(request).parse().unwrap();
    let first = url.host_str().unwrap_or_default().split(['.', '-']).next().unwrap_or_default().to_owned();
    let score: u64 = first.trim_start_matches('s').parse().unwrap_or_default();
    scored(score)
}

pub(crate) fn scored(score: u64) -> Page {
    Page::new("application/json", json!({ "score": score }).to_string())
}

/// Returns the URL in a request to the scanner.
pub(crate) fn scanned_url(request: &ReceivedRequest) -> String {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["url"].as_str().unwrap().to_owned()
}

/// Returns a configuration without a cache, whose circuit breaker does not open.
pub(crate) fn config() -> ClassifierConfig {
    ClassifierConfig {
        risky_ttl: Duration::ZERO,
        clean_ttl: Duration::ZERO,
        failures: 1000,
        ..ClassifierConfig::default()
    }
}

pub(crate) fn classifier(web: &TestWeb, config: ClassifierConfig) -> Classifier {
    let scanner = Scanner::http(web.client(), SCANNER.parse().unwrap(), None).unwrap();
    Classifier::new(scanner, config)
}

/// Returns the rules of a request with this `threatProtection` and these other fields.
pub(crate) fn rules(threat_protection: &Value, mut body: Value) -> ThreatRules {
    body["query"] = json!("q");
    body["threatProtection"] = threat_protection.clone();
    let policy = Policy {
        threat: ThreatPolicy::On,
        zdr: FeaturePolicy::Allowed,
        threat_values: Arc::default(),
        ..Policy::default()
    };
    let plan = read_request::<SearchRequest>(body.to_string().as_bytes(), &policy).unwrap().plan;
    plan.protection.as_ref().unwrap().clone()
}

pub(crate) fn checker(classifier: &Classifier, threat_protection: &Value) -> UrlChecker {
    UrlChecker::new(&rules(threat_protection, json!({})), classifier)
}

/// Returns the rule that blocks a URL; `None` if it is allowed.
pub(crate) async fn blocked_reason(checker: &UrlChecker, url: &str) -> Option<String> {
    checker.check(&url.parse().unwrap()).await.err().map(|blocked| blocked.rule.to_string())
}
