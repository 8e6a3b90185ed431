//! Metrics of sessions.

use std::time::Duration;

use websvc_engine::EngineError;
use websvc_stage::{Counter, CountersBy, Histogram};
use websvc_types::interact::InteractLanguage;

use crate::code::Outcome;
use crate::error::SessionError;

/// The inclusive upper bounds of the buckets of durations, in microseconds: from ten seconds to the longest time to live.
const DURATION_BOUNDS_US: &[u64] = &[
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
    1_800_000_000,
    3_600_000_000,
];

/// The reasons why sessions did not start.
const START_FAILURES: [&str; 6] = ["limit", "browser", "profile", "page", "shutdown", "error"];

/// The ends of programs.
const PROGRAM_OUTCOMES: [&str; 3] = ["succeeded", "failed", "killed"];

/// The languages of programs.
const LANGUAGES: [InteractLanguage; 3] =
    [InteractLanguage::Node, InteractLanguage::Python, InteractLanguage::Bash];

/// Metrics of the sessions of this process since its start.
#[derive(Debug)]
pub struct SessionMetrics {
    /// Started sessions.
    pub started: Counter,
    /// Sessions that did not start, by the reason.
    pub failed: CountersBy<&'static str>,
    /// Sessions that have ended, by the reason.
    pub ended: CountersBy<&'static str>,
    /// Durations of the sessions that have ended.
    pub durations: Histogram,
    /// Programs that have ended, by language and outcome.
    pub programs: CountersBy<(&'static str, &'static str)>,
}

/// The sessions of this process now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSessions {
    /// Active sessions.
    pub active: usize,
    /// Connected clients of the DevTools protocol.
    pub clients: usize,
    /// Connected viewers.
    pub viewers: usize,
}

/// The reason for the end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// A client has deleted it.
    Deleted,
    /// Its time to live is over.
    Expired,
    /// It was not used.
    Unused,
    /// Its browser has ended.
    Crashed,
    /// The service shuts down.
    Shutdown,
}

impl EndReason {
    const ALL: [Self; 5] = [Self::Deleted, Self::Expired, Self::Unused, Self::Crashed, Self::Shutdown];

    /// Returns the name in logs and metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Unused => "unused",
            Self::Crashed => "crashed",
            Self::Shutdown => "shutdown",
        }
    }
}

impl Default for SessionMetrics {
    fn default() -> Self {
        let programs = LANGUAGES
            .iter()
            .flat_map(|language| PROGRAM_OUTCOMES.map(|outcome| (language.as_str(), outcome)));
        Self {
            started: Counter::default(),
            failed: CountersBy::new(START_FAILURES),
            ended: CountersBy::new(EndReason::ALL.map(EndReason::name)),
            durations: Histogram::new(DURATION_BOUNDS_US),
            programs: CountersBy::new(programs),
        }
    }
}

impl SessionMetrics {
    /// Counts a session that did not start.
    pub(crate) fn count_failure(&self, error: &SessionError) {
        self.failed.add(start_failure(error), 1);
    }

    /// Counts a session that has ended.
    pub(crate) fn count_end(&self, reason: EndReason, duration: Duration) {
        self.ended.add(reason.name(), 1);
        self.durations.count(duration);
    }

    /// Counts a program that has ended.
    pub(crate) fn count_program(&self, language: InteractLanguage, outcome: &Outcome) {
        self.programs.add((language.as_str(), program_outcome(outcome)), 1);
    }
}

/// Returns the name of the reason in [`START_FAILURES`].
fn start_failure(error: &SessionError) -> &'static str {
    match error {
        SessionError::TooManyOfTeam { .. } | SessionError::TooMany { .. } => "limit",
        SessionError::Unavailable { .. } => "browser",
        SessionError::Stopping => "shutdown",
        SessionError::Engine(EngineError::Page(_)) => "page",
        SessionError::Engine(EngineError::Profile(_)) => "profile",
        SessionError::NotFound
        | SessionError::Ended
        | SessionError::OnOtherReplica
        | SessionError::Busy { .. }
        | SessionError::TooManyClients { .. }
        | SessionError::Language { .. }
        | SessionError::NoModel
        | SessionError::Engine(_)
        | SessionError::Browser(_)
        | SessionError::Store(_)
        | SessionError::Random => "error",
    }
}

/// Returns the name of the end of a program in [`PROGRAM_OUTCOMES`].
fn program_outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome { killed: true, .. } => "killed",
        Outcome { exit_code: 0, .. } => "succeeded",
        Outcome { .. } => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_under_the_names_of_their_kinds() {
        let metrics = SessionMetrics::default();
        for reason in EndReason::ALL {
            metrics.count_end(reason, Duration::from_secs(1));
        }
        metrics.count_end(EndReason::Unused, Duration::from_secs(60));
        metrics.count_failure(&SessionError::TooMany { max: 1 });
        metrics.count_failure(&SessionError::Unavailable { reason: String::new() });
        metrics.count_failure(&SessionError::Stopping);
        metrics.count_failure(&SessionError::Random);
        let [failed, killed] =
            [false, true].map(|killed| Outcome { exit_code: 1, killed, ..Outcome::default() });
        for language in LANGUAGES {
            metrics.count_program(language, &Outcome::default());
        }
        metrics.count_program(InteractLanguage::Bash, &failed);
        metrics.count_program(InteractLanguage::Node, &killed);
        assert_eq!(
            metrics.ended.counts(),
            [("deleted", 1), ("expired", 1), ("unused", 2), ("crashed", 1), ("shutdown", 1)]
        );
        assert_eq!(
            metrics.failed.counts(),
            [("limit", 1), ("browser", 1), ("profile", 0), ("page", 0), ("shutdown", 1), ("error", 1)]
        );
        let mut counted = metrics.programs.counts();
        counted.retain(|(_, count)| *count > 0);
        assert_eq!(
            counted,
            [
                (("node", "succeeded"), 1),
                (("node", "killed"), 1),
                (("python", "succeeded"), 1),
                (("bash", "succeeded"), 1),
                (("bash", "failed"), 1)
            ]
        );
        assert_eq!(metrics.durations.distribution().counts, [5, 5, 6, 6, 6, 6, 6, 6, 6]);
    }
}
