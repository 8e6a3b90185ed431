//! Waiting of a thread for a future that another thread drives.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Interval at which a waiting thread checks that waiting makes sense.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The reason why a future is no longer awaited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// It was not ready before the deadline.
    DeadlineElapsed,
    /// Waiting makes no sense any more.
    Pointless,
}

/// Blocks the current thread until `future` is ready, `is_pointless` returns true, or the deadline elapses. Unlike the
/// `block_on` of tokio, it may be called on any thread, also on one of a runtime, which then does nothing else.
pub(crate) fn wait<F: Future>(
    future: F,
    deadline: Instant,
    is_pointless: impl Fn() -> bool,
) -> Result<F::Output, GivenUp> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(GivenUp::DeadlineElapsed);
        }
        if is_pointless() {
            return Err(GivenUp::Pointless);
        }
        std::thread::park_timeout(remaining.min(CHECK_INTERVAL));
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn future_of_another_thread_is_awaited() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(7));
        assert_eq!(wait(receiver, Instant::now() + Duration::from_secs(60), || false), Ok(Ok(7)));
    }

    #[test]
    fn future_that_is_never_ready_ends_at_the_deadline() {
        let ended = wait(std::future::pending::<()>(), Instant::now(), || false);
        assert_eq!(ended, Err(GivenUp::DeadlineElapsed));
    }

    #[test]
    fn future_is_not_awaited_when_that_makes_no_sense_any_more() {
        let started = Instant::now();
        let is_pointless = || started.elapsed() > Duration::from_millis(1);
        let ended = wait(std::future::pending::<()>(), started + Duration::from_secs(600), is_pointless);
        assert_eq!(ended, Err(GivenUp::Pointless));
    }
}
