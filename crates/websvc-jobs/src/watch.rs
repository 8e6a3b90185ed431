//! Notification of clients that watch a job.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

/// The watched jobs by number. A job without a watcher has no entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobWatchers {
    jobs: Arc<Mutex<HashMap<i64, watch::Sender<()>>>>,
    /// Interval at which watchers read their job, because other processes may have changed it; `None` if there are none.
    poll: Option<Duration>,
}

/// A subscription to the changes of one job, until it is dropped.
#[derive(Debug)]
pub struct JobWatcher {
    watchers: JobWatchers,
    job: i64,
    changes: watch::Receiver<()>,
}

impl JobWatchers {
    /// Creates an empty set of watchers, which are woken at least once per `poll`.
    pub(crate) fn new(poll: Option<Duration>) -> Self {
        Self { poll, ..Self::default() }
    }

    /// Subscribes to a job. The watcher sees all changes from now on, even those before its first
    /// [`changed`](JobWatcher::changed).
    pub(crate) fn watch(&self, job: i64) -> JobWatcher {
        let changes = self.lock().entry(job).or_insert_with(|| watch::Sender::new(())).subscribe();
        JobWatcher { watchers: self.clone(), job, changes }
    }

    /// Notifies the watchers of a job about a new document or state.
    pub(crate) fn notify(&self, job: i64) {
        if let Some(changes) = self.lock().get(&job) {
            changes.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, watch::Sender<()>>> {
        self.jobs.lock()
    }
}

impl JobWatcher {
    /// Waits until the job may have a new document or state. All changes since the last call count as one. If other
    /// processes share the store, returns at least once per second.
    pub async fn changed(&mut self) {
        match self.watchers.poll {
            // The time is up: another process may have changed the job.
            Some(poll) => drop(tokio::time::timeout(poll, next_change(&mut self.changes)).await),
            None => next_change(&mut self.changes).await,
        }
    }
}

async fn next_change(changes: &mut watch::Receiver<()>) {
    if changes.changed().await.is_err() {
        // Unreachable: the sender exists as long as its watcher.
        std::future::pending::<()>().await;
    }
}

impl Drop for JobWatcher {
    fn drop(&mut self) {
        let mut jobs = self.watchers.lock();
        // New watchers subscribe under the same lock.
        if jobs.get(&self.job).is_some_and(|changes| changes.receiver_count() <= 1) {
            jobs.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;

    async fn has_changed(watcher: &mut JobWatcher) -> bool {
        let mut changed = std::pin::pin!(watcher.changed());
        std::future::poll_fn(|cx| Poll::Ready(changed.as_mut().poll(cx).is_ready())).await
    }

    #[tokio::test]
    async fn watcher_sees_changes_of_its_job_once() {
        let watchers = JobWatchers::default();
        let (mut one, mut same, mut other) = (watchers.watch(1), watchers.watch(1), watchers.watch(2));
        watchers.notify(1);
        watchers.notify(1);
        assert!(has_changed(&mut one).await && !has_changed(&mut one).await);
        assert!(has_changed(&mut same).await);
        assert!(!has_changed(&mut other).await);
        watchers.notify(2);
        assert!(has_changed(&mut other).await);
    }

    #[tokio::test]
    async fn pending_watcher_is_woken_by_a_change() {
        let watchers = JobWatchers::default();
        let mut watcher = watchers.watch(1);
        let mut changed = std::pin::pin!(watcher.changed());
        assert_eq!(std::future::poll_fn(|cx| Poll::Ready(changed.as_mut().poll(cx))).await, Poll::Pending);
        watchers.notify(1);
        changed.await;
    }

    #[tokio::test]
    async fn watcher_of_a_shared_store_is_woken_without_a_change() {
        let poll = Duration::from_millis(20);
        let (mut shared, mut alone) =
            (JobWatchers::new(Some(poll)).watch(1), JobWatchers::new(None).watch(1));
        let started = tokio::time::Instant::now();
        shared.changed().await;
        assert!(started.elapsed() >= poll);
        assert!(!has_changed(&mut alone).await);
    }

    #[test]
    fn job_without_watchers_has_no_entry() {
        let watchers = JobWatchers::default();
        watchers.notify(1);
        let (one, same) = (watchers.watch(1), watchers.watch(1));
        drop(one);
        assert_eq!(watchers.lock().len(), 1);
        drop(same);
        assert_eq!(watchers.lock().len(), 0);
    }
}
