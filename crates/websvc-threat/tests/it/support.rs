//! Shared support of the tests: a stand-in scanner that scores by host, and requests with protection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;
use websvc_testkit::{Page, ReceivedRequest, TestWeb};
use websvc_threat::{Classifier, ClassifierConfig, Scanner, UrlChecker};
use websvc_validate::{FeaturePolicy, Policy, ThreatPolicy, ThreatRules, read_search};

pub(crate) const SCANNER: &str = "http://scanner.test/scan";

/// Starts a scanner with this answer.
pub(crate) async fn scanner(answer: impl Fn(&ReceivedRequest) -> Page + Send + Sync + 'static) -> TestWeb {
    TestWeb::builder().page_with(SCANNER, answer).start().await
}

/// Answers with the score that the host of the URL begins with, such as 80 for `http://80.test/`, and 0 for others.
pub(crate) fn by_host(seen: &ReceivedRequest) -> Page {
    let url: Url = asked(seen).parse().unwrap();
    let first = url.host_str().unwrap_or_default().split(['.', '-']).next().unwrap_or_default().to_owned();
    let score: u64 = first.trim_start_matches('s').parse().unwrap_or_default();
    scored(score)
}

pub(crate) fn scored(score: u64) -> Page {
    Page::new("application/json", json!({ "score": score }).to_string())
}

/// Returns the URL that a question is about.
pub(crate) fn asked(seen: &ReceivedRequest) -> String {
    let body: Value = serde_json::from_slice(&seen.body).unwrap();
    body["url"].as_str().unwrap().to_owned()
}

/// Returns a configuration under which nothing is waited for and nothing is remembered.
pub(crate) fn config() -> ClassifierConfig {
    ClassifierConfig {
        remember_risky: Duration::ZERO,
        remember_clean: Duration::ZERO,
        failures: 1000,
        ..ClassifierConfig::default()
    }
}

pub(crate) fn classifier(world: &TestWeb, config: ClassifierConfig) -> Classifier {
    let scanner = Scanner::http(world.client(), SCANNER.parse().unwrap(), None).unwrap();
    Classifier::new(scanner, config)
}

/// Returns what is in force for a request with this `threatProtection` and these other fields.
pub(crate) fn protection(own: &Value, mut body: Value) -> ThreatRules {
    body["query"] = json!("q");
    body["threatProtection"] = own.clone();
    let policy = Policy {
        threat: ThreatPolicy::On,
        zdr: FeaturePolicy::Allowed,
        threat_values: Arc::default(),
        ..Policy::default()
    };
    let plan = read_search(body.to_string().as_bytes(), &policy).unwrap().plan;
    plan.protection().unwrap().clone()
}

pub(crate) fn inspection(classifier: &Classifier, own: &Value) -> UrlChecker {
    UrlChecker::new(&protection(own, json!({})), classifier)
}

/// Returns why a URL is blocked; nothing when it is not.
pub(crate) async fn why(inspection: &UrlChecker, url: &str) -> Option<String> {
    inspection.check(&url.parse().unwrap()).await.err().map(|blocked| blocked.rule.to_string())
}
