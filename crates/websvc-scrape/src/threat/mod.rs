//! Threat protection (specification, section 2.3): checks whether URLs may be shown and visited.
//!
//! - A [`UrlChecker`] checks the URLs of one request, each of them once: by the lists of its
//!   [`ThreatRules`](websvc_validate::ThreatRules), which need no network, then by the score of a classifier.
//! - A [`Classifier`] sends requests to an external [`Scanner`], with a concurrency limit, a timeout, a circuit breaker and a
//!   cache of verdicts.

mod classifier;
mod error;
mod lists;
mod metrics;
mod scanner;
mod url_checker;
mod verdicts;

pub use classifier::{Classifier, ClassifierConfig};
pub use error::{Blocked, Rule, ScanError, ScannerError};
pub use metrics::ThreatMetrics;
pub use scanner::{Scanner, Verdict, WEB_RISK_URL};
pub use url_checker::{CheckSummary, UrlChecker};
pub use websvc_transport::BreakerHealth as ScannerHealth;
