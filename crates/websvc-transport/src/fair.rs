//! A limited number of permits that is divided among the keys that want them, such as teams: the next permit goes to the
//! key that has the fewest. Within a key the order is first in, first out.
//!
//! A queue in order of arrival would give all permits to a key with hundreds of requests, and the others would wait
//! behind them. With a reserve, no key waits for a permit as long as a single other one has taken all it may: permits may be
//! in use for longer than another request can wait.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The state of the permits and the queue. It reads no clock and never waits; [`FairSemaphore`] does.
///
/// Every request that [`join`](Self::join)s has a number and must [`leave`](Self::leave).
#[derive(Debug)]
pub struct FairQueue {
    /// The number of permits that one key gets if no other wants any.
    permits: usize,
    /// The number of further permits for the others.
    reserve: usize,
    max_per_key: usize,
    /// The numbers of the requests with a permit.
    in_use: HashSet<u64>,
    queued: usize,
    /// The keys with a permit or a queued request.
    keys: HashMap<Arc<str>, KeyState>,
    /// The keys with queued requests, in the order in which they get the next permits.
    order: BTreeSet<Turn>,
    next_number: u64,
    next_turn: u64,
}

/// The place of a key among those with queued requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// The number of its permits.
    in_use: usize,
    /// Rises when the key gets or releases a permit, so that keys with equally many take turns.
    turn: u64,
    key: Arc<str>,
}

/// The requests of a key.
#[derive(Debug)]
struct KeyState {
    in_use: usize,
    turn: u64,
    queued: VecDeque<QueuedRequest>,
}

#[derive(Debug)]
struct QueuedRequest {
    number: u64,
    admitted: oneshot::Sender<()>,
}

/// The position of a request in the queue, or its permit.
#[derive(Debug)]
pub struct QueueTicket {
    /// The number of the request.
    pub number: u64,
    /// The key of the request.
    pub key: Arc<str>,
    /// `None` if the request has its permit. Otherwise it resolves when the request gets one, and fails if it is evicted.
    pub admitted: Option<oneshot::Receiver<()>>,
}

impl FairQueue {
    /// Creates a queue for this many permits.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        Self {
            permits,
            reserve: 0,
            max_per_key: usize::MAX,
            in_use: HashSet::new(),
            queued: 0,
            keys: HashMap::new(),
            order: BTreeSet::new(),
            next_number: 0,
            next_turn: 0,
        }
    }

    /// Adds a reserve for the keys that have fewer permits than the others: one key alone still gets as many permits as
    /// without it. The more keys want many permits, the smaller the free part of the reserve becomes.
    #[must_use]
    pub fn with_reserve(self, reserve: usize) -> Self {
        Self { reserve, ..self }
    }

    /// Limits the number of permits of one key.
    #[must_use]
    pub fn with_max_per_key(self, max_per_key: usize) -> Self {
        Self { max_per_key, ..self }
    }

    /// Returns the number of permits in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use.len()
    }

    /// Returns whether the request with this number has a permit.
    #[must_use]
    pub fn has_permit(&self, number: u64) -> bool {
        self.in_use.contains(&number)
    }

    /// Returns the number of queued requests.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Returns the number of queued requests of a key.
    #[must_use]
    pub fn queued_for(&self, key: &str) -> usize {
        self.keys.get(key).map_or(0, |state| state.queued.len())
    }

    /// Returns the keys with queued requests, and their numbers.
    pub fn queued_by_key(&self) -> impl Iterator<Item = (&str, usize)> {
        let queued = self.keys.iter().filter(|(_, state)| !state.queued.is_empty());
        queued.map(|(key, state)| (&**key, state.queued.len()))
    }

    /// Returns whether a key with a number of permits may have another one now.
    fn may_take(&self, in_use: usize) -> bool {
        let free = (self.permits + self.reserve).saturating_sub(self.in_use.len());
        // With a reserve, a key has at most `permits / reserve` times as many as are free.
        free > 0
            && in_use < self.max_per_key
            && (self.reserve == 0 || in_use.saturating_mul(self.reserve) < self.permits.saturating_mul(free))
    }

    /// Returns whether a request of this key would get a permit now.
    #[must_use]
    pub fn has_permit_for(&self, key: &str) -> bool {
        // A queued request of the key is before it.
        self.keys
            .get(key)
            .map_or_else(|| self.may_take(0), |state| state.queued.is_empty() && self.may_take(state.in_use))
    }

    /// Gives a request a permit, or queues it.
    pub fn join(&mut self, key: &str) -> QueueTicket {
        let number = self.next_number;
        self.next_number += 1;
        let has_permit = self.has_permit_for(key);
        let key = match self.keys.get_key_value(key) {
            Some((key, _)) => Arc::clone(key),
            None => {
                let (key, state) = (Arc::from(key), KeyState { in_use: 0, turn: 0, queued: VecDeque::new() });
                self.keys.insert(Arc::clone(&key), state);
                key
            }
        };
        let state = self.keys.get_mut(&key).expect("it was found or inserted");
        if has_permit {
            state.in_use += 1;
            self.in_use.insert(number);
            return QueueTicket { number, key, admitted: None };
        }
        let (sender, admitted) = oneshot::channel();
        if state.queued.is_empty() {
            state.turn = self.next_turn;
            self.next_turn += 1;
            self.order.insert(state.place(&key));
        }
        state.queued.push_back(QueuedRequest { number, admitted: sender });
        self.queued += 1;
        QueueTicket { number, key, admitted: Some(admitted) }
    }

    /// Releases the permit of a request, or removes it from the queue. Admits no other request:
    /// [`admit_next`](Self::admit_next) does.
    pub fn leave(&mut self, key: &str, number: u64) {
        let Some((key, state)) = self.keys.get_key_value(key) else { return };
        let (key, place) = (Arc::clone(key), state.place(key));
        self.order.remove(&place);
        let state = self.keys.get_mut(&key).expect("it was found above");
        if self.in_use.remove(&number) {
            state.in_use -= 1;
            state.turn = self.next_turn;
            self.next_turn += 1;
        } else {
            let before = state.queued.len();
            state.queued.retain(|request| request.number != number);
            self.queued -= before - state.queued.len();
        }
        self.restore(&key);
    }

    /// Gives a permit to the next queued request. Returns `false` if no queued request may have one.
    pub fn admit_next(&mut self) -> bool {
        let Some(first) = self.order.first() else { return false };
        // The others have as many permits, or more.
        if !self.may_take(first.in_use) {
            return false;
        }
        let Turn { key, .. } = self.order.pop_first().expect("it was seen above");
        let state = self.keys.get_mut(&key).expect("a key with a turn has queued requests");
        let request = state.queued.pop_front().expect("a key with a turn has queued requests");
        state.in_use += 1;
        state.turn = self.next_turn;
        self.next_turn += 1;
        self.queued -= 1;
        self.in_use.insert(request.number);
        self.restore(&key);
        // A request that is cancelled at this moment leaves like one with a permit.
        let _ = request.admitted.send(());
        true
    }

    /// Evicts the last queued request of the key with the most queued requests, to make room for a request of `key`.
    /// Returns `false` if no key has at least two more than `key`: they would only change places.
    pub fn evict_for(&mut self, key: &str) -> bool {
        let own = self.queued_for(key);
        let longest = self.keys.values_mut().max_by_key(|state| state.queued.len());
        let Some(longest) = longest.filter(|state| state.queued.len() >= own + 2) else { return false };
        // At least one remains, so the key keeps its turn.
        longest.queued.pop_back();
        self.queued -= 1;
        true
    }

    /// Gives a key the turn that it has now, or removes it if it has no requests.
    fn restore(&mut self, key: &Arc<str>) {
        let Some(state) = self.keys.get(key) else { return };
        if !state.queued.is_empty() {
            self.order.insert(state.place(key));
        } else if state.in_use == 0 {
            self.keys.remove(key);
        }
    }
}

