//! The requests of recent scrapes of this process, so that a browser session can open their pages again.
//!
//! It is in memory only: headers and actions of scrapes may contain credentials, and a session runs in this process anyway.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;
use websvc_types::limits::SCRAPE_RESULT_LIFETIME_S;
use websvc_validate::PagePlan;

/// The time for which a scrape can be opened again.
const RETENTION: Duration = Duration::from_secs(SCRAPE_RESULT_LIFETIME_S);
/// The maximum number of scrapes.
const MAX_SCRAPES: usize = 10_000;
/// The maximum size of the requests of all scrapes.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The maximum size of one request that is retained.
const MAX_REQUEST_BYTES: usize = 256 * 1024;

/// A scrape that a session may open.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    pub(crate) team: String,
    /// The checked request; `None` if it may not be stored, or is too large.
    pub(crate) plan: Option<Arc<PagePlan>>,
    /// Held while its session starts, so that concurrent requests start one only.
    pub(crate) opening: Arc<tokio::sync::Mutex<()>>,
}

/// The recent scrapes.
#[derive(Debug, Default)]
pub(crate) struct ReplayStore(Mutex<Stored>);

#[derive(Debug, Default)]
struct Stored {
    by_id: HashMap<Uuid, Replay>,
    /// Oldest first, with the sizes of the requests.
    order: VecDeque<(Uuid, Instant, usize)>,
    bytes: usize,
}

impl ReplayStore {
    /// Stores a scrape, with its plan if it may be stored. `request_bytes` is the size of the request.
    pub(crate) fn store(&self, id: Uuid, team: &str, plan: Option<PagePlan>, request_bytes: usize) {
        self.store_at(Instant::now(), id, team, plan, request_bytes);
    }

    /// Returns a scrape of any team.
    pub(crate) fn find(&self, id: Uuid) -> Option<Replay> {
        let mut stored = self.0.lock();
        stored.make_room(Instant::now(), 0);
        stored.by_id.get(&id).cloned()
    }

    fn store_at(&self, now: Instant, id: Uuid, team: &str, plan: Option<PagePlan>, request_bytes: usize) {
        let plan = plan.filter(|_| request_bytes <= MAX_REQUEST_BYTES).map(Arc::new);
        let bytes = if plan.is_some() { request_bytes } else { 0 };
        let mut stored = self.0.lock();
        stored.make_room(now, bytes);
        stored.order.push_back((id, now, bytes));
        stored.bytes += bytes;
        let replay = Replay { team: team.to_owned(), plan, opening: Arc::default() };
        stored.by_id.insert(id, replay);
    }
}

impl Stored {
    /// Removes expired scrapes, and then the oldest ones until there is room for another one of this size.
    fn make_room(&mut self, now: Instant, bytes: usize) {
        while let Some((id, stored_at, size)) = self.order.front().copied() {
            let is_expired = now.duration_since(stored_at) >= RETENTION;
            let is_full = self.bytes + bytes > MAX_BYTES || self.order.len() >= MAX_SCRAPES;
            if !is_expired && !is_full {
                return;
            }
            self.order.pop_front();
            self.bytes -= size;
            self.by_id.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use websvc_types::ScrapeRequest;
    use websvc_validate::{Policy, read_request};

    use super::*;

    fn plan() -> PagePlan {
        read_request::<ScrapeRequest>(br#"{"url": "http://a.test/"}"#, &Policy::default()).unwrap().plan
    }

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn scrape_is_found_for_an_hour_and_without_plan_if_it_is_too_large() {
        let (replays, now) = (ReplayStore::default(), Instant::now());
        replays.store_at(now, id(1), "a", Some(plan()), 100);
        replays.store_at(now, id(2), "a", Some(plan()), MAX_REQUEST_BYTES + 1);
        replays.store_at(now, id(3), "b", None, 100);
        assert!(replays.find(id(1)).unwrap().plan.is_some());
        assert!(replays.find(id(2)).unwrap().plan.is_none());
        assert_eq!(replays.find(id(3)).unwrap().team, "b");
        assert!(replays.find(id(4)).is_none());
        replays.store_at(now + RETENTION, id(5), "a", None, 0);
        assert_eq!(replays.0.lock().by_id.len(), 1);
    }

    #[test]
    fn number_and_size_of_scrapes_are_bounded() {
        let (replays, now) = (ReplayStore::default(), Instant::now());
        for number in 0..200 {
            replays.store_at(now, id(number), "a", Some(plan()), MAX_REQUEST_BYTES);
        }
        let stored = replays.0.lock();
        assert!(stored.bytes <= MAX_BYTES && stored.by_id.len() == MAX_BYTES / MAX_REQUEST_BYTES);
        assert!(stored.by_id.contains_key(&id(199)));
    }
}
