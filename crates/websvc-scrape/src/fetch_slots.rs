//! The slots of fetches, divided among the teams that want them, and among the hosts that they are for.

use std::collections::HashMap;

use parking_lot::Mutex;
use url::Url;
use websvc_transport::{FairPermit, FairQueue, FairSemaphore};

/// The part of the slots, of all and of a host, that are kept for teams with few fetches.
const RESERVE_PART: usize = 8;

/// The number of hosts from which those without fetches are removed.
const MAX_IDLE_HOSTS: usize = 1024;

/// The slots of all fetches.
#[derive(Debug)]
pub(crate) struct FetchSlots {
    all: FairSemaphore,
    /// The maximum number of slots for one host.
    per_host: usize,
    hosts: Mutex<HashMap<String, FairSemaphore>>,
}

/// The right to one fetch. It ends on drop.
#[derive(Debug)]
pub(crate) struct FetchSlot {
    _of_all: FairPermit,
    _of_host: FairPermit,
}

impl FetchSlots {
    /// Creates slots for `concurrency` fetches of one team, of which half, and at most `connections_per_host`, are for one
    /// host.
    pub(crate) fn new(concurrency: usize, connections_per_host: usize) -> Self {
        let per_host = (concurrency / 2).clamp(1, connections_per_host.max(1));
        let all = FairQueue::new(concurrency).with_reserve(concurrency / RESERVE_PART);
        Self { all: FairSemaphore::new(all), per_host, hosts: Mutex::default() }
    }

    /// Waits for a slot for a fetch from the host of a URL: first for one of the host, so that fetches which wait for a slow
    /// host take nothing from others.
    pub(crate) async fn acquire(&self, url: &Url, team: &str) -> FetchSlot {
        let host = self.host(url);
        let of_host = host.acquire(team).await;
        FetchSlot { _of_all: self.all.acquire(team).await, _of_host: of_host }
    }

    fn host(&self, url: &Url) -> FairSemaphore {
        let name = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut hosts = self.hosts.lock();
        if let Some(host) = hosts.get(name) {
            return host.clone();
        }
        if hosts.len() >= MAX_IDLE_HOSTS {
            hosts.retain(|_, host| host.is_used());
        }
        // The client opens no further connections, so the reserve is a part of them.
        let reserve = self.per_host / RESERVE_PART;
        let host = FairSemaphore::new(FairQueue::new(self.per_host - reserve).with_reserve(reserve));
        hosts.insert(name.to_owned(), host.clone());
        host
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SLOW: &str = "http://slow.test/";
    const OTHER: &str = "http://other.test/";

    /// Lets this many fetches of a team begin that never end, and returns those that have a slot.
    async fn begin(slots: &FetchSlots, url: &str, team: &str, fetches: usize) -> Vec<FetchSlot> {
        let url: Url = url.parse().unwrap();
        let mut begun = Vec::new();
        for _ in 0..fetches {
            // In virtual time, this is over as soon as nothing else can happen.
            begun.extend(timeout(std::time::Duration::from_secs(1), slots.acquire(&url, team)).await.ok());
        }
        begun
    }

    #[tokio::test(start_paused = true)]
    async fn slow_host_leaves_slots_for_other_hosts_and_for_other_teams() {
        let slots = FetchSlots::new(64, 32);
        let slow = begin(&slots, SLOW, "many", 100).await;
        assert_eq!(slow.len(), 28);
        assert_eq!(begin(&slots, SLOW, "few", 1).await.len(), 1, "another team, the same host");
        assert_eq!(begin(&slots, OTHER, "many", 1).await.len(), 1, "another host");
        drop(slow);
        assert_eq!(begin(&slots, SLOW, "many", 1).await.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn team_with_all_slots_leaves_some_for_another_one() {
        let slots = FetchSlots::new(64, 32);
        let mut begun = Vec::new();
        for host in 0..10 {
            begun.extend(begin(&slots, &format!("http://h{host}.test/"), "many", 20).await);
        }
        assert_eq!(begun.len(), 64);
        assert_eq!(begin(&slots, OTHER, "few", 5).await.len(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn small_numbers_of_slots_leave_room_too_and_idle_hosts_are_removed() {
        let slots = FetchSlots::new(2, 32);
        let slow = begin(&slots, SLOW, "many", 5).await;
        assert_eq!(slow.len(), 1);
        assert_eq!(begin(&slots, OTHER, "few", 1).await.len(), 1);
        for host in 0..2 * MAX_IDLE_HOSTS {
            begin(&slots, &format!("http://h{host}.test/"), "many", 1).await;
        }
        let hosts = slots.hosts.lock();
        assert!(hosts.len() <= MAX_IDLE_HOSTS && hosts.contains_key("slow.test"), "{}", hosts.len());
    }
}