impl KeyState {
    fn place(&self, key: &Arc<str>) -> Turn {
        Turn { in_use: self.in_use, turn: self.turn, key: Arc::clone(key) }
    }
}

/// A limited number of permits for asynchronous work, divided like those of a [`FairQueue`]. Cheap to clone; clones share
/// the permits.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use websvc_transport::{FairQueue, FairSemaphore};
///
/// let semaphore = FairSemaphore::new(FairQueue::new(2).with_max_per_key(1));
/// let permit = semaphore.acquire("red").await;
/// assert!(semaphore.try_acquire("red").is_none());
/// assert!(semaphore.try_acquire("blue").is_some());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct FairSemaphore(Arc<Mutex<FairQueue>>);

/// A permit of a [`FairSemaphore`]. Dropping it gives it to the next waiting request.
#[derive(Debug)]
pub struct FairPermit {
    queue: Arc<Mutex<FairQueue>>,
    key: Arc<str>,
    number: u64,
}

impl FairSemaphore {
    /// Creates a semaphore with the permits of a queue.
    #[must_use]
    pub fn new(queue: FairQueue) -> Self {
        Self(Arc::new(Mutex::new(queue)))
    }

    /// Waits for a permit of a key.
    pub async fn acquire(&self, key: &str) -> FairPermit {
        let (permit, admitted) = self.join(key);
        if let Some(admitted) = admitted {
            admitted.await.expect("a semaphore evicts no requests");
        }
        permit
    }

    /// Returns a permit of a key, if there is one without waiting.
    #[must_use]
    pub fn try_acquire(&self, key: &str) -> Option<FairPermit> {
        let mut queue = self.0.lock();
        if !queue.has_permit_for(key) {
            return None;
        }
        let QueueTicket { number, key, admitted: _ } = queue.join(key);
        Some(FairPermit { queue: Arc::clone(&self.0), key, number })
    }

    /// Returns the number of permits in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.0.lock().in_use()
    }

    /// Returns whether there is a permit or a request that waits for one.
    #[must_use]
    pub fn is_used(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Joins the queue. Dropping the permit leaves it, also before the request is admitted.
    fn join(&self, key: &str) -> (FairPermit, Option<oneshot::Receiver<()>>) {
        let QueueTicket { number, key, admitted } = self.0.lock().join(key);
        (FairPermit { queue: Arc::clone(&self.0), key, number }, admitted)
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        let mut queue = self.queue.lock();
        queue.leave(&self.key, self.number);
        while queue.admit_next() {}
    }
}

#[cfg(test)]
mod tests;
