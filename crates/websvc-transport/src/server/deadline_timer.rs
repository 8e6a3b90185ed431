//! The timer of a connection.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::activity::{ConnectionActivity, TimeoutKind};

/// Time for a connection to end after it was asked to.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The only timer of a connection, for all its timeouts.
pub(super) struct DeadlineTimer<'a> {
    timer: Pin<&'a mut Sleep>,
    /// True if the timer will wake the task that runs the connection.
    pub(super) is_armed: bool,
}

impl<'a> DeadlineTimer<'a> {
    pub(super) fn new(timer: Pin<&'a mut Sleep>) -> Self {
        Self { timer, is_armed: false }
    }

    /// Returns the timeout that has passed, if `due` has. Otherwise the task is woken at the next deadline.
    ///
    /// A deadline that has moved to a later time does not reset the timer: it is reset when it fires.
    pub(super) fn check(
        &mut self,
        due: Option<(Instant, TimeoutKind)>,
        activity: &ConnectionActivity,
        cx: &mut Context<'_>,
    ) -> Option<TimeoutKind> {
        if let Some((at, _)) = due
            && at < self.timer.deadline()
        {
            self.rearm(at);
        }
        loop {
            if self.is_armed && !self.timer.is_elapsed() {
                return None;
            }
            self.is_armed = self.timer.as_mut().poll(cx).is_pending();
            if self.is_armed {
                return None;
            }
            match due {
                Some((at, kind)) if at <= Instant::now() => return Some(kind),
                Some((at, _)) => self.rearm(at),
                None => self.rearm(activity.next_check()),
            }
        }
    }

    fn rearm(&mut self, at: Instant) {
        self.timer.as_mut().reset(at);
        self.is_armed = false;
    }
}
