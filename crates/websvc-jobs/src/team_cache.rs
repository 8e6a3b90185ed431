//! The team of a job, as it was read last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_store::Team;

/// How long a team is cached, so that not every page reads it from the store.
const TEAM_TTL: Duration = Duration::from_millis(500);

/// A cached team.
#[derive(Debug, Default)]
pub(crate) struct TeamCache(Mutex<Option<(Instant, Arc<Team>)>>);

impl TeamCache {
    /// Returns the cached team, unless it is too old.
    pub(crate) fn get(&self) -> Option<Arc<Team>> {
        let cached = self.0.lock();
        let (_, team) = cached.as_ref().filter(|(at, _)| at.elapsed() < TEAM_TTL)?;
        Some(Arc::clone(team))
    }

    /// Returns the team as it was last read.
    pub(crate) fn last(&self) -> Option<Arc<Team>> {
        self.0.lock().as_ref().map(|(_, team)| Arc::clone(team))
    }

    /// Caches the team as of now.
    pub(crate) fn set(&self, team: &Arc<Team>) {
        let entry = (Instant::now(), Arc::clone(team));
        *self.0.lock() = Some(entry);
    }
}
