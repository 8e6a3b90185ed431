//! One fetch for all who ask for the same page at the same time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// Work under way, by what it is about.
#[derive(Debug)]
pub(crate) struct SingleFlight<K, V> {
    under_way: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K: Clone + Eq + Hash, V: Clone> SingleFlight<K, V> {
    pub(crate) fn new() -> Self {
        Self { under_way: Mutex::default() }
    }

    /// Does `work`, or waits for the result of whoever does it already.
    ///
    /// When whoever works is dropped or fails, the next of the waiting works in its place: an error belongs to the one
    /// who met it, whose time may have been shorter than that of the others. What every one of them would meet is to
    /// be a value.
    pub(crate) async fn join<E>(&self, key: K, work: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        let cell = Arc::clone(self.lock().entry(key.clone()).or_default());
        let boarded = FlightGuard { flights: self, key, cell };
        boarded.cell.get_or_try_init(|| work).await.cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<K, Arc<OnceCell<V>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits or works.
struct FlightGuard<'a, K: Clone + Eq + Hash, V: Clone> {
    flights: &'a SingleFlight<K, V>,
    key: K,
    cell: Arc<OnceCell<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone> Drop for FlightGuard<'_, K, V> {
    /// What is done is no longer under way: who comes now asks the cache. The last one to leave takes the entry along.
    fn drop(&mut self) {
        let mut under_way = self.flights.lock();
        let Some(cell) = under_way.get(&self.key) else { return };
        let is_last = Arc::strong_count(&self.cell) == 2;
        if Arc::ptr_eq(cell, &self.cell) && (self.cell.initialized() || is_last) {
            under_way.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn those_who_ask_at_once_share_one_result_and_later_ones_do_not() {
        let flights = SingleFlight::<&str, usize>::new();
        let (count, go) = (AtomicUsize::new(0), Notify::new());
        let ask = || {
            flights.join("key", async {
                go.notified().await;
                Ok::<_, Infallible>(count.fetch_add(1, SeqCst))
            })
        };
        let ((a, b), ()) = tokio::join!(async { tokio::join!(ask(), ask()) }, async { go.notify_one() });
        assert_eq!((a, b), (Ok(0), Ok(0)));
        go.notify_one();
        assert_eq!(ask().await, Ok(1));
        assert!(flights.lock().is_empty());
    }

    #[tokio::test]
    async fn the_next_one_works_when_the_first_is_dropped_or_fails() {
        let flights = SingleFlight::<&str, &str>::new();
        let mut dropped = Box::pin(flights.join("key", pending::<Result<_, &str>>()));
        assert!(futures_now(&mut dropped).await.is_none());
        let (second, ()) = tokio::join!(flights.join("key", async { Err("mine") }), async { drop(dropped) });
        assert_eq!(second, Err("mine"));
        assert_eq!(flights.join("key", async { Ok::<_, &str>("done") }).await, Ok("done"));
        assert!(flights.lock().is_empty());
    }

    /// Polls once.
    async fn futures_now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
        tokio::select! {
            biased;
            done = future => Some(done),
            () = std::future::ready(()) => None,
        }
    }
}
