//! Names to addresses, replaceable so that tests can answer as an attacker's name server would.
//!
//! The system's resolver blocks for as long as the name servers take, which may be half a minute, and cannot be broken off.
//! It has threads of its own, so that slow name servers hold up neither the store nor what parses.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::BoxFuture;

/// The addresses of a host, on their way.
pub type ResolveFuture<'a> = BoxFuture<'a, io::Result<Vec<IpAddr>>>;

/// Finds the addresses of a host. What it answers is checked by the guard and then connected to; it is asked once
/// per connection.
pub trait Resolve: Send + Sync {
    /// Returns the addresses in the order in which to try them.
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;
}

/// The most names that are looked up at one time. A thread waits for name servers, so it costs little but its stack.
const MAX_THREADS: usize = 64;
/// Room for the modules of the system's resolver.
const STACK_BYTES: usize = 512 * 1024;
/// The most names that wait for a thread; more are refused.
const MAX_QUEUED: usize = 1_024;
/// The most names whose addresses are remembered.
const MAX_REMEMBERED: usize = 1_024;
/// How long addresses are remembered: the connections of one page need one lookup, and a change is seen soon.
const REMEMBERED: Duration = Duration::from_secs(5);
/// How long a thread waits for another name before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// The system's resolver (`getaddrinfo`), with its hosts file and search order. Who asks for a name that is being looked up
/// waits for the same answer. Clones share their threads.
#[derive(Debug, Clone, Default)]
pub struct SystemResolver {
    threads: Arc<Threads>,
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move {
            let mut answer = match self.threads.pool.ask(host)? {
                Asked::Known(addresses) => return Ok(addresses.to_vec()),
                Asked::Pending(answer) => answer,
            };
            let gone = |_| io::Error::other("the lookup ended without an answer");
            let answer = answer.wait_for(Option::is_some).await.map_err(gone)?;
            match &*answer {
                Some(Ok(addresses)) => Ok(addresses.to_vec()),
                Some(Err(failure)) => Err(io::Error::new(failure.kind, failure.text.clone())),
                None => Err(io::Error::other("the lookup ended without an answer")),
            }
        })
    }
}

/// The owner of the threads. They end when it is gone, each after its lookup: the system cannot break one off, and nobody
/// should wait for that.
#[derive(Debug)]
struct Threads {
    pool: Arc<Pool>,
}

impl Default for Threads {
    fn default() -> Self {
        let look_up = |host: &str| Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect());
        Self { pool: Arc::new(Pool::new(MAX_THREADS, REMEMBERED, look_up)) }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.pool.lock().is_closed = true;
        self.pool.changed.notify_all();
    }
}

type LookUp = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// The names that are looked up, and who does it.
struct Pool {
    look_up: Box<LookUp>,
    max_threads: usize,
    remembered: Duration,
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
    /// Somebody waits for it.
    Pending(watch::Sender<Option<Answer>>),
    Known {
        addresses: Arc<[IpAddr]>,
        until: Instant,
    },
}

type Answer = Result<Arc<[IpAddr]>, Failure>;

/// Cloneable copy of the system's error, for all callers of one lookup.
#[derive(Debug, Clone)]
struct Failure {
    kind: io::ErrorKind,
    text: String,
}

enum Asked {
    Known(Arc<[IpAddr]>),
    Pending(watch::Receiver<Option<Answer>>),
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.lock().threads).finish_non_exhaustive()
    }
}

