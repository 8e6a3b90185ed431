//! The bound of the memory of pages while they are open: a thread of its own looks at the processes of every Chromium
//! many times a second, and ends the one that is too large. Its page fails; the others go on.
//!
//! A thread, because tasks and the blocking pool wait behind other work when the machine is busy, which is when this
//! is needed. Control groups do the same where they can be written, which is in few places.

mod limits;
mod load;
mod tolerance;
mod verdict;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use crate::memory::Census;

pub(crate) use limits::{Bounds, Excess};

use load::Load;
use tolerance::Tolerance;
use verdict::{Sample, Verdict, judge};

/// The time between two looks while pages are open.
const INTERVAL: Duration = Duration::from_millis(100);
/// The same when a process has more than half of what it may have.
const NEAR_INTERVAL: Duration = Duration::from_millis(20);
/// The time that the end of a process has to take effect before another one is ended for the memory of all.
const EFFECT: Duration = Duration::from_millis(200);
/// The time within which a page hears of the end of its process.
const NEWS: Duration = Duration::from_secs(5);

/// The thread and what it looks at. It ends with this value.
pub(crate) struct Watchdog(Arc<Shared>);

struct Shared {
    bounds: Bounds,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    browsers: Vec<Arc<Watched>>,
    /// Pages that are open.
    open: usize,
    is_started: bool,
    is_over: bool,
}

/// One Chromium that is looked at.
pub(crate) struct Watched {
    group: Pid,
    census: Mutex<Census>,
    /// The memory of all its processes when it was last looked at.
    total: AtomicU64,
    /// Processes that were ended, for which no page has failed yet.
    ended: Mutex<VecDeque<(Instant, Excess)>>,
    is_spoiled: AtomicBool,
    is_gone: AtomicBool,
}

/// Keeps the thread looking, as long as it is there.
pub(crate) struct Open(Arc<Shared>);

/// A Chromium under watch, until this is dropped.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    watched: Arc<Watched>,
}

