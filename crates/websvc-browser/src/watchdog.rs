//! The memory watchdog: a thread that samples the processes of every Chromium many times per second while pages are open,
//! and kills those that exceed their limit. Their page fails; the others continue.
//!
//! It is a thread because async tasks and the blocking pool wait behind other work when the machine is busy, which is when
//! the limits matter. Control groups would do the same, but few systems let websvc create them.

mod limits;
mod load;
mod tolerance;
mod verdict;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use crate::memory::ProcessSampler;

pub(crate) use limits::{MemoryLimitExceeded, MemoryLimits};

use load::Load;
use tolerance::Tolerance;
use verdict::{Sample, Verdict, judge};

/// The interval between two samples while pages are open.
const INTERVAL: Duration = Duration::from_millis(100);
/// The same when a process uses more than half of its limit.
const NEAR_LIMIT_INTERVAL: Duration = Duration::from_millis(20);
/// The time that a kill takes to have an effect, before another process is killed for a shared limit.
const KILL_EFFECT: Duration = Duration::from_millis(200);
/// The time within which a page is notified of the end of its process.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(5);

/// The watchdog thread. It ends when this is dropped.
pub(crate) struct Watchdog(Arc<Shared>);

struct Shared {
    limits: MemoryLimits,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    browsers: Vec<Arc<MonitoredBrowser>>,
    open_pages: usize,
    is_started: bool,
    is_stopped: bool,
}

/// One Chromium that the watchdog samples.
pub(crate) struct MonitoredBrowser {
    group: Pid,
    sampler: Mutex<ProcessSampler>,
    /// The memory of all processes at the last sample, in bytes.
    last_total: AtomicU64,
    /// The kills that no page has reported yet, each with its time.
    kills: Mutex<VecDeque<(Instant, MemoryLimitExceeded)>>,
    needs_replacement: AtomicBool,
    is_gone: AtomicBool,
}

/// Keeps the watchdog sampling until it is dropped.
pub(crate) struct OpenPageGuard(Arc<Shared>);

/// The registration of a Chromium with the watchdog, until it is dropped.
pub(crate) struct Monitor {
    shared: Arc<Shared>,
    browser: Arc<MonitoredBrowser>,
}

impl Watchdog {
    pub(crate) fn new(limits: MemoryLimits) -> Self {
        Self(Arc::new(Shared { limits, state: Mutex::default(), changed: Condvar::new() }))
    }

