//! Check of the URL scanner.

use std::time::{Duration, Instant};

use websvc_threat::ScanError;
use websvc_validate::RetentionMode;

use super::finding::Finding;
use crate::app;
use crate::config::Config;
use crate::output;

const CHECK: &str = "threat protection";

/// URL for the scanner: a domain reserved for examples (RFC 2606).
const QUESTION: &str = "http://example.com/";

/// Asks the scanner one question, if there is one.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    let classifier = match app::classifier(config) {
        Ok(classifier) => classifier,
        Err(error) => {
            let advice = "correct what is named; `serve` does not start";
            return Some(Finding::problem(CHECK, output::causes(error.as_ref()), advice));
        }
    };
    let started = Instant::now();
    // Nothing of the check is remembered.
    let answer = classifier.score(QUESTION, RetentionMode::Zero).await?;
    Some(of_answer(&answer, started.elapsed()))
}

fn of_answer(answer: &Result<u8, ScanError>, taken: Duration) -> Finding {
    let message = match answer {
        Ok(score) => {
            return Finding::ok(
                CHECK,
                format!("the scanner answers in {} ms; {QUESTION} has the score {score}", taken.as_millis()),
            );
        }
        Err(error) => format!("the scanner has no verdict: {error}"),
    };
    let advice = match answer {
        Err(ScanError::Status { .. }) => "check `threat.api_key` and `threat.url`",
        Err(ScanError::Unreadable { .. }) => {
            "check `threat.url`: it has to answer with status 200 and JSON with a score from 0 to 100"
        }
        Ok(_) | Err(_) => "check that it runs, `threat.url`, and the way to it",
    };
    Finding::problem(CHECK, message, advice)
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn a_scanner_is_as_good_as_its_answer() {
        let of = |answer| of_answer(&answer, Duration::from_millis(12));
        assert_eq!(of(Ok(0)).state, State::Ok);
        let status = of(Err(ScanError::Status { status: 403, retry_after: None }));
        assert_eq!(
            (status.state, status.advice.as_deref()),
            (State::Problem, Some("check `threat.api_key` and `threat.url`"))
        );
        assert_eq!(of(Err(ScanError::Unreadable { what: "x" })).state, State::Problem);
    }
}
