//! Single flight: one fetch for all concurrent callers that need the same page.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

/// The calls in flight, by key.
#[derive(Debug)]
pub(crate) struct SingleFlight<K, V> {
    in_flight: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K: Clone + Eq + Hash, V: Clone> SingleFlight<K, V> {
    pub(crate) fn new() -> Self {
        Self { in_flight: Mutex::default() }
    }

    /// Runs `work`, or waits for the result of the caller that runs it already.
    ///
    /// If that caller is dropped or fails, the next waiting caller runs its own `work`: an error belongs to one caller,
    /// whose deadline may have been shorter than that of the others. An error that every caller would get has to be a
    /// value.
    pub(crate) async fn join<E>(&self, key: K, work: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        let cell = Arc::clone(self.in_flight.lock().entry(key.clone()).or_default());
        let guard = FlightGuard { flights: self, key, cell };
        guard.cell.get_or_try_init(|| work).await.cloned()
    }
}

/// The guard of one caller, which waits or works.
struct FlightGuard<'a, K: Clone + Eq + Hash, V: Clone> {
    flights: &'a SingleFlight<K, V>,
    key: K,
    cell: Arc<OnceCell<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone> Drop for FlightGuard<'_, K, V> {
    /// Removes the entry once the work is done, so that later callers look into the cache; else the last caller does.
    fn drop(&mut self) {
        let mut in_flight = self.flights.in_flight.lock();
        let Some(cell) = in_flight.get(&self.key) else { return };
        let is_last = Arc::strong_count(&self.cell) == 2;
        if Arc::ptr_eq(cell, &self.cell) && (self.cell.initialized() || is_last) {
            in_flight.remove(&self.key);
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
    async fn concurrent_callers_share_one_result_and_later_callers_do_not() {
        let flights = SingleFlight::<&str, usize>::new();
        let (count, go) = (AtomicUsize::new(0), Notify::new());
        let call = || {
            flights.join("key", async {
                go.notified().await;
                Ok::<_, Infallible>(count.fetch_add(1, SeqCst))
            })
        };
        let ((a, b), ()) = tokio::join!(async { tokio::join!(call(), call()) }, async { go.notify_one() });
        assert_eq!((a, b), (Ok(0), Ok(0)));
        go.notify_one();
        assert_eq!(call().await, Ok(1));
        assert!(flights.in_flight.lock().is_empty());
    }

    #[tokio::test]
    async fn next_caller_runs_its_work_if_first_is_dropped_or_fails() {
        let flights = SingleFlight::<&str, &str>::new();
        let mut dropped = Box::pin(flights.join("key", pending::<Result<_, &str>>()));
        assert!(poll_once(&mut dropped).await.is_none());
        let (second, ()) = tokio::join!(flights.join("key", async { Err("mine") }), async { drop(dropped) });
        assert_eq!(second, Err("mine"));
        assert_eq!(flights.join("key", async { Ok::<_, &str>("done") }).await, Ok("done"));
        assert!(flights.in_flight.lock().is_empty());
    }

    /// Polls a future once.
    async fn poll_once<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
        tokio::select! {
            biased;
            done = future => Some(done),
            () = std::future::ready(()) => None,
        }
    }
}
