//! The downloads that run at the same time: one of each team, and a few of all.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

/// The slots of downloads.
#[derive(Debug)]
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    /// A slot of each team with a download or a request that waits for it.
    teams: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// The right to one download. It ends on drop.
#[derive(Debug)]
pub(crate) struct Slot {
    _team: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Slots {
    pub(crate) fn new(max_downloads: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(max_downloads)), teams: Mutex::default() }
    }

    /// Waits for a slot; returns `None` if there is none until the deadline.
    pub(crate) async fn acquire(&self, team: &str, deadline: Instant) -> Option<Slot> {
        let team = self.team(team);
        let waiting = async {
            // The team's first, so that a team that waits for itself takes nothing from others.
            let team = team.acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some(Slot { _team: team, _all: all })
        };
        timeout_at(deadline.into(), waiting).await.ok()?
    }

    fn team(&self, team: &str) -> Arc<Semaphore> {
        let mut teams = self.teams.lock();
        if let Some(slot) = teams.get(team).and_then(Weak::upgrade) {
            return slot;
        }
        teams.retain(|_, slot| slot.strong_count() > 0);
        let slot = Arc::new(Semaphore::new(1));
        teams.insert(team.to_owned(), Arc::downgrade(&slot));
        slot
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn team_has_one_slot() {
        let slots = Slots::new(2);
        let soon = || Instant::now() + Duration::from_millis(5);
        let later = || Instant::now() + Duration::from_secs(60);
        let first = slots.acquire("a", later()).await.unwrap();
        assert!(slots.acquire("a", soon()).await.is_none());
        let second = slots.acquire("b", later()).await.unwrap();
        assert!(slots.acquire("c", soon()).await.is_none(), "two of all");
        drop(first);
        let third = slots.acquire("a", later()).await.unwrap();
        drop((second, third));
        assert!(slots.acquire("c", later()).await.is_some());
        assert_eq!(slots.teams.lock().len(), 1, "slots without downloads are removed");
    }
}
