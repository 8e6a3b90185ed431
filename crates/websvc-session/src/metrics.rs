//! The counts of sessions since the start of the process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use websvc_engine::EngineError;
use websvc_stage::{Distribution, Histogram};
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

/// The metrics of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMetrics {
    /// Active sessions.
    pub active: usize,
    /// Connected clients of the DevTools protocol.
    pub clients: usize,
    /// Connected viewers.
    pub viewers: usize,
    /// Started sessions.
    pub started: u64,
    /// Sessions that did not start, by the reason.
    pub failed: Vec<(&'static str, u64)>,
    /// Sessions that have ended, by the reason.
    pub ended: Vec<(&'static str, u64)>,
    /// Durations of the sessions that have ended.
    pub durations: Distribution,
    /// Programs that have ended, by language and outcome.
    pub programs: Vec<(&'static str, &'static str, u64)>,
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

/// The reason why a session did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartFailureKind {
    /// The team or the process has too many sessions.
    Limit,
    /// Sessions are switched off, or Chromium is missing or does not start.
    Browser,
    /// The profile could not be opened.
    Profile,
    /// The page of the scrape could not be opened.
    Page,
    /// The service shuts down.
    Shutdown,
    /// Any other failure.
    Error,
}

/// The end of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramStatus {
    Succeeded,
    Failed,
    Killed,
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

impl StartFailureKind {
    const ALL: [Self; 6] =
        [Self::Limit, Self::Browser, Self::Profile, Self::Page, Self::Shutdown, Self::Error];

    fn name(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::Browser => "browser",
            Self::Profile => "profile",
            Self::Page => "page",
            Self::Shutdown => "shutdown",
            Self::Error => "error",
        }
    }

    fn from_error(error: &SessionError) -> Self {
        match error {
            SessionError::TooManyOfTeam { .. } | SessionError::TooMany { .. } => Self::Limit,
            SessionError::Unavailable { .. } => Self::Browser,
            SessionError::Stopping => Self::Shutdown,
            SessionError::Engine(EngineError::Page(_)) => Self::Page,
            SessionError::Engine(EngineError::Profile(_)) => Self::Profile,
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
            | SessionError::Random => Self::Error,
        }
    }
}

impl ProgramStatus {
    const ALL: [Self; 3] = [Self::Succeeded, Self::Failed, Self::Killed];

    fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    fn from_outcome(outcome: &Outcome) -> Self {
        if outcome.killed {
            Self::Killed
        } else if outcome.exit_code == 0 {
            Self::Succeeded
        } else {
            Self::Failed
        }
    }
}

/// The languages of programs.
const LANGUAGES: [InteractLanguage; 3] =
    [InteractLanguage::Node, InteractLanguage::Python, InteractLanguage::Bash];

/// The counters of the sessions of this process.
#[derive(Debug)]
pub(crate) struct SessionCounters {
    started: AtomicU64,
    failed: [AtomicU64; StartFailureKind::ALL.len()],
    ended: [AtomicU64; EndReason::ALL.len()],
    durations: Histogram,
    programs: [[AtomicU64; ProgramStatus::ALL.len()]; LANGUAGES.len()],
}

impl Default for SessionCounters {
    fn default() -> Self {
        Self {
            started: AtomicU64::default(),
            failed: Default::default(),
            ended: Default::default(),
            durations: Histogram::new(DURATION_BOUNDS_US),
            programs: Default::default(),
        }
    }
}

impl SessionCounters {
    /// Counts a session that has started.
    pub(crate) fn count_start(&self) {
        self.started.fetch_add(1, Relaxed);
    }

    /// Counts a session that did not start.
    pub(crate) fn count_failure(&self, error: &SessionError) {
        // The variants have no values, so their order is that of the array.
        self.failed[StartFailureKind::from_error(error) as usize].fetch_add(1, Relaxed);
    }

    /// Counts a session that has ended.
    pub(crate) fn count_end(&self, reason: EndReason, duration: Duration) {
        self.ended[reason as usize].fetch_add(1, Relaxed);
        self.durations.count(duration);
    }

    /// Counts a program that has ended.
    pub(crate) fn count_program(&self, language: InteractLanguage, outcome: &Outcome) {
        self.programs[language as usize][ProgramStatus::from_outcome(outcome) as usize].fetch_add(1, Relaxed);
    }

    /// Returns the counts, with those of the active sessions.
    pub(crate) fn metrics(&self, active: usize, clients: usize, viewers: usize) -> SessionMetrics {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        let failed = StartFailureKind::ALL.iter().zip(&self.failed);
        let ended = EndReason::ALL.iter().zip(&self.ended);
        let programs = LANGUAGES.iter().zip(&self.programs).flat_map(|(language, counters)| {
            let statuses = ProgramStatus::ALL.iter().zip(counters);
            statuses.map(|(status, counter)| (language.as_str(), status.name(), load(counter)))
        });
        SessionMetrics {
            active,
            clients,
            viewers,
            started: load(&self.started),
            failed: failed.map(|(kind, counter)| (kind.name(), load(counter))).collect(),
            ended: ended.map(|(reason, counter)| (reason.name(), load(counter))).collect(),
            durations: self.durations.distribution(),
            programs: programs.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_under_the_names_of_their_kinds() {
        let counters = SessionCounters::default();
        for reason in EndReason::ALL {
            counters.count_end(reason, Duration::from_secs(1));
        }
        counters.count_end(EndReason::Unused, Duration::from_secs(60));
        counters.count_failure(&SessionError::TooMany { max: 1 });
        counters.count_failure(&SessionError::Unavailable { reason: String::new() });
        counters.count_failure(&SessionError::Stopping);
        counters.count_failure(&SessionError::Random);
        let [failed, killed] =
            [false, true].map(|killed| Outcome { exit_code: 1, killed, ..Outcome::default() });
        for language in LANGUAGES {
            counters.count_program(language, &Outcome::default());
        }
        counters.count_program(InteractLanguage::Bash, &failed);
        counters.count_program(InteractLanguage::Node, &killed);
        let metrics = counters.metrics(1, 2, 3);
        assert_eq!(
            metrics.ended,
            [("deleted", 1), ("expired", 1), ("unused", 2), ("crashed", 1), ("shutdown", 1)]
        );
        assert_eq!(
            metrics.failed,
            [("limit", 1), ("browser", 1), ("profile", 0), ("page", 0), ("shutdown", 1), ("error", 1)]
        );
        let counted: Vec<_> = metrics.programs.iter().filter(|(.., count)| *count > 0).collect();
        assert_eq!(
            counted,
            [
                &("node", "succeeded", 1),
                &("node", "killed", 1),
                &("python", "succeeded", 1),
                &("bash", "succeeded", 1),
                &("bash", "failed", 1)
            ]
        );
        assert_eq!(metrics.durations.counts, [5, 5, 6, 6, 6, 6, 6, 6, 6]);
    }
}
