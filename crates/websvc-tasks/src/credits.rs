//! Credits of the teams of stored tasks.

use websvc_store::{DEFAULT_TEAM, HoldOutcome, KeyId, Store, StoreError};

/// Returns whether the service required no key when a task was created. Such tasks cost nothing.
#[must_use]
pub fn is_anonymous(team: &str, key: Option<&KeyId>) -> bool {
    key.is_none() && team == DEFAULT_TEAM
}

/// Holds credits for a task of a team and a key: `wanted` ones, or only `least` if the team has fewer left. Blocks.
///
/// # Errors
/// Failures of the database.
pub fn hold_for_task(
    store: &Store,
    team: &str,
    key: Option<&KeyId>,
    least: u64,
    wanted: u64,
) -> Result<HoldOutcome, StoreError> {
    if is_anonymous(team, key) {
        return Ok(HoldOutcome::Granted(store.hold_unlimited(team)));
    }
    hold_for_team(store, team, least, wanted)
}

/// Holds credits of a team: `wanted` ones, or only `least` if it has fewer left. Reads the team, whose budget may have
/// changed since a task was created. Blocks.
///
/// # Errors
/// Failures of the database.
pub fn hold_for_team(store: &Store, team: &str, least: u64, wanted: u64) -> Result<HoldOutcome, StoreError> {
    let Some(team) = store.team(team)? else { return Ok(HoldOutcome::Insufficient { remaining: 0 }) };
    if wanted > least
        && let granted @ HoldOutcome::Granted(_) = store.hold(&team, wanted)?
    {
        return Ok(granted);
    }
    store.hold(&team, least)
}
