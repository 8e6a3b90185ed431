//! The result of a check.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::output::{self, Style};

/// The state of a check. The better one is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Nothing to do.
    Ok,
    /// The service runs with restrictions.
    Warning,
    /// The service does not start, or does not work as configured.
    Problem,
}

/// The result of a check in one line, with advice if it is not ok.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Name of the check.
    pub(super) check: String,
    pub(super) state: State,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

/// A warning or a problem, which needs advice.
#[must_use]
pub(super) struct WithoutAdvice(Finding);

impl WithoutAdvice {
    pub(super) fn advice(self, advice: impl Into<String>) -> Finding {
        Finding { advice: Some(advice.into()), ..self.0 }
    }
}

impl Finding {
    pub(super) fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check: check.into(), state: State::Ok, message: message.into(), advice: None }
    }

    pub(super) fn warning(check: impl Into<String>, message: impl Into<String>) -> WithoutAdvice {
        WithoutAdvice(Self { state: State::Warning, ..Self::ok(check, message) })
    }

    pub(super) fn problem(check: impl Into<String>, message: impl Into<String>) -> WithoutAdvice {
        WithoutAdvice(Self { state: State::Problem, ..Self::ok(check, message) })
    }

    /// Returns the problem of an invalid value, whose error names its key.
    pub(super) fn invalid(check: impl Into<String>, error: &anyhow::Error) -> Self {
        let advice = "correct the named value; `serve` does not start";
        Self::problem(check, output::causes(error.as_ref())).advice(advice)
    }

    /// Returns the problem of a check that has ended with a panic.
    pub(super) fn bug(check: &str, error: &dyn std::error::Error) -> Self {
        Self::problem(check, error.to_string()).advice("report this bug of websvc")
    }
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Self::Ok => Style::Dim,
            Self::Warning => Style::Link,
            Self::Problem => Style::Bold,
        }
    }
}

/// Returns the output of some work, and the time that it has taken.
pub(super) async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let started = Instant::now();
    (work.await, started.elapsed())
}
