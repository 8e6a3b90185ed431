//! Waits until a page has finished loading and is idle.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::open_page::Page;
use super::virtual_time::VirtualTime;
use crate::error::BrowserError;
use crate::request::{RenderRequest, WaitUntil};

/// The maximum time in which a parsed page loads its images and styles.
const LOAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum time in which a loaded page becomes idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum time in which a page becomes idle after an action.
const ACTION_IDLE_TIMEOUT: Duration = Duration::from_secs(3);
/// The time without changes and requests after which a page is idle.
const IDLE_AFTER: Duration = Duration::from_millis(150);
/// The same for a page in virtual time: only frames and tasks are left, because its timers have expired.
const IDLE_AFTER_VIRTUAL_TIME: Duration = Duration::from_millis(100);
/// The same for a page in virtual time with workers, sockets or databases, whose pending work is not visible.
const IDLE_AFTER_BACKGROUND_WORK: Duration = Duration::from_millis(300);
/// The same for a page that has no text yet.
const IDLE_AFTER_EMPTY: Duration = Duration::from_millis(1000);
/// The number of characters below which a page counts as empty.
const EMPTY_CHARS: u64 = 40;
/// The interval between two checks of the document.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// The same for a page in virtual time.
const VIRTUAL_TIME_POLL_INTERVAL: Duration = Duration::from_millis(50);

const DOCUMENT_STATUS: &str = include_str!("document_status.js");

impl Page<'_> {
    /// Waits until the page is in the state that the request wants.
    pub(super) async fn wait_until(&self, request: &RenderRequest) -> Result<(), BrowserError> {
        self.wait_parsed().await;
        match request.wait_until {
            WaitUntil::Parsed => Ok(()),
            WaitUntil::Loaded => {
                self.wait_loaded().await;
                Ok(())
            }
            WaitUntil::Idle => {
                // The first call installs the observer of changes, so it must not wait for the load event.
                let status = timeout_at(self.soft_deadline, self.call_function(DOCUMENT_STATUS, &[]));
                let (status, ()) = tokio::join!(status, self.wait_loaded());
                if let Ok(Ok(Ok(status))) = status
                    && is_static(&status)
                {
                    return Ok(());
                }
                // A page cannot return to real time, which clients of a session expect.
                let is_interactive = self.max_tabs.is_some();
                let virtual_time = if is_interactive { None } else { VirtualTime::for_request(request) };
                let thresholds = IdleThresholds { normal: IDLE_AFTER, empty: IDLE_AFTER_EMPTY, virtual_time };
                self.wait_idle(IDLE_TIMEOUT, thresholds).await
            }
        }
    }

    /// Waits for a duration, until the soft deadline at the latest.
    pub(super) async fn wait(&self, duration: Duration) {
        let end = Instant::now() + duration;
        if end > self.soft_deadline {
            self.warn(format!("waiting for {} ms was cut short by the timeout", duration.as_millis()));
        }
        sleep_until(end.min(self.soft_deadline)).await;
    }

    /// Waits until the effects of an action are complete: navigation, requests and changes.
    pub(crate) async fn wait_idle_after_action(&self) -> Result<(), BrowserError> {
        sleep(POLL_INTERVAL).await;
        if self.events.lock().is_navigating {
            self.wait_navigated().await;
            self.wait_parsed().await;
            self.wait_loaded().await;
        }
        let thresholds = IdleThresholds { normal: IDLE_AFTER, empty: IDLE_AFTER, virtual_time: None };
        self.wait_idle(ACTION_IDLE_TIMEOUT, thresholds).await
    }

    async fn wait_navigated(&self) {
        let _ = timeout_at(self.soft_deadline, self.events.wait_until(|state| !state.is_navigating)).await;
    }

    pub(super) async fn wait_parsed(&self) {
        let parsed = self.events.wait_until(|state| state.is_parsed || state.is_loaded);
        if timeout_at(self.soft_deadline, parsed).await.is_err() {
            self.warn("the page was not parsed completely before the timeout".to_owned());
        }
    }

    async fn wait_loaded(&self) {
        let end = self.soft_deadline.min(Instant::now() + LOAD_TIMEOUT);
        // On a timeout, most likely one resource never ends. The document itself is complete.
        let _ = timeout_at(end, self.events.wait_until(|state| state.is_loaded)).await;
    }

    /// Waits until the page is idle, for `timeout` at most.
    async fn wait_idle(&self, timeout: Duration, mut thresholds: IdleThresholds) -> Result<(), BrowserError> {
        let end = self.soft_deadline.min(Instant::now() + timeout);
        let mut idle = IdleSince { since: Instant::now(), changes: None };
        while Instant::now() < end {
            let Ok(status) = timeout_at(end, self.call_function(DOCUMENT_STATUS, &[])).await else { break };
            let Ok(status) = status? else { break };
            if is_static(&status) {
                break;
            }
            let is_empty = status["text"].as_u64().is_some_and(|chars| chars < EMPTY_CHARS);
            idle.update(&status, self.events.lock().last_traffic);
            if let Some(virtual_time) = &mut thresholds.virtual_time
                && virtual_time.is_due(idle.since, is_empty)
            {
                self.advance(virtual_time, idle.since, end).await?;
                continue;
            }
            let has_background_work = status["stores"] != false || self.events.lock().has_background_work;
            let required = thresholds.required(is_empty, has_background_work);
            let remaining = required.saturating_sub(idle.since.elapsed());
            if remaining.is_zero() && self.is_network_idle_for(Duration::ZERO) {
                break;
            }
            if let Some(virtual_time) = thresholds.virtual_time.as_mut().filter(|time| time.is_active())
                && self.is_network_idle_for(Duration::ZERO)
            {
                sleep(remaining.min(VIRTUAL_TIME_POLL_INTERVAL)).await;
                self.run_ready_tasks(virtual_time, idle.since, end).await?;
                continue;
            }
            // Each check costs the page a layout.
            let interval =
                if thresholds.uses_virtual_time() { VIRTUAL_TIME_POLL_INTERVAL } else { POLL_INTERVAL };
            sleep(remaining.clamp(Duration::from_millis(1), interval)).await;
        }
        Ok(())
    }

    /// Returns whether no request is in flight, and none has been for `duration`.
    pub(super) fn is_network_idle_for(&self, duration: Duration) -> bool {
        let state = self.events.lock();
        state.in_flight.is_empty() && !state.is_navigating && state.last_traffic.elapsed() >= duration
    }
}

