//! Resolves names to addresses. The resolver can be replaced, so that tests can act as an attacker's name server.
//!
//! The system's resolver blocks for as long as the name servers take, which may be half a minute, and a lookup cannot
//! be cancelled. So lookups have threads of their own: slow name servers delay neither the store nor parsers, which run
//! on the blocking pool of tokio.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use crate::BoxFuture;

/// The addresses of a host, being resolved.
pub type ResolveFuture<'a> = BoxFuture<'a, io::Result<Vec<IpAddr>>>;

/// Resolves the addresses of a host. The client calls it once per connection, checks the addresses with its guard, and
/// connects to them.
pub trait Resolve: Send + Sync {
    /// Returns the addresses in the order in which to try them.
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;
}

/// Maximum number of threads, and so of concurrent lookups. A thread that waits for a name server costs little more
/// than its stack.
const MAX_THREADS: usize = 64;
/// Stack of a thread: enough for the modules of the system's resolver.
const STACK_BYTES: usize = 512 * 1024;
/// Maximum number of names that wait for a thread. More are rejected.
const MAX_QUEUED: usize = 1_024;
/// Maximum number of names whose addresses are cached.
const MAX_CACHED: usize = 1_024;
/// Time for which addresses are cached: long enough for the connections of one page, short enough to notice a change
/// soon.
const CACHE_TTL: Duration = Duration::from_secs(5);
/// Time after which an idle thread ends.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The system's resolver (`getaddrinfo`), with its hosts file and search order.
///
/// Concurrent requests for a name share one lookup. Clones share the threads and the cache.
#[derive(Debug, Clone, Default)]
pub struct SystemResolver {
    handle: Arc<PoolHandle>,
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            let mut pending = match self.handle.pool.request(host)? {
                Lookup::Cached(addresses) => return Ok(addresses.to_vec()),
                Lookup::Pending(pending) => pending,
            };
            let lost = |_| io::Error::other("the lookup ended without a result");
            let result = pending.wait_for(Option::is_some).await.map_err(lost)?;
            match &*result {
                Some(Ok(addresses)) => Ok(addresses.to_vec()),
                Some(Err(failure)) => Err(io::Error::new(failure.kind, failure.text.clone())),
                None => Err(io::Error::other("the lookup ended without a result")),
            }
        })
    }
}

/// Closes the pool on drop. Each thread then ends after its lookup, which cannot be cancelled; the drop does not wait
/// for it.
#[derive(Debug)]
struct PoolHandle {
    pool: Arc<Pool>,
}

impl Default for PoolHandle {
    fn default() -> Self {
        let lookup = |host: &str| Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect());
        Self { pool: Arc::new(Pool::new(MAX_THREADS, CACHE_TTL, lookup)) }
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        self.pool.state.lock().is_closed = true;
        self.pool.changed.notify_all();
    }
}

type LookupFn = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Threads that look up names, their queue, and a cache of addresses.
struct Pool {
    lookup: Box<LookupFn>,
    max_threads: usize,
    cache_ttl: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    names: HashMap<String, Entry>,
    /// Names that wait for a thread.
    queue: VecDeque<String>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

enum Entry {
    /// The name is queued or being looked up.
    Pending(watch::Sender<Option<LookupResult>>),
    Cached {
        addresses: Arc<[IpAddr]>,
        expires_at: Instant,
    },
}

type LookupResult = Result<Arc<[IpAddr]>, Failure>;

/// Cloneable copy of the system's error, for all callers of one lookup.
#[derive(Debug, Clone)]
struct Failure {
    kind: io::ErrorKind,
    text: String,
}

enum Lookup {
    Cached(Arc<[IpAddr]>),
    Pending(watch::Receiver<Option<LookupResult>>),
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.state.lock().threads).finish_non_exhaustive()
    }
}

