//! Check of the URL scanner.

use std::time::{Duration, Instant};

use websvc_scrape::threat::ScanError;
use websvc_validate::RetentionMode;

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "threat protection";

/// The URL that is scanned, with a domain reserved for examples (RFC 2606).
const TEST_URL: &str = "http://example.com/";

/// Scans a URL, if a scanner is configured.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    let classifier = match app::classifier(config) {
        Ok(classifier) => classifier,
        Err(error) => {
            let advice = "correct the named value; `serve` does not start";
            return Some(Finding::problem(CHECK, output::causes(error.as_ref()), advice));
        }
    };
    let started = Instant::now();
    // The verdict is not cached.
    let result = classifier.score(TEST_URL, RetentionMode::Zero).await?;
    Some(scan_finding(&result, started.elapsed()))
}

fn scan_finding(result: &Result<u8, ScanError>, elapsed: Duration) -> Finding {
    let message = match result {
        Ok(score) => {
            return Finding::ok(
                CHECK,
                format!(
                    "the scanner responds in {} ms; {TEST_URL} has the score {score}",
                    elapsed.as_millis()
                ),
            );
        }
        Err(error) => format!("the scanner returned no verdict: {error}"),
    };
    let advice = match result {
        Err(ScanError::Status { .. }) => "check `threat.api_key` and `threat.url`",
        Err(ScanError::Unreadable { .. }) => {
            "check `threat.url`: the scanner must respond with status 200 and JSON with a score from 0 to 100"
        }
        Ok(_) | Err(_) => "check that the scanner runs, `threat.url`, and the network",
    };
    Finding::problem(CHECK, message, advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn scan_errors_are_problems() {
        let of = |result| scan_finding(&result, Duration::from_millis(12));
        assert_eq!(of(Ok(0)).state, State::Ok);
        let status = of(Err(ScanError::Status { status: 403, retry_after: None }));
        assert_eq!(
            (status.state, status.advice.as_deref()),
            (State::Problem, Some("check `threat.api_key` and `threat.url`"))
        );
        assert_eq!(of(Err(ScanError::Unreadable { what: "x" })).state, State::Problem);
    }
}