/// Returns whether nothing can change the document any more: it is complete, and has no scripts and no frames that can
/// reach it.
fn is_static(status: &Value) -> bool {
    status["scripts"] == false && status["ready"] == "complete"
}

/// The times without changes and requests after which a page is idle.
struct IdleThresholds {
    normal: Duration,
    empty: Duration,
    virtual_time: Option<VirtualTime>,
}

impl IdleThresholds {
    fn uses_virtual_time(&self) -> bool {
        self.virtual_time.as_ref().is_some_and(VirtualTime::is_active)
    }

    /// Returns the threshold for the current state of the page.
    fn required(&self, is_empty: bool, has_background_work: bool) -> Duration {
        match (is_empty, self.uses_virtual_time(), has_background_work) {
            (true, _, _) => self.empty,
            (false, true, false) => IDLE_AFTER_VIRTUAL_TIME,
            (false, true, true) => IDLE_AFTER_BACKGROUND_WORK,
            (false, false, _) => self.normal,
        }
    }
}

/// The start of the current idle period of a page.
struct IdleSince {
    since: Instant,
    changes: Option<u64>,
}

impl IdleSince {
    /// Restarts the period if the document has changed or a request began or ended.
    fn update(&mut self, status: &Value, last_traffic: Instant) {
        let changes = status["changes"].as_u64();
        if self.changes.is_some() && self.changes != changes {
            self.since = Instant::now();
        }
        self.changes = changes;
        self.since = self.since.max(last_traffic);
    }
}
