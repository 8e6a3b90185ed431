//! Tests of the order in which keys get permits.

use std::pin::pin;

use super::*;

/// Returns a queue with one permit, which the request with number 0 of the key `first` has, and the queued requests of the
/// given keys in this order.
fn queue(keys: &[(&str, usize)]) -> (FairQueue, Vec<QueueTicket>) {
    let mut queue = FairQueue::new(1);
    assert!(queue.join("first").admitted.is_none());
    let requests = keys.iter().flat_map(|(key, count)| std::iter::repeat_n(*key, *count));
    let tickets = requests.map(|key| queue.join(key)).collect();
    (queue, tickets)
}

/// Admits the next request, and returns its ticket.
fn admit(queue: &mut FairQueue, tickets: &mut Vec<QueueTicket>) -> Option<QueueTicket> {
    if !queue.admit_next() {
        return None;
    }
    let is_admitted = |ticket: &mut QueueTicket| ticket.admitted.as_mut().unwrap().try_recv().is_ok();
    let index = tickets.iter_mut().position(is_admitted).expect("the admitted request is notified");
    Some(tickets.remove(index))
}

/// Returns the keys in the order in which their requests get the only permit.
fn admission_order(queue: &mut FairQueue, mut tickets: Vec<QueueTicket>) -> Vec<String> {
    let mut order = Vec::new();
    queue.leave("first", 0);
    while let Some(QueueTicket { number, key, .. }) = admit(queue, &mut tickets) {
        order.push(key.to_string());
        queue.leave(&key, number);
    }
    order
}

/// Returns the numbers of permits, queued requests, keys, and keys that have a turn.
fn counts(queue: &FairQueue) -> (usize, usize, usize, usize) {
    (queue.in_use(), queue.queued(), queue.keys.len(), queue.order.len())
}

/// Lets this many requests of a key join, and returns the number of those that got a permit at once.
fn join_many(queue: &mut FairQueue, key: &str, requests: usize) -> usize {
    (0..requests).filter(|_| queue.join(key).admitted.is_none()).count()
}

#[test]
fn keys_with_equally_many_permits_take_turns() {
    let (mut queue, tickets) = queue(&[("many", 4), ("some", 2), ("few", 1)]);
    let order = admission_order(&mut queue, tickets);
    assert_eq!(order, ["many", "some", "few", "many", "some", "many", "many"]);
    assert_eq!(counts(&queue), (0, 0, 0, 0));
}

#[test]
fn key_that_had_the_only_permit_goes_last() {
    let (mut queue, tickets) = queue(&[("first", 2), ("few", 1)]);
    assert_eq!(admission_order(&mut queue, tickets), ["few", "first", "first"]);
}

#[test]
fn key_with_fewest_permits_gets_the_next_one() {
    let mut queue = FairQueue::new(4);
    let numbers: Vec<u64> = (0..4).map(|_| queue.join("many").number).collect();
    let mut tickets: Vec<QueueTicket> = (0..600).map(|_| queue.join("many")).collect();
    tickets.extend((0..3).map(|_| queue.join("few")));
    let mut order = Vec::new();
    for number in numbers {
        queue.leave("many", number);
        order.push(admit(&mut queue, &mut tickets).unwrap().key.to_string());
    }
    assert_eq!(order, ["few", "few", "many", "many"], "both have two then");
}

#[test]
fn request_is_admitted_only_if_a_permit_is_free() {
    let mut queue = FairQueue::new(1);
    let first = queue.join("red");
    let _second = queue.join("red");
    assert!(!queue.admit_next(), "no permit is free");
    queue.leave("red", first.number);
    assert!(queue.admit_next());
    assert!(!queue.admit_next(), "no request is queued");
}

#[test]
fn reserve_is_for_the_keys_with_fewer_permits() {
    for (permits, reserve) in [(256, 32), (64, 8), (28, 4), (8, 1), (7, 0), (1, 0)] {
        let mut queue = FairQueue::new(permits).with_reserve(reserve);
        assert_eq!(join_many(&mut queue, "many", 600), permits, "one key gets all, without the reserve");
        assert_eq!(join_many(&mut queue, "few", 1), reserve.min(1), "{permits} and {reserve}");
        assert_eq!(queue.queued(), 600 - permits + 1 - reserve.min(1));
    }
    let mut queue = FairQueue::new(256).with_reserve(32);
    join_many(&mut queue, "many", 600);
    let second = join_many(&mut queue, "more", 600);
    assert!(second > 10, "{second}");
    assert!(join_many(&mut queue, "few", 1) == 1, "a part of the reserve is left for a third key");
}

