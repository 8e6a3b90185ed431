//! Waiting of a thread for a future that another thread drives.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

/// The future was not ready before the deadline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeadlineElapsed;

/// Blocks the current thread until `future` is ready. Unlike the `block_on` of tokio, it may be called on any thread,
/// also on one of a runtime, which then does nothing else.
pub(crate) fn wait<F: Future>(future: F, deadline: Instant) -> Result<F::Output, DeadlineElapsed> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(DeadlineElapsed);
        }
        std::thread::park_timeout(remaining);
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn future_of_another_thread_is_awaited() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(7));
        assert_eq!(wait(receiver, Instant::now() + Duration::from_secs(60)), Ok(Ok(7)));
    }

    #[test]
    fn future_that_is_never_ready_ends_at_the_deadline() {
        assert_eq!(wait(std::future::pending::<()>(), Instant::now()), Err(DeadlineElapsed));
    }
}
