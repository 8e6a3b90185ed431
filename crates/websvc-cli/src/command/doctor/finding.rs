//! The result of a check.

use serde::Serialize;

use crate::output::Style;

/// The state of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

impl Finding {
    pub(super) fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self { check: check.into(), state: State::Ok, message: message.into(), advice: None }
    }

    pub(super) fn warning(
        check: impl Into<String>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { state: State::Warning, advice: Some(advice.into()), ..Self::ok(check, message) }
    }

    pub(super) fn problem(
        check: impl Into<String>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { state: State::Problem, advice: Some(advice.into()), ..Self::ok(check, message) }
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
