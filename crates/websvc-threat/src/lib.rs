//! Threat protection (specification, section 2.3): which URLs may be shown and visited.
//!
//! - An [`UrlChecker`] decides on the URLs of one request, each of them once: by the lists of its
//!   [`ThreatRules`](websvc_validate::ThreatRules), which need no network, then by the score of a classifier.
//! - A [`Classifier`] is a [`Scanner`] elsewhere, asked within bounds: so many questions at a time, a time for each, a
//!   breaker, and verdicts that are remembered for a while.

#![deny(missing_docs)]

mod breaker;
mod classifier;
mod error;
mod lists;
mod metrics;
mod scanner;
mod url_checker;
mod verdicts;

pub use breaker::ScannerHealth;
pub use classifier::{Classifier, ClassifierConfig};
pub use error::{Blocked, Rule, ScanError, ScannerError};
pub use metrics::{LATENCY_BOUNDS_MS, ThreatMetrics};
pub use scanner::{Scanner, Verdict, WEB_RISK_URL};
pub use url_checker::{CheckSummary, UrlChecker};
