//! Permits that all teams share. One team gets only a part of them, at most half by default, so that it cannot block the
//! others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// A limited number of permits.
#[derive(Debug)]
pub(super) struct TeamPermits {
    total: Arc<Semaphore>,
    per_team: usize,
    /// The semaphores of the teams that have a permit or wait for one.
    teams: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A permit of a team.
#[derive(Debug)]
pub(super) struct TeamPermit {
    _team: OwnedSemaphorePermit,
    _total: OwnedSemaphorePermit,
}

/// The limit that prevents a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TryAcquireError {
    /// The limit of the team.
    Team,
    /// The limit of all teams.
    Total,
}

impl TeamPermits {
    pub(super) fn new(permits: usize) -> Self {
        Self::with_team_limit(permits, (permits / 2).max(1))
    }

    /// Creates permits of which one team gets at most `per_team`.
    pub(super) fn with_team_limit(permits: usize, per_team: usize) -> Self {
        Self { total: Arc::new(Semaphore::new(permits)), per_team, teams: Mutex::default() }
    }

    /// Returns the maximum number of permits of one team.
    pub(super) fn per_team(&self) -> usize {
        self.per_team
    }

    /// Acquires a permit for a team without waiting.
    pub(super) fn try_acquire(&self, team: &str) -> Result<TeamPermit, TryAcquireError> {
        let team = self.semaphore(team).try_acquire_owned().map_err(|_| TryAcquireError::Team)?;
        let total = Arc::clone(&self.total).try_acquire_owned().map_err(|_| TryAcquireError::Total)?;
        Ok(TeamPermit { _team: team, _total: total })
    }

    /// Waits for a permit for a team; `None` if there is none before `deadline`. A request first waits for a permit of its
    /// team, so that many requests of one team do not fill the queue of all teams.
    pub(super) async fn acquire(&self, team: &str, deadline: Instant) -> Option<TeamPermit> {
        let acquiring = async {
            let team = self.semaphore(team).acquire_owned().await?;
            let total = Arc::clone(&self.total).acquire_owned().await?;
            Ok::<_, AcquireError>(TeamPermit { _team: team, _total: total })
        };
        tokio::time::timeout_at(deadline.into(), acquiring).await.ok()?.ok()
    }

    fn semaphore(&self, team: &str) -> Arc<Semaphore> {
        let mut teams = self.teams.lock();
        // Every permit and every waiting request has a reference, so the others belong to idle teams.
        teams.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        let semaphore =
            teams.entry(team.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.per_team)));
        Arc::clone(semaphore)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_team_gets_half_of_the_permits_and_all_teams_together_get_all() {
        let permits = TeamPermits::new(4);
        let mut acquired = vec![permits.try_acquire("a").unwrap(), permits.try_acquire("a").unwrap()];
        assert_eq!(permits.try_acquire("a").unwrap_err(), TryAcquireError::Team);
        acquired.push(permits.try_acquire("b").unwrap());
        let last = permits.try_acquire("c").unwrap();
        assert_eq!(permits.try_acquire("b").unwrap_err(), TryAcquireError::Total);
        assert!(permits.acquire("b", Instant::now()).await.is_none());
        drop(last);
        let soon = Instant::now() + Duration::from_secs(60);
        assert!(permits.acquire("a", Instant::now()).await.is_none());
        acquired.push(permits.acquire("b", soon).await.unwrap());
        drop(acquired);
        let _permit = permits.try_acquire("c").unwrap();
        assert_eq!(permits.teams.lock().len(), 1, "idle teams are removed");
        assert_eq!(TeamPermits::new(1).per_team(), 1);
    }
}