#[test]
fn released_permits_of_a_key_reach_equal_shares() {
    let mut queue = FairQueue::new(256).with_reserve(32);
    let first: Vec<u64> = (0..256).map(|_| queue.join("many").number).collect();
    join_many(&mut queue, "many", 600);
    join_many(&mut queue, "more", 600);
    for number in first {
        queue.leave("many", number);
        while queue.admit_next() {}
    }
    let shares: Vec<usize> = ["many", "more"].iter().map(|key| queue.keys[*key].in_use).collect();
    assert!(shares[0].abs_diff(shares[1]) <= 1, "{shares:?}");
}

#[test]
fn key_gets_at_most_its_maximum() {
    let mut queue = FairQueue::new(4).with_max_per_key(2);
    assert_eq!(join_many(&mut queue, "a", 3), 2);
    assert_eq!(join_many(&mut queue, "b", 3), 2);
    queue.leave("b", 3);
    assert!(queue.admit_next(), "the queued request of b");
    assert!(!queue.admit_next(), "a has its maximum");
}

#[test]
fn key_with_most_queued_requests_is_evicted_for_a_key_with_fewer() {
    let (mut queue, mut tickets) = queue(&[("many", 3), ("few", 1)]);
    assert!(queue.evict_for("another"));
    let mut evicted = tickets.remove(2);
    assert!(evicted.admitted.as_mut().unwrap().try_recv().is_err(), "the last request of the longest list");
    assert_eq!(queue.queued(), 3);
    // An evicted request is notified, and leaves.
    queue.leave(&evicted.key, evicted.number);
    assert_eq!((queue.in_use(), queue.queued()), (1, 3));
    assert!(!queue.evict_for("few"), "the two keys would only change places");
    assert!(!queue.evict_for("many"));
    assert!(queue.evict_for("another"));
    assert!(!queue.evict_for("another"), "no key has more than one");
    tickets.remove(1);
    assert_eq!(admission_order(&mut queue, tickets), ["many", "few"]);
    assert_eq!(counts(&queue), (0, 0, 0, 0));
}

#[test]
fn cancelled_request_leaves_no_state() {
    let (mut queue, tickets) = queue(&[("red", 2), ("blue", 1)]);
    for ticket in &tickets {
        queue.leave(&ticket.key, ticket.number);
    }
    assert_eq!(counts(&queue), (1, 0, 1, 0));
    queue.leave("first", 0);
    assert!(queue.has_permit_for("first"));
    assert_eq!(counts(&queue), (0, 0, 0, 0));
}

#[tokio::test]
async fn request_of_another_key_gets_the_next_released_permit() {
    let semaphore = FairSemaphore::new(FairQueue::new(8));
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(semaphore.acquire("many").await);
    }
    let waiting: Vec<_> = (0..600)
        .map(|_| {
            let semaphore = semaphore.clone();
            tokio::spawn(async move { std::mem::forget(semaphore.acquire("many").await) })
        })
        .collect();
    while semaphore.0.lock().queued() < waiting.len() {
        tokio::task::yield_now().await;
    }
    let mut other = pin!(semaphore.acquire("few"));
    assert!(poll_once(other.as_mut()).await.is_none(), "no permit is free");
    held.pop();
    let _permit = poll_once(other).await.expect("it goes before the 600");
    waiting.into_iter().for_each(|task| task.abort());
}

#[tokio::test]
async fn dropped_wait_and_dropped_permit_free_their_places() {
    let semaphore = FairSemaphore::new(FairQueue::new(1));
    let permit = semaphore.acquire("red").await;
    {
        let mut waiting = pin!(semaphore.acquire("red"));
        assert!(poll_once(waiting.as_mut()).await.is_none());
    }
    assert!(semaphore.try_acquire("blue").is_none());
    drop(permit);
    assert!(semaphore.try_acquire("blue").is_some());
    assert!(!semaphore.is_used());
    assert_eq!(counts(&semaphore.0.lock()), (0, 0, 0, 0));
}

/// Polls a future once.
async fn poll_once<T>(future: impl Future<Output = T> + Unpin) -> Option<T> {
    tokio::select! {
        biased;
        done = future => Some(done),
        () = std::future::ready(()) => None,
    }
}
