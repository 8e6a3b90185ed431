//! Places that teams share: at most half of them are one team's, so that none keeps the others out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// A number of places.
#[derive(Debug)]
pub(super) struct TeamPermits {
    all: Arc<Semaphore>,
    per_team: usize,
    /// Those of the teams that have or want one.
    teams: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A place; dropping it lets the next one in.
#[derive(Debug)]
pub(super) struct TeamPermit {
    _of_team: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TryAcquireError {
    /// The team has as many as it may.
    ByTeam,
    /// All are taken.
    ByAll,
}

impl TeamPermits {
    pub(super) fn new(places: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(places)), per_team: (places / 2).max(1), teams: Mutex::default() }
    }

    /// Returns how many a team may have.
    pub(super) fn per_team(&self) -> usize {
        self.per_team
    }

    /// Takes a place for a team, if there is one now.
    pub(super) fn take(&self, team: &str) -> Result<TeamPermit, TryAcquireError> {
        let of_team = self.of_team(team).try_acquire_owned().map_err(|_taken| TryAcquireError::ByTeam)?;
        let of_all = Arc::clone(&self.all).try_acquire_owned().map_err(|_taken| TryAcquireError::ByAll)?;
        Ok(TeamPermit { _of_team: of_team, _of_all: of_all })
    }

    /// Waits for a place for a team; `None` when there is none until `deadline`. A team waits for its own first, so that a
    /// crowd of one team stands in nobody's way.
    pub(super) async fn wait(&self, team: &str, deadline: Instant) -> Option<TeamPermit> {
        let both = async {
            let of_team = self.of_team(team).acquire_owned().await?;
            let of_all = Arc::clone(&self.all).acquire_owned().await?;
            Ok::<_, AcquireError>(TeamPermit { _of_team: of_team, _of_all: of_all })
        };
        tokio::time::timeout_at(deadline.into(), both).await.ok()?.ok()
    }

    fn of_team(&self, team: &str) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        // A place and who waits for one hold their team's, so that teams without are forgotten.
        teams.retain(|_, places| Arc::strong_count(places) > 1);
        let places = teams.entry(team.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.per_team)));
        Arc::clone(places)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_team_has_half_of_the_places_and_all_together_have_all() {
        let places = TeamPermits::new(4);
        let mut taken = vec![places.take("a").unwrap(), places.take("a").unwrap()];
        assert_eq!(places.take("a").unwrap_err(), TryAcquireError::ByTeam);
        taken.push(places.take("b").unwrap());
        let last = places.take("c").unwrap();
        assert_eq!(places.take("b").unwrap_err(), TryAcquireError::ByAll);
        assert!(places.wait("b", Instant::now()).await.is_none());
        drop(last);
        let soon = Instant::now() + Duration::from_secs(60);
        assert!(places.wait("a", Instant::now()).await.is_none());
        taken.push(places.wait("b", soon).await.unwrap());
        drop(taken);
        let _one = places.take("c").unwrap();
        assert_eq!(places.teams.lock().unwrap().len(), 1, "who has none is forgotten");
        assert_eq!(TeamPermits::new(1).per_team(), 1);
    }
}