    /// Registers the processes of a group. They are only sampled while pages are open.
    pub(crate) fn monitor(&self, group: Pid) -> Monitor {
        let browser = Arc::new(MonitoredBrowser::new(group));
        let mut state = self.0.state.lock();
        state.browsers.push(Arc::clone(&browser));
        if !state.is_started && cfg!(target_os = "linux") {
            let shared = Arc::clone(&self.0);
            let started =
                thread::Builder::new().name("browser-memory".to_owned()).spawn(move || shared.run());
            state.is_started = started.is_ok();
            if let Err(error) = started {
                tracing::error!(%error, "browser memory is not limited: the watchdog thread could not be started");
            }
        }
        Monitor { shared: Arc::clone(&self.0), browser }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.state.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

impl Monitor {
    /// Counts a page as open, so that the watchdog samples, until the guard is dropped.
    pub(crate) fn open_page(&self) -> OpenPageGuard {
        self.shared.state.lock().open_pages += 1;
        self.shared.changed.notify_all();
        OpenPageGuard(Arc::clone(&self.shared))
    }

    pub(crate) fn browser(&self) -> &Arc<MonitoredBrowser> {
        &self.browser
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.browser.is_gone.store(true, Ordering::Release);
        self.shared.state.lock().browsers.retain(|browser| !Arc::ptr_eq(browser, &self.browser));
    }
}

impl Drop for OpenPageGuard {
    fn drop(&mut self) {
        self.0.state.lock().open_pages -= 1;
    }
}

impl MonitoredBrowser {
    fn new(group: Pid) -> Self {
        Self {
            group,
            sampler: Mutex::new(ProcessSampler::new(group)),
            last_total: AtomicU64::new(0),
            kills: Mutex::default(),
            needs_replacement: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Returns the memory of all processes at the last sample, in bytes.
    pub(crate) fn last_total(&self) -> u64 {
        self.last_total.load(Ordering::Relaxed)
    }

    /// Measures the memory of all processes, in bytes; 0 on systems that do not report it.
    pub(crate) fn measure(&self) -> u64 {
        let processes = self.sampler.lock().sample();
        let total = processes.iter().map(|process| process.bytes).sum();
        self.last_total.store(total, Ordering::Relaxed);
        total
    }

    /// Returns whether Chromium's own processes have grown too large, which only a new Chromium resolves.
    pub(crate) fn needs_replacement(&self) -> bool {
        self.needs_replacement.load(Ordering::Acquire)
    }

    /// Takes the oldest kill that no page has reported, for a page whose process has just ended; `None` if the watchdog did not
    /// kill one.
    pub(crate) fn take_excess(&self) -> Option<MemoryLimitExceeded> {
        let mut kills = self.kills.lock();
        kills.retain(|(at, _)| at.elapsed() < NOTIFICATION_TIMEOUT);
        kills.pop_front().map(|(_, excess)| excess)
    }

    /// Kills a process of a page, unless its PID was reused by a process of another group.
    fn kill(&self, pid: Pid, excess: MemoryLimitExceeded, bytes: u64) {
        if getpgid(Some(pid)) != Ok(self.group) {
            return;
        }
        let MemoryLimitExceeded { limit_bytes, is_shared } = excess;
        tracing::warn!(bytes, limit_bytes, is_shared, "browser page exceeded its memory limit; stopping it");
        self.kills.lock().push_back((Instant::now(), excess));
        if kill_process(pid, Signal::KILL).is_err() {
            self.kills.lock().pop_back();
        }
    }
}

impl Shared {
    /// Samples all processes until the watchdog is dropped.
    fn run(&self) {
        let mut sampling = Sampling::default();
        loop {
            let browsers = {
                let mut state = self.state.lock();
                while state.open_pages == 0 && !state.is_stopped {
                    self.changed.wait(&mut state);
                }
                if state.is_stopped {
                    return;
                }
                state.browsers.clone()
            };
            thread::sleep(sampling.sample(&browsers, self.limits));
        }
    }
}

/// The state of the thread between two samples.
#[derive(Default)]
struct Sampling {
    /// Processes that were killed and still exist.
    dying: HashSet<Pid>,
    last_shared_kill: Option<Instant>,
    load: Load,
    tolerance: Tolerance,
}

impl Sampling {
    /// Takes one sample, kills the processes that exceed a limit, and returns the time until the next sample.
    fn sample(&mut self, browsers: &[Arc<MonitoredBrowser>], limits: MemoryLimits) -> Duration {
        let mut samples = Vec::new();
        for (index, browser) in browsers.iter().enumerate() {
            let processes = browser.sampler.lock().sample();
            let total = processes.iter().map(|process| process.bytes).sum();
            browser.last_total.store(total, Ordering::Relaxed);
            samples.extend(processes.into_iter().map(|process| Sample::new(index, process)));
        }
        self.dying.retain(|pid| samples.iter().any(|sample| sample.process.pid == *pid));
        samples.retain(|sample| !self.dying.contains(&sample.process.pid));
        let is_near_limit = samples.iter().any(|sample| sample.process.bytes > limits.page / 2);
        self.load.measure(&mut samples, is_near_limit);
        let has_taken_effect = self.last_shared_kill.is_none_or(|at| at.elapsed() >= KILL_EFFECT);
        self.tolerance.apply(&mut samples, limits.page, has_taken_effect);
        for verdict in judge(&samples, limits) {
            self.carry_out(&verdict, &samples, browsers, has_taken_effect);
        }
        if is_near_limit { NEAR_LIMIT_INTERVAL } else { INTERVAL }
    }

    fn carry_out(
        &mut self,
        verdict: &Verdict,
        samples: &[Sample],
        browsers: &[Arc<MonitoredBrowser>],
        has_taken_effect: bool,
    ) {
        match verdict {
            Verdict::Page { sample, excess } => self.kill(&samples[*sample], *excess, browsers),
            Verdict::PageForOthers { sample, excess, replace } => {
                if let Some(browser) = replace {
                    browsers[*browser].needs_replacement.store(true, Ordering::Release);
                }
                if has_taken_effect {
                    self.kill(&samples[*sample], *excess, browsers);
                    self.last_shared_kill = Some(Instant::now());
                    self.tolerance.grant(samples, *replace);
                }
            }
            Verdict::Browser { browser } if has_taken_effect => {
                let browser = &browsers[*browser];
                // While it is registered, its root process is not reaped, so the ID of the group is not reused.
                if !browser.is_gone.load(Ordering::Acquire) {
                    tracing::warn!(
                        bytes = browser.last_total(),
                        "Chromium exceeded its memory limit without pages; killing it"
                    );
                    let _ = kill_process_group(browser.group, Signal::KILL);
                    self.last_shared_kill = Some(Instant::now());
                }
            }
            Verdict::Browser { .. } => {}
        }
    }

    fn kill(&mut self, sample: &Sample, excess: MemoryLimitExceeded, browsers: &[Arc<MonitoredBrowser>]) {
        browsers[sample.browser].kill(sample.process.pid, excess, sample.process.bytes);
        self.dying.insert(sample.process.pid);
    }
}