impl Pool {
    fn new(
        max_threads: usize,
        remembered: Duration,
        look_up: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static,
    ) -> Self {
        let look_up = Box::new(look_up);
        Self { look_up, max_threads, remembered, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns the addresses of a host, or where they will be told.
    fn ask(self: &Arc<Self>, host: &str) -> io::Result<Asked> {
        let mut state = self.lock();
        match state.names.get(host) {
            Some(Entry::Known { addresses, until }) if Instant::now() < *until => {
                return Ok(Asked::Known(Arc::clone(addresses)));
            }
            Some(Entry::Pending(answer)) => return Ok(Asked::Pending(answer.subscribe())),
            Some(Entry::Known { .. }) | None => {}
        }
        if state.queue.len() >= MAX_QUEUED {
            state.leave_out_abandoned();
        }
        if state.queue.len() >= MAX_QUEUED {
            let text = "too many host names are being looked up: the name servers are slow";
            return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
        }
        if state.queue.len() >= state.idle && state.threads < self.max_threads {
            let pool = Arc::clone(self);
            let thread = std::thread::Builder::new().name("resolver".to_owned()).stack_size(STACK_BYTES);
            match thread.spawn(move || pool.work()) {
                Ok(_owned_by_pool) => state.threads += 1,
                // Those that are there will come to it.
                Err(_) if state.threads > 0 => {}
                Err(error) => return Err(error),
            }
        }
        let (sender, receiver) = watch::channel(None);
        state.names.insert(host.to_owned(), Entry::Pending(sender));
        state.queue.push_back(host.to_owned());
        drop(state);
        self.changed.notify_one();
        Ok(Asked::Pending(receiver))
    }

    /// Looks up names until there are none for a while.
    fn work(&self) {
        while let Some(host) = self.next() {
            let answer = catch_unwind(AssertUnwindSafe(|| (self.look_up)(&host)));
            let answer = answer.unwrap_or_else(|_panic| Err(io::Error::other("the lookup panicked")));
            self.finish(&host, answer);
        }
    }

    /// Waits for a name that somebody still waits for; `None` ends the thread, which is counted out.
    fn next(&self) -> Option<String> {
        let mut state = self.lock();
        loop {
            while let Some(host) = state.queue.pop_front() {
                match state.names.get(&host) {
                    Some(Entry::Pending(answer)) if answer.receiver_count() == 0 => {
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
            let waited = self.changed.wait_timeout(state, IDLE);
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return None;
            }
        }
    }

    /// Tells an answer to those who wait. Only addresses are remembered: a failure may be over in a moment.
    fn finish(&self, host: &str, answer: io::Result<Vec<IpAddr>>) {
        let answer: Answer =
            answer.map(Arc::from).map_err(|error| Failure { kind: error.kind(), text: error.to_string() });
        let mut state = self.lock();
        let pending = state.names.remove(host);
        if let Ok(addresses) = &answer {
            let now = Instant::now();
            state.make_room(now);
            let known = Entry::Known { addresses: Arc::clone(addresses), until: now + self.remembered };
            state.names.insert(host.to_owned(), known);
        }
        drop(state);
        if let Some(Entry::Pending(waiting)) = pending {
            waiting.send_replace(Some(answer));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes the names out of the queue that nobody waits for any more.
    fn leave_out_abandoned(&mut self) {
        let Self { names, queue, .. } = self;
        queue.retain(|host| match names.get(host) {
            Some(Entry::Pending(answer)) if answer.receiver_count() == 0 => {
                names.remove(host);
                false
            }
            _ => true,
        });
    }

    /// Forgets addresses when many are remembered: old ones, else all.
    fn make_room(&mut self, now: Instant) {
        let is_known = |entry: &Entry| matches!(entry, Entry::Known { .. });
        if self.names.len() < MAX_REMEMBERED {
            return;
        }
        self.names.retain(|_, entry| !matches!(entry, Entry::Known { until, .. } if *until <= now));
        if self.names.values().filter(|entry| is_known(entry)).count() >= MAX_REMEMBERED {
            self.names.retain(|_, entry| !is_known(entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::mpsc;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const PATIENCE: Duration = Duration::from_secs(30);

    /// A resolver whose lookups tell their name and wait until they are let go.
    struct Gated {
        resolver: SystemResolver,
        started: mpsc::Receiver<String>,
        go: mpsc::Sender<io::Result<Vec<IpAddr>>>,
    }

    impl Gated {
        fn new(max_threads: usize, remembered: Duration) -> Self {
            let (name, started) = mpsc::channel();
            let (go, gate) = mpsc::channel();
            let (name, gate) = (Mutex::new(name), Mutex::new(gate));
            let look_up = move |host: &str| {
                name.lock().unwrap().send(host.to_owned()).unwrap();
                gate.lock().unwrap().recv().unwrap_or_else(|_| Err(io::Error::other("the test ended")))
            };
            let pool = Arc::new(Pool::new(max_threads, remembered, look_up));
            Self { resolver: SystemResolver { threads: Arc::new(Threads { pool }) }, started, go }
        }

        fn ask(&self, host: &'static str) -> tokio::task::JoinHandle<io::Result<Vec<IpAddr>>> {
            let resolver = self.resolver.clone();
            tokio::spawn(async move { resolver.resolve(host).await })
        }

        fn pool(&self) -> MutexGuard<'_, State> {
            self.resolver.threads.pool.lock()
        }

        fn waiting(&self, host: &str) -> usize {
            match self.pool().names.get(host) {
                Some(Entry::Pending(answer)) => answer.receiver_count(),
                Some(Entry::Known { .. }) | None => 0,
            }
        }
    }

    async fn until(what: &str, condition: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition() {
            assert!(Instant::now() < deadline, "{what}");
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn one_lookup_answers_all_who_ask_for_a_name_and_is_remembered() {
        let gated = Gated::new(4, PATIENCE);
        let asking: Vec<_> = (0..10).map(|_| gated.ask("a.test")).collect();
        until("all wait", || gated.waiting("a.test") == 10).await;
        gated.go.send(Ok(vec![ADDRESS])).unwrap();
        for asked in asking {
            assert_eq!(asked.await.unwrap().unwrap(), [ADDRESS]);
        }
        assert_eq!(gated.ask("a.test").await.unwrap().unwrap(), [ADDRESS]);
        assert_eq!(gated.started.try_iter().count(), 1);
    }

    #[tokio::test]
    async fn addresses_are_asked_for_again_after_a_while_and_failures_at_once() {
        let gated = Gated::new(1, Duration::ZERO);
        gated.go.send(Ok(vec![ADDRESS])).unwrap();
        gated.go.send(Err(io::Error::new(io::ErrorKind::NotFound, "no such host"))).unwrap();
        gated.go.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(gated.ask("a.test").await.unwrap().unwrap(), [ADDRESS]);
        let error = gated.ask("a.test").await.unwrap().unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::NotFound, "no such host"));
        assert_eq!(gated.ask("a.test").await.unwrap().unwrap(), [ADDRESS]);
    }

    #[tokio::test]
    async fn names_that_hang_take_a_bounded_number_of_threads_and_who_gives_up_is_not_looked_up() {
        let gated = Gated::new(2, PATIENCE);
        let hanging = [gated.ask("a.test"), gated.ask("b.test")];
        until("both are looked up", || gated.pool().queue.is_empty() && gated.pool().threads == 2).await;
        let given_up: Vec<_> = ["c.test", "d.test"].map(|host| gated.ask(host)).into();
        until("they wait", || gated.pool().queue.len() == 2).await;
        for asked in given_up {
            asked.abort();
            assert!(asked.await.unwrap_err().is_cancelled());
        }
        let patient = gated.ask("e.test");
        until("it waits", || gated.waiting("e.test") == 1).await;
        assert_eq!(gated.pool().threads, 2);
        for _ in 0..3 {
            gated.go.send(Ok(vec![ADDRESS])).unwrap();
        }
        for asked in hanging.into_iter().chain([patient]) {
            assert_eq!(asked.await.unwrap().unwrap(), [ADDRESS]);
        }
        let mut looked_up: Vec<_> = gated.started.try_iter().collect();
        looked_up.sort_unstable();
        assert_eq!(looked_up, ["a.test", "b.test", "e.test"]);
    }

    #[tokio::test]
    async fn a_queue_that_is_full_refuses_and_takes_the_place_of_who_gave_up() {
        let gated = Gated::new(1, PATIENCE);
        let hanging = gated.ask("a.test");
        until("it is looked up", || gated.pool().queue.is_empty() && gated.pool().threads == 1).await;
        let pool = &gated.resolver.threads.pool;
        let mut waiting: Vec<_> =
            (0..MAX_QUEUED).map(|at| pool.ask(&format!("{at}.test")).unwrap()).collect();
        let refused = gated.ask("b.test").await.unwrap().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        waiting.truncate(1);
        assert!(pool.ask("b.test").is_ok());
        assert!(gated.pool().queue.len() <= 2);
        drop(waiting);
        gated.go.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(hanging.await.unwrap().unwrap(), [ADDRESS]);
    }

    #[tokio::test]
    async fn threads_end_with_their_resolver() {
        let gated = Gated::new(2, PATIENCE);
        gated.go.send(Ok(vec![ADDRESS])).unwrap();
        assert_eq!(gated.ask("a.test").await.unwrap().unwrap(), [ADDRESS]);
        let pool = Arc::clone(&gated.resolver.threads.pool);
        drop(gated);
        until("they end", || pool.lock().threads == 0).await;
    }

    #[tokio::test]
    async fn the_hosts_of_the_system_are_known() {
        let found = SystemResolver::default().resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(IpAddr::is_loopback), "{found:?}");
    }
}
