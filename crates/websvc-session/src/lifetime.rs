//! The wait for the end of a session: the first of a request, its time to live, and the time without use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::metrics::EndReason;

/// The interval between two checks whether a session that is in use still is.
const IN_USE_CHECK: Duration = Duration::from_secs(1);

/// The limits and the use of a session, which decide when it ends.
pub(crate) struct Lifetime<'a> {
    /// The end of its time to live.
    pub(crate) ends_at: Instant,
    /// The time after which it ends without use.
    pub(crate) activity_ttl: Duration,
    /// The last use.
    pub(crate) used: &'a Mutex<Instant>,
    /// The number of runs of code in progress: a session that runs code is in use.
    pub(crate) running: &'a AtomicUsize,
    /// True once a client has asked for the end.
    pub(crate) end_requested: watch::Receiver<bool>,
}

impl Lifetime<'_> {
    /// Waits until the session has to end. The time to live ends it even if it is in use.
    pub(crate) async fn wait(mut self) -> EndReason {
        tokio::select! {
            biased;
            _ = self.end_requested.wait_for(|is_requested| *is_requested) => EndReason::Deleted,
            () = sleep_until(self.ends_at) => EndReason::Expired,
            () = wait_until_unused(self.used, self.running, self.activity_ttl) => EndReason::Unused,
        }
    }
}

async fn wait_until_unused(used: &Mutex<Instant>, running: &AtomicUsize, activity_ttl: Duration) {
    loop {
        let unused_at = *used.lock() + activity_ttl;
        let now = Instant::now();
        if running.load(Ordering::Acquire) > 0 {
            sleep_until(now + IN_USE_CHECK).await;
        } else if unused_at <= now {
            return;
        } else {
            sleep_until(unused_at).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const TTL: Duration = Duration::from_secs(30);
    const ACTIVITY_TTL: Duration = Duration::from_secs(10);

    /// Waits for the end of a session while `activity` uses it, in virtual time. Returns the reason and the time.
    async fn end_with<F: Future<Output = ()>>(
        activity: impl FnOnce(Arc<Mutex<Instant>>, Arc<AtomicUsize>, watch::Sender<bool>) -> F,
    ) -> (EndReason, Duration) {
        let started = Instant::now();
        let (used, running) = (Arc::new(Mutex::new(started)), Arc::new(AtomicUsize::new(0)));
        let (request, end_requested) = watch::channel(false);
        let lifetime = Lifetime {
            ends_at: started + TTL,
            activity_ttl: ACTIVITY_TTL,
            used: &used,
            running: &running,
            end_requested,
        };
        let activity = activity(Arc::clone(&used), Arc::clone(&running), request);
        let idle = async {
            activity.await;
            std::future::pending::<EndReason>().await
        };
        let reason = tokio::select! {
            reason = lifetime.wait() => reason,
            never = idle => never,
        };
        (reason, started.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn unused_session_ends_after_its_activity_ttl() {
        let end = end_with(|_, _, request| async move {
            std::future::pending::<()>().await;
            drop(request);
        });
        assert_eq!(end.await, (EndReason::Unused, ACTIVITY_TTL));
    }

    #[tokio::test(start_paused = true)]
    async fn use_postpones_the_end_but_not_beyond_the_ttl() {
        let end = end_with(|used, _, request| async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                *used.lock() = Instant::now();
                assert!(!request.is_closed());
            }
        });
        assert_eq!(end.await, (EndReason::Expired, TTL));
    }

    #[tokio::test(start_paused = true)]
    async fn session_ends_after_its_last_use() {
        let end = end_with(|used, _, request| async move {
            tokio::time::sleep(Duration::from_secs(7)).await;
            *used.lock() = Instant::now();
            std::future::pending::<()>().await;
            drop(request);
        });
        assert_eq!(end.await, (EndReason::Unused, Duration::from_secs(17)));
    }

    #[tokio::test(start_paused = true)]
    async fn running_code_is_use_but_the_ttl_wins() {
        let end = end_with(|_, running, request| async move {
            running.store(1, Ordering::Release);
            std::future::pending::<()>().await;
            drop(request);
        });
        assert_eq!(end.await, (EndReason::Expired, TTL));
    }

    #[tokio::test(start_paused = true)]
    async fn request_ends_the_session_at_once() {
        let end = end_with(|_, running, request| async move {
            running.store(1, Ordering::Release);
            tokio::time::sleep(Duration::from_secs(2)).await;
            request.send_replace(true);
            std::future::pending::<()>().await;
        });
        assert_eq!(end.await, (EndReason::Deleted, Duration::from_secs(2)));
    }
}
