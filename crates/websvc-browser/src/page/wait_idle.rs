//! Waiting until a page has become what it will be.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::open_page::Page;
use super::virtual_time::VirtualTime;
use crate::error::BrowserError;
use crate::request::{RenderRequest, WaitUntil};

/// How long a page that is read may take to load its pictures and styles.
const LOADING: Duration = Duration::from_secs(10);
/// How long a loaded page may take to become quiet.
const SETTLING: Duration = Duration::from_secs(5);
/// How long what an action has started may take.
const AFTERMATH: Duration = Duration::from_secs(3);
/// Nothing changes and nothing is loading for so long: the page is quiet.
const QUIET: Duration = Duration::from_millis(150);
/// The same for a page whose timers have run out: all that is left are frames and tasks.
const QUIET_WHEN_HURRIED: Duration = Duration::from_millis(100);
/// The same for a page with threads, sockets or databases: nobody can see what those are about to do.
const QUIET_ELSEWHERE: Duration = Duration::from_millis(300);
/// The same for a page that shows nothing yet.
const QUIET_WHEN_EMPTY: Duration = Duration::from_millis(1000);
/// A page with fewer characters shows nothing yet.
const EMPTY_CHARS: u64 = 40;
/// How often the document is looked at.
const GLANCE: Duration = Duration::from_millis(25);
/// The same for a page whose timers have run out.
const PATIENT_GLANCE: Duration = Duration::from_millis(50);

const QUIET_SCRIPT: &str = include_str!("quiet.js");

impl Page<'_> {
    pub(super) async fn wait_until(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        self.parsed().await;
        match request.wait_until {
            WaitUntil::Parsed => Ok(()),
            WaitUntil::Loaded => {
                self.loaded().await;
                Ok(())
            }
            WaitUntil::Settled => {
                // Changes are watched for while the rest comes, and the rest may be there already.
                let first = timeout_at(self.soft_deadline, self.ask(QUIET_SCRIPT, &[]));
                let (first, ()) = tokio::join!(first, self.loaded());
                if first.is_ok_and(|glance| {
                    glance.is_ok_and(|glance| glance.is_ok_and(|glance| is_final(&glance)))
                }) {
                    return Ok(());
                }
                let forward = VirtualTime::of(request);
                self.wait_idle(
                    SETTLING,
                    IdleThresholds { quiet: QUIET, when_empty: QUIET_WHEN_EMPTY, forward },
                )
                .await
            }
        }
    }

    /// Waits for a time, or for as much of it as there is.
    pub(super) async fn wait(&self, time: Duration) {
        let end = Instant::now() + time;
        if end > self.soft_deadline {
            self.warn(format!("{} ms of waiting are more than there was time for", time.as_millis()));
        }
        sleep_until(end.min(self.soft_deadline)).await;
    }

    /// Waits until what an action has started is over: a new document, requests, changes.
    pub(crate) async fn wait_idle_after_action(&self) -> Result<(), BrowserError> {
        sleep(GLANCE).await;
        if self.watch.lock().is_navigating {
            self.wait_navigated().await;
            self.parsed().await;
            self.loaded().await;
        }
        self.wait_idle(AFTERMATH, IdleThresholds { quiet: QUIET, when_empty: QUIET, forward: None }).await
    }

    async fn wait_navigated(&self) {
        let _ = timeout_at(self.soft_deadline, self.watch.wait_until(|state| !state.is_navigating)).await;
    }

    async fn parsed(&self) {
        let parsed = self.watch.wait_until(|state| state.is_parsed || state.is_loaded);
        if timeout_at(self.soft_deadline, parsed).await.is_err() {
            self.warn("the page was still being read when its time was over".to_owned());
        }
    }

    async fn loaded(&self) {
        let patience = self.soft_deadline.min(Instant::now() + LOADING);
        // Something that never ends, most likely; the page itself is there.
        let _ = timeout_at(patience, self.watch.wait_until(|state| state.is_loaded)).await;
    }

    /// Waits until nothing changes and nothing is loading, or until the patience is over. A page that shows nothing
    /// yet must be quiet for longer.
    async fn wait_idle(&self, patience: Duration, mut pace: IdleThresholds) -> Result<(), BrowserError> {
        let end = self.soft_deadline.min(Instant::now() + patience);
        let mut quiet = IdleSince { since: Instant::now(), changes: None };
        while Instant::now() < end {
            let Ok(glance) = timeout_at(end, self.ask(QUIET_SCRIPT, &[])).await else { break };
            let Ok(glance) = glance? else { break };
            if is_final(&glance) {
                break;
            }
            let is_empty = glance["text"].as_u64().is_some_and(|chars| chars < EMPTY_CHARS);
            quiet.look(&glance, self.watch.lock().last_traffic);
            if let Some(forward) = &mut pace.forward
                && forward.is_due(quiet.since, is_empty)
            {
                self.advance(forward, quiet.since, end).await?;
                continue;
            }
            let works_elsewhere = glance["stores"] != false || self.watch.lock().works_elsewhere;
            let left = pace.enough(is_empty, works_elsewhere).saturating_sub(quiet.since.elapsed());
            if left.is_zero() && self.is_quiet_for(Duration::ZERO) {
                break;
            }
            if let Some(forward) = pace.forward.as_mut().filter(|forward| forward.is_active())
                && self.is_quiet_for(Duration::ZERO)
            {
                sleep(left.min(PATIENT_GLANCE)).await;
                self.take_in(forward, quiet.since, end).await?;
                continue;
            }
            // Each look costs the page a layout.
            let pause = if pace.uses_virtual_time() { PATIENT_GLANCE } else { GLANCE };
            sleep(left.clamp(Duration::from_millis(1), pause)).await;
        }
        Ok(())
    }

    /// Tells whether nothing is loading, and has not been for a time.
    pub(super) fn is_quiet_for(&self, time: Duration) -> bool {
        let state = self.watch.lock();
        state.in_flight.is_empty() && !state.is_navigating && state.last_traffic.elapsed() >= time
    }
}

/// Nothing changes a document once it is there that has neither scripts nor frames that reach it.
fn is_final(glance: &Value) -> bool {
    glance["scripts"] == false && glance["ready"] == "complete"
}

/// How long a page must be quiet.
struct IdleThresholds {
    quiet: Duration,
    when_empty: Duration,
    forward: Option<VirtualTime>,
}

impl IdleThresholds {
    fn uses_virtual_time(&self) -> bool {
        self.forward.as_ref().is_some_and(VirtualTime::is_active)
    }

    fn enough(&self, is_empty: bool, works_elsewhere: bool) -> Duration {
        match (is_empty, self.uses_virtual_time(), works_elsewhere) {
            (true, _, _) => self.when_empty,
            (false, true, false) => QUIET_WHEN_HURRIED,
            (false, true, true) => QUIET_ELSEWHERE,
            (false, false, _) => self.quiet,
        }
    }
}

/// Since when nothing happens in a page.
struct IdleSince {
    since: Instant,
    changes: Option<u64>,
}

impl IdleSince {
    fn look(&mut self, glance: &Value, last_traffic: Instant) {
        let changes = glance["changes"].as_u64();
        if self.changes.is_some() && self.changes != changes {
            self.since = Instant::now();
        }
        self.changes = changes;
        self.since = self.since.max(last_traffic);
    }
}
