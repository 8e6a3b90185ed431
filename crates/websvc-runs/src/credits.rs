//! The credits of the team of a run: few are held at its start, and more as its work needs them.

use websvc_agent::Stop;
use websvc_store::{CreditHold, HoldOutcome, RunRecord, Store, StoreError};
use websvc_tasks::{hold_for_task, hold_for_team};
use websvc_transport::{ShutdownError, run_blocking};

/// The credits that a run holds at a time, if the team has them. With fewer, the run holds only what its next work may
/// cost, so that other requests of a small team have the rest.
pub(crate) const CHUNK: u64 = 20;

/// The credits of a team, of which a run holds a chunk at a time.
#[derive(Debug, Clone)]
pub(crate) struct TeamCredits {
    store: Store,
    team: String,
    /// The most that the run may need. It holds nothing in advance above this.
    expected: u64,
}

impl TeamCredits {
    pub(crate) fn new(store: Store, team: String, expected: u64) -> Self {
        Self { store, team, expected }
    }

    /// Holds `missing` credits for a run that has `held` ones, and some in advance if the team has enough.
    ///
    /// # Errors
    /// [`Stop::TeamCredits`] if the team has fewer left, [`Stop::Failed`] if the store failed.
    pub(crate) async fn hold_more(&self, held: u64, missing: u64) -> Result<CreditHold, Stop> {
        let wanted = missing.max(CHUNK.min(self.expected.saturating_sub(held)));
        let Self { store, team, expected: _ } = self.clone();
        match run_blocking(move || hold_for_team(&store, &team, missing, wanted)).await {
            Ok(Ok(HoldOutcome::Granted(hold))) => Ok(hold),
            Ok(Ok(HoldOutcome::Insufficient { remaining })) => Err(Stop::TeamCredits { missing, remaining }),
            Ok(Err(error)) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the credits of a run could not be held"
                );
                Err(Stop::Failed)
            }
            Err(ShutdownError) => Err(Stop::Failed),
        }
    }
}

/// Holds the credits with which a run begins: some in advance if the team has enough, and at least `least`. Blocks.
pub(crate) fn hold_first(store: &Store, record: &RunRecord, least: u64) -> Result<HoldOutcome, StoreError> {
    hold_for_task(store, &record.team, record.key.as_ref(), least, CHUNK.min(record.max_credits))
}
