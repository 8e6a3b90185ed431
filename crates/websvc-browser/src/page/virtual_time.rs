//! Virtual time: lets the timers of a page expire without waiting for them.
//!
//! With `Emulation.setVirtualTimePolicy` Chromium runs a page on a clock of its own. That clock jumps to the next timer as
//! soon as the page has nothing left to do, and stops while requests are in flight. A page cannot return to real time,
//! so only pages of which nothing but the content is wanted use it.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::request::RenderRequest;
use crate::state::Changes;

/// The virtual time of one advance. The page is idle if nothing happens during a whole advance.
const ADVANCE: Duration = Duration::from_millis(1000);
/// The virtual time that lets a page run the tasks that are ready.
const READY_TASKS: Duration = Duration::from_millis(10);
/// The maximum virtual time of a page, for pages that never become idle.
const MAX_TOTAL: Duration = Duration::from_millis(5000);
/// The time without network traffic after which a request is assumed to be endless, and no longer stops the clock.
const STALLED_AFTER: Duration = Duration::from_millis(100);

/// The virtual time of a page.
#[derive(Debug, Default)]
pub(super) struct VirtualTime {
    total: Duration,
    /// The last event in the page that was known when the last advance began.
    last_event: Option<Instant>,
    is_unsupported: bool,
}

impl VirtualTime {
    /// Returns the virtual time for a request; `None` if the request needs more than the content of the page.
    pub(super) fn for_request(request: &RenderRequest) -> Option<Self> {
        // Styles are those of a page whose transitions have ended, as in a screenshot.
        let is_content_only = request.steps.is_empty()
            && request.wait_for.is_zero()
            && request.screenshot.is_none()
            && !request.reads_styles;
        // Capturing the state navigates to the origins of the page, which a stopped clock would block.
        let captures = request.session.as_ref().is_some_and(|session| session.changes == Changes::Captured);
        (is_content_only && !captures).then(Self::default)
    }

    /// Returns whether the page runs on virtual time.
    pub(super) fn is_active(&self) -> bool {
        self.last_event.is_some() && !self.is_unsupported
    }

    /// Returns whether the clock should advance: until nothing happens during a whole advance.
    pub(super) fn is_due(&self, last_event: Instant, is_empty: bool) -> bool {
        let is_changed = self.last_event.is_none_or(|previous| last_event > previous);
        !self.is_unsupported && self.total < MAX_TOTAL && (is_changed || is_empty)
    }
}

impl Page<'_> {
    /// Advances the clock of the page, until `end` at the latest.
    pub(super) async fn advance(
        &self,
        virtual_time: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
    ) -> Result<(), BrowserError> {
        virtual_time.total += ADVANCE;
        self.run_clock(virtual_time, last_event, end, ADVANCE).await
    }

    /// Lets the page process received data, which it does only while its clock runs.
    pub(super) async fn run_ready_tasks(
        &self,
        virtual_time: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
    ) -> Result<(), BrowserError> {
        self.run_clock(virtual_time, last_event, end, READY_TASKS).await
    }

    async fn run_clock(
        &self,
        virtual_time: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
        budget: Duration,
    ) -> Result<(), BrowserError> {
        virtual_time.last_event = Some(last_event);
        match self.set_time_budget("pauseIfNetworkFetchesPending", budget).await {
            Ok(()) => {}
            // A browser without virtual time: its pages run in real time.
            Err(CdpError::Refused { .. }) => {
                virtual_time.is_unsupported = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        let mut pauses_for_requests = true;
        while Instant::now() < end {
            let next_check = end.min(Instant::now() + STALLED_AFTER);
            let stopped = self.events.wait_until(|state| state.is_clock_paused || state.is_navigating);
            if timeout_at(next_check, stopped).await.is_ok() {
                break;
            }
            if pauses_for_requests && self.is_network_idle_for(STALLED_AFTER) {
                pauses_for_requests = false;
                self.set_time_budget("advance", budget).await?;
            }
        }
        Ok(())
    }

    async fn set_time_budget(&self, policy: &str, budget: Duration) -> Result<(), CdpError> {
        self.events.lock().is_clock_paused = false;
        let params = json!({"policy": policy, "budget": budget.as_millis() as u64});
        self.call("Emulation.setVirtualTimePolicy", params).await?;
        Ok(())
    }
}
