//! Watchers of a job.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Those who wait, by the number of their job: a job that nobody waits for has no entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobWatchers(Arc<Mutex<HashMap<i64, watch::Sender<()>>>>);

/// Hears of one job: dropping it costs the job nothing any more.
#[derive(Debug)]
pub struct JobWatcher {
    watched: JobWatchers,
    job: i64,
    changes: watch::Receiver<()>,
}

impl JobWatchers {
    /// Begins to hear of a job. What happens from now on is heard, even before it is waited for.
    pub(crate) fn watch(&self, job: i64) -> JobWatcher {
        let changes = self.lock().entry(job).or_insert_with(|| watch::Sender::new(())).subscribe();
        JobWatcher { watched: self.clone(), job, changes }
    }

    /// Says that a job has another document, or stands otherwise.
    pub(crate) fn notify(&self, job: i64) {
        if let Some(changes) = self.lock().get(&job) {
            changes.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, watch::Sender<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobWatcher {
    /// Waits until the job has another document or stands otherwise; all that happened since the last time is heard as
    /// one. What other processes do to a job is not heard.
    pub async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // The entry stays for as long as this does, so it does not come to this.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for JobWatcher {
    fn drop(&mut self) {
        let mut jobs = self.watched.lock();
        // Whoever begins to wait is counted under the same lock.
        if jobs.get(&self.job).is_some_and(|changes| changes.receiver_count() <= 1) {
            jobs.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    async fn hears(watching: &mut JobWatcher) -> bool {
        let mut waiting = std::pin::pin!(watching.changed());
        std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_ready())).await
    }

    #[tokio::test]
    async fn what_happened_since_is_heard_once_and_of_one_job_alone() {
        let watched = JobWatchers::default();
        let (mut one, mut same, mut other) = (watched.watch(1), watched.watch(1), watched.watch(2));
        watched.notify(1);
        watched.notify(1);
        assert!(hears(&mut one).await && !hears(&mut one).await);
        assert!(hears(&mut same).await);
        assert!(!hears(&mut other).await);
        watched.notify(2);
        assert!(hears(&mut other).await);
    }

    #[tokio::test]
    async fn who_waits_is_woken() {
        let watched = JobWatchers::default();
        let mut watching = watched.watch(1);
        let mut waiting = std::pin::pin!(watching.changed());
        assert_eq!(std::future::poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx))).await, Poll::Pending);
        watched.notify(1);
        waiting.await;
    }

    #[test]
    fn nothing_is_kept_of_jobs_that_nobody_waits_for() {
        let watched = JobWatchers::default();
        watched.notify(1);
        let (one, same) = (watched.watch(1), watched.watch(1));
        drop(one);
        assert_eq!(watched.lock().len(), 1);
        drop(same);
        assert_eq!(watched.lock().len(), 0);
    }
}
