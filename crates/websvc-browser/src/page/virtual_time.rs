//! Letting the timers of a page run out without waiting for them.
//!
//! Chromium can run a page on a clock of its own, which leaps to the next timer as soon as nothing is left to do and
//! stands still while requests are under way. What a page does after some time is done at once then. There is no way
//! back to the clock of everybody, so only pages of which nothing but their content is wanted are hurried.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::open_page::Page;
use crate::connection::CdpError;
use crate::error::BrowserError;
use crate::request::RenderRequest;
use crate::state::Changes;

/// How far the clock is put forward at a time: what a page does later than that after all else is not waited for.
const LEAP: Duration = Duration::from_millis(1000);
/// As far as lets a page run what waits to be run.
const MOMENT: Duration = Duration::from_millis(10);
/// How far in all, for a page that always goes on.
const FURTHEST: Duration = Duration::from_millis(5000);
/// When nothing was loading for so long, what holds the clock is a request that never ends.
const HELD: Duration = Duration::from_millis(100);

/// How far the clock of a page was put forward.
#[derive(Debug, Default)]
pub(super) struct VirtualTime {
    total: Duration,
    /// The last event in the page that was known when the last leap began.
    last_event: Option<Instant>,
    is_refused: bool,
}

impl VirtualTime {
    /// Returns what a page may be hurried by: of some requests more is wanted than what the page becomes.
    pub(super) fn of(request: &RenderRequest) -> Option<Self> {
        let is_only_read =
            request.steps.is_empty() && request.wait_for.is_zero() && request.screenshot.is_none();
        // What the page leaves is read by visiting its origins, which a clock that stands still would not let happen.
        let is_kept = request.session.as_ref().is_some_and(|session| session.changes == Changes::Kept);
        (is_only_read && !is_kept).then(Self::default)
    }

    /// Tells whether the page goes by a clock of its own.
    pub(super) fn is_active(&self) -> bool {
        self.last_event.is_some() && !self.is_refused
    }

    /// Tells whether the clock should leap (again): a whole leap must go by in which nothing happens.
    pub(super) fn is_due(&self, last_event: Instant, is_empty: bool) -> bool {
        let is_news = self.last_event.is_none_or(|known| last_event > known);
        !self.is_refused && self.total < FURTHEST && (is_news || is_empty)
    }
}

impl Page<'_> {
    /// Puts the clock of the page forward by one leap, or by as much as there is patience for.
    pub(super) async fn advance(
        &self,
        forward: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
    ) -> Result<(), BrowserError> {
        forward.total += LEAP;
        self.run_clock(forward, last_event, end, LEAP).await
    }

    /// Lets a page take in what came from elsewhere, which it does only while its clock goes.
    pub(super) async fn take_in(
        &self,
        forward: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
    ) -> Result<(), BrowserError> {
        self.run_clock(forward, last_event, end, MOMENT).await
    }

    async fn run_clock(
        &self,
        forward: &mut VirtualTime,
        last_event: Instant,
        end: Instant,
        budget: Duration,
    ) -> Result<(), BrowserError> {
        forward.last_event = Some(last_event);
        match self.put_forward("pauseIfNetworkFetchesPending", budget).await {
            Ok(()) => {}
            // Another browser than ours: its pages are waited for.
            Err(CdpError::Refused { .. }) => {
                forward.is_refused = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        let mut is_held = true;
        while Instant::now() < end {
            let look_again = end.min(Instant::now() + HELD);
            let stopped = self.watch.wait_until(|state| state.is_clock_stopped || state.is_navigating);
            if timeout_at(look_again, stopped).await.is_ok() {
                break;
            }
            if is_held && self.is_quiet_for(HELD) {
                is_held = false;
                self.put_forward("advance", budget).await?;
            }
        }
        Ok(())
    }

    async fn put_forward(&self, policy: &str, budget: Duration) -> Result<(), CdpError> {
        self.watch.lock().is_clock_stopped = false;
        let leap = json!({"policy": policy, "budget": budget.as_millis() as u64});
        self.call("Emulation.setVirtualTimePolicy", leap).await?;
        Ok(())
    }
}