impl Watchdog {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self(Arc::new(Shared { bounds, state: Mutex::default(), changed: Condvar::new() }))
    }

    /// Begins to look at the processes of a group. Nothing is looked at as long as no page is open.
    pub(crate) fn watch(&self, group: Pid) -> Watch {
        let watched = Arc::new(Watched::new(group));
        let mut state = self.0.lock();
        state.browsers.push(Arc::clone(&watched));
        if !state.is_started && cfg!(target_os = "linux") {
            let shared = Arc::clone(&self.0);
            let started =
                thread::Builder::new().name("browser-memory".to_owned()).spawn(move || shared.run());
            state.is_started = started.is_ok();
            if let Err(error) = started {
                tracing::error!(%error, "the memory of pages in the browser is not bounded: no thread could be started");
            }
        }
        Watch { shared: Arc::clone(&self.0), watched }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Watch {
    /// Has the thread look until the value is dropped: a page is open.
    pub(crate) fn page(&self) -> Open {
        self.shared.lock().open += 1;
        self.shared.changed.notify_all();
        Open(Arc::clone(&self.shared))
    }

    pub(crate) fn watched(&self) -> &Arc<Watched> {
        &self.watched
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watched.is_gone.store(true, Ordering::Release);
        self.shared.lock().browsers.retain(|watched| !Arc::ptr_eq(watched, &self.watched));
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.lock().open -= 1;
    }
}

impl Watched {
    fn new(group: Pid) -> Self {
        Self {
            group,
            census: Mutex::new(Census::new(group)),
            total: AtomicU64::new(0),
            ended: Mutex::default(),
            is_spoiled: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Returns the memory of all processes when they were last looked at, in bytes.
    pub(crate) fn last_total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Returns the memory of all processes now, in bytes; 0 where it is not known.
    pub(crate) fn measure(&self) -> u64 {
        let members = lock(&self.census).take();
        let total = members.iter().map(|member| member.bytes).sum();
        self.total.store(total, Ordering::Relaxed);
        total
    }

    /// Returns whether Chromium's own processes have grown too large, which only a new Chromium mends.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.is_spoiled.load(Ordering::Acquire)
    }

    /// Returns why a process was ended of which a page has just heard that it is gone; `None` when it was not ended
    /// for its memory. Each end is told once.
    pub(crate) fn claim(&self) -> Option<Excess> {
        let mut ended = lock(&self.ended);
        ended.retain(|(at, _)| at.elapsed() < NEWS);
        ended.pop_front().map(|(_, excess)| excess)
    }

    /// Ends a process, unless its number has gone to one of somebody else.
    fn end(&self, process: Pid, excess: Excess, bytes: u64) {
        if getpgid(Some(process)) != Ok(self.group) {
            return;
        }
        let Excess { limit_bytes, is_shared } = excess;
        tracing::warn!(
            bytes,
            limit_bytes,
            is_shared,
            "a page in the browser uses too much memory and is ended"
        );
        lock(&self.ended).push_back((Instant::now(), excess));
        if kill_process(process, Signal::KILL).is_err() {
            lock(&self.ended).pop_back();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Looks at all processes until the watchdog is dropped.
    fn run(&self) {
        let mut round = Round::default();
        loop {
            let browsers = {
                let mut state = self.lock();
                while state.open == 0 && !state.is_over {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.is_over {
                    return;
                }
                state.browsers.clone()
            };
            thread::sleep(round.look(&browsers, self.bounds));
        }
    }
}

/// State that the thread keeps between two samples.
#[derive(Default)]
struct Round {
    /// Processes that were ended and have not gone yet.
    dying: HashSet<Pid>,
    last_shared_end: Option<Instant>,
    load: Load,
    tolerance: Tolerance,
}

impl Round {
    /// Looks once, ends what is too large, and returns how long to wait for the next look.
    fn look(&mut self, browsers: &[Arc<Watched>], bounds: Bounds) -> Duration {
        let mut samples = Vec::new();
        for (browser, watched) in browsers.iter().enumerate() {
            let members = lock(&watched.census).take();
            watched.total.store(members.iter().map(|member| member.bytes).sum(), Ordering::Relaxed);
            samples.extend(members.into_iter().map(|member| Sample::new(browser, member)));
        }
        self.dying.retain(|process| samples.iter().any(|sample| sample.member.process == *process));
        samples.retain(|sample| !self.dying.contains(&sample.member.process));
        let is_near = samples.iter().any(|sample| sample.member.bytes > bounds.page / 2);
        self.load.measure(&mut samples, is_near);
        let has_taken_effect = self.last_shared_end.is_none_or(|at| at.elapsed() >= EFFECT);
        self.tolerance.apply(&mut samples, bounds.page, has_taken_effect);
        for verdict in judge(&samples, bounds) {
            self.carry_out(&verdict, &samples, browsers, has_taken_effect);
        }
        if is_near { NEAR_INTERVAL } else { INTERVAL }
    }

    fn carry_out(
        &mut self,
        verdict: &Verdict,
        samples: &[Sample],
        browsers: &[Arc<Watched>],
        has_taken_effect: bool,
    ) {
        match verdict {
            Verdict::Own { sample, excess } => self.end(&samples[*sample], *excess, browsers),
            Verdict::Shared { sample, excess, spoiled } => {
                if let Some(browser) = spoiled {
                    browsers[*browser].is_spoiled.store(true, Ordering::Release);
                }
                if has_taken_effect {
                    self.end(&samples[*sample], *excess, browsers);
                    self.last_shared_end = Some(Instant::now());
                    self.tolerance.grant(samples, *spoiled);
                }
            }
            Verdict::Whole { browser } if has_taken_effect => {
                let watched = &browsers[*browser];
                // As long as it is watched, nobody has waited for the leader, whose number is that of the group.
                if !watched.is_gone.load(Ordering::Acquire) {
                    tracing::warn!(
                        bytes = watched.last_total(),
                        "Chromium itself uses too much memory and is ended"
                    );
                    let _ = kill_process_group(watched.group, Signal::KILL);
                    self.last_shared_end = Some(Instant::now());
                }
            }
            Verdict::Whole { .. } => {}
        }
    }

    fn end(&mut self, sample: &Sample, excess: Excess, browsers: &[Arc<Watched>]) {
        browsers[sample.browser].end(sample.member.process, excess, sample.member.bytes);
        self.dying.insert(sample.member.process);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
