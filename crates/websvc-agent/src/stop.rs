//! The reason why a run ends early.

/// The reason why a run must end before its result is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The caller cancelled it.
    Cancelled,
    /// The next work may cost more than its credits.
    CreditLimit,
    /// The team has not enough credits left for the next work.
    TeamCredits {
        /// The credits that the run needs in addition to those that it holds.
        missing: u64,
        /// The credits of the team that nothing holds.
        remaining: u64,
    },
    /// An internal error, which is logged.
    Failed,
}
