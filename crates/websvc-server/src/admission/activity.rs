//! Counts of this replica's requests and pages by team, for the responses of the other replicas.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use websvc_jobs::Jobs;
use websvc_store::{DEFAULT_TEAM, Store, TeamActivity};

use super::state::AdmissionState;

/// Returns the counts of this process, of the teams that have some.
pub(super) fn collect(
    store: &Store,
    jobs: &Jobs,
    state: &Mutex<AdmissionState>,
) -> BTreeMap<String, TeamActivity> {
    let mut teams: BTreeMap<String, TeamActivity> = BTreeMap::new();
    for (team, requests) in store.requests_in_flight_by_team() {
        teams.entry(team).or_default().requests = requests.into();
    }
    for (team, pages) in jobs.pages_in_flight_by_team() {
        teams.entry(team).or_default().pages = pages;
    }
    for (team, queued) in state.lock().queued_by_team() {
        // Requests without a key are those of the default team.
        let team = if team.is_empty() { DEFAULT_TEAM } else { team };
        teams.entry(team.to_owned()).or_default().queued += queued as u64;
    }
    teams
}