impl Pool {
    fn new(
        max_threads: usize,
        cache_ttl: Duration,
        lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        let lookup = Box::new(lookup);
        Self { lookup, max_threads, cache_ttl, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns the cached addresses of a host, or the receiver of a lookup's result.
    fn request(self: &Arc<Self>, host: &str) -> io::Result<Lookup> {
        let mut state = self.state.lock();
        match state.names.get(host) {
            Some(Entry::Cached { addresses, expires_at }) if Instant::now() < *expires_at => {
                return Ok(Lookup::Cached(Arc::clone(addresses)));
            }
            Some(Entry::Pending(sender)) => return Ok(Lookup::Pending(sender.subscribe())),
            Some(Entry::Cached { .. }) | None => {}
        }
        if state.queue.len() >= MAX_QUEUED {
            state.remove_abandoned();
        }
        if state.queue.len() >= MAX_QUEUED {
            let text = "too many host names are being looked up: the name servers are slow";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
        }
        if state.queue.len() >= state.idle && state.threads < self.max_threads {
            let pool = Arc::clone(self);
            let thread = std::thread::Builder::new().name("resolver".to_owned()).stack_size(STACK_BYTES);
            match thread.spawn(move || pool.run()) {
                Ok(_detached) => state.threads += 1,
                // The existing threads will look up the name.
                Err(_) if state.threads > 0 => {}
                Err(error) => return Err(error),
            }
        }
        let (sender, receiver) = watch::channel(None);
        state.names.insert(host.to_owned(), Entry::Pending(sender));
        state.queue.push_back(host.to_owned());
        drop(state);
        self.changed.notify_one();
        Ok(Lookup::Pending(receiver))
    }

    /// Runs a thread: looks up names until the pool is closed or no name is requested for a while.
    fn run(&self) {
        while let Some(host) = self.next() {
            let result = catch_unwind(AssertUnwindSafe(|| (self.lookup)(&host)));
            let result = result.unwrap_or_else(|_panic| Err(io::Error::other("the lookup panicked")));
            self.finish(&host, result);
        }
    }

    /// Waits for a name that still has a caller. `None` ends the thread, which is then no longer counted.
    fn next(&self) -> Option<String> {
        let mut state = self.state.lock();
        loop {
            while let Some(host) = state.queue.pop_front() {
                match state.names.get(&host) {
                    Some(Entry::Pending(sender)) if sender.receiver_count() == 0 => {
                        state.names.remove(&host);
                    }
                    _ => return Some(host),
                }
            }
            if state.is_closed {
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            let wait = self.changed.wait_for(&mut state, IDLE_TIMEOUT);
            state.idle -= 1;
            if wait.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }

    /// Sends a result to all callers of the lookup. Only addresses are cached: a failure may be over in a moment.
    fn finish(&self, host: &str, result: io::Result<Vec<IpAddr>>) {
        let result: LookupResult =
            result.map(Arc::from).map_err(|error| Failure { kind: error.kind(), text: error.to_string() });
        let mut state = self.state.lock();
        let pending = state.names.remove(host);
        if let Ok(addresses) = &result {
            let now = Instant::now();
            state.evict(now);
            let entry = Entry::Cached { addresses: Arc::clone(addresses), expires_at: now + self.cache_ttl };
            state.names.insert(host.to_owned(), entry);
        }
        drop(state);
        if let Some(Entry::Pending(sender)) = pending {
            sender.send_replace(Some(result));
        }
    }
}

impl State {
    /// Removes names from the queue whose callers have all been cancelled.
    fn remove_abandoned(&mut self) {
        let Self { names, queue, .. } = self;
        queue.retain(|host| match names.get(host) {
            Some(Entry::Pending(sender)) if sender.receiver_count() == 0 => {
                names.remove(host);
                false
            }
            _ => true,
        });
    }

    /// Makes space in a full cache: removes expired entries, or all cached entries if none is expired.
    fn evict(&mut self, now: Instant) {
        let is_cached = |entry: &Entry| matches!(entry, Entry::Cached { .. });
        if self.names.len() < MAX_CACHED {
            return;
        }
        self.names
            .retain(|_, entry| !matches!(entry, Entry::Cached { expires_at, .. } if *expires_at <= now));
        if self.names.values().filter(|entry| is_cached(entry)).count() >= MAX_CACHED {
            self.names.retain(|_, entry| !is_cached(entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::mpsc;

    use parking_lot::MutexGuard;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const TIMEOUT: Duration = Duration::from_secs(30);

    /// A resolver whose lookups report their names and wait for the results that the test sends.
    struct GatedResolver {
        resolver: SystemResolver,
        started: mpsc::Receiver<String>,
        results: mpsc::Sender<io::Result<Vec<IpAddr>>>,
    }

    impl GatedResolver {
        fn new(max_threads: usize, cache_ttl: Duration) -> Self {
            let (names, started) = mpsc::channel();
            let (results, gate) = mpsc::channel();
            let (names, gate) = (Mutex::new(names), Mutex::new(gate));
            let lookup = move |host: &str| {
                names.lock().send(host.to_owned()).unwrap();
                gate.lock().recv().unwrap_or_else(|_| Err(io::Error::other("the test ended")))
            };
            let pool = Arc::new(Pool::new(max_threads, cache_ttl, lookup));
            Self { resolver: SystemResolver { handle: Arc::new(PoolHandle { pool }) }, started, results }
        }

        fn resolve(&self, host: &'static str) -> tokio::task::JoinHandle<io::Result<Vec<IpAddr>>> {
            let resolver = self.resolver.clone();
            tokio::spawn(async move { resolver.resolve(host).await })
        }

        fn state(&self) -> MutexGuard<'_, State> {
            self.resolver.handle.pool.state.lock()
        }

        fn callers(&self, host: &str) -> usize {
            match self.state().names.get(host) {
                Some(Entry::Pending(sender)) => sender.receiver_count(),
                Some(Entry::Cached { .. }) | None => 0,
            }
        }
    }

    async fn wait_until(what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !condition() {
            assert!(Instant::now() < deadline, "{what}");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn concurrent_requests_for_a_name_share_one_cached_lookup() {
        let gated = GatedResolver::new(4, TIMEOUT);
        let requests: Vec<_> = (0..10).map(|_| gated.resolve("a.test")).collect();
        wait_until("all wait", || gated.callers("a.test") == 10).await;
        gated.results.send(Ok(vec![ADDRESS])).unwrap();
        for request in requests {
            assert_eq!(request.await.unwrap().unwrap(), [ADDRESS]);
        }
        assert_eq!(gated.resolve("a.test").await.unwrap().unwrap(), [ADDRESS]);
        assert_eq!(gated.started.try_iter().count(), 1);
    }

    #[tokio::test]
    async fn expired_addresses_and_failures_are_looked_up_again() {
        let gated = GatedResolver::new(1, Duration::ZERO);
        gated.results.send(Ok(vec![ADDRESS])).unwrap();
        gated.results.send(Err(io::Error::new(io::ErrorKind::NotFound, "no such host"))).unwrap();
        gated.results.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(gated.resolve("a.test").await.unwrap().unwrap(), [ADDRESS]);
        let error = gated.resolve("a.test").await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::NotFound, "no such host"));
        assert_eq!(gated.resolve("a.test").await.unwrap().unwrap(), [ADDRESS]);
    }

    #[tokio::test]
    async fn slow_lookups_use_limited_threads_and_cancelled_requests_none() {
        let gated = GatedResolver::new(2, TIMEOUT);
        let slow = [gated.resolve("a.test"), gated.resolve("b.test")];
        wait_until("both are looked up", || gated.state().queue.is_empty() && gated.state().threads == 2)
            .await;
        let cancelled: Vec<_> = ["c.test", "d.test"].map(|host| gated.resolve(host)).into();
        wait_until("they are queued", || gated.state().queue.len() == 2).await;
        for request in cancelled {
            request.abort();
            assert!(request.await.unwrap_err().is_cancelled());
        }
        let queued = gated.resolve("e.test");
        wait_until("it is queued", || gated.callers("e.test") == 1).await;
        assert_eq!(gated.state().threads, 2);
        for _ in 0..3 {
            gated.results.send(Ok(vec![ADDRESS])).unwrap();
        }
        for request in slow.into_iter().chain([queued]) {
            assert_eq!(request.await.unwrap().unwrap(), [ADDRESS]);
        }
        let mut looked_up: Vec<_> = gated.started.try_iter().collect();
        looked_up.sort_unstable();
        assert_eq!(looked_up, ["a.test", "b.test", "e.test"]);
    }

    #[tokio::test]
    async fn full_queue_rejects_names_until_requests_are_cancelled() {
        let gated = GatedResolver::new(1, TIMEOUT);
        let slow = gated.resolve("a.test");
        wait_until("it is looked up", || gated.state().queue.is_empty() && gated.state().threads == 1).await;
        let pool = &gated.resolver.handle.pool;
        let mut queued: Vec<_> =
            (0..MAX_QUEUED).map(|index| pool.request(&format!("{index}.test")).unwrap()).collect();
        let error = gated.resolve("b.test").await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        queued.truncate(1);
        assert!(pool.request("b.test").is_ok());
        assert!(gated.state().queue.len() <= 2);
        drop(queued);
        gated.results.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(slow.await.unwrap().unwrap(), [ADDRESS]);
    }

    #[tokio::test]
    async fn dropped_resolver_ends_its_threads() {
        let gated = GatedResolver::new(2, TIMEOUT);
        gated.results.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(gated.resolve("a.test").await.unwrap().unwrap(), [ADDRESS]);
        let pool = Arc::clone(&gated.resolver.handle.pool);
        drop(gated);
        wait_until("they end", || pool.state.lock().threads == 0).await;
    }

    #[tokio::test]
    async fn system_resolver_finds_localhost() {
        let found = SystemResolver::default().resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
