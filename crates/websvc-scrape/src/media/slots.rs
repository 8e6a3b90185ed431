//! The downloads that run at the same time: one of each team, and a few of all.

use std::time::Instant;

use tokio::time::timeout_at;
use websvc_transport::{FairPermit, FairQueue, FairSemaphore};

/// The slots of downloads.
#[derive(Debug)]
pub(crate) struct Slots(FairSemaphore);

impl Slots {
    pub(crate) fn new(max_downloads: usize) -> Self {
        Self(FairSemaphore::new(FairQueue::new(max_downloads).with_max_per_key(1)))
    }

    /// Waits for a slot; returns `None` if there is none until the deadline.
    pub(crate) async fn acquire(&self, team: &str, deadline: Instant) -> Option<FairPermit> {
        timeout_at(deadline.into(), self.0.acquire(team)).await.ok()
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
    }
}
