//! A kind of durable work.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use websvc_store::{Store, WorkKind};
use websvc_transport::BoxFuture;

use crate::error::TaskError;

/// A kind of tasks, for [`run`](crate::run).
pub trait Work: Send + Sync + 'static {
    /// A stored task, as the claim reads it.
    type Task: Clone + Send + Sync + 'static;

    /// Name of the tasks in log lines, in the plural.
    const NAME: &'static str;

    /// Their kind in the store.
    const KIND: WorkKind;

    /// Interval at which the store is read for tasks of other processes, and for what is due.
    const POLL_INTERVAL: Duration;

    /// True if a claim returns all tasks that this process owns. A task in progress that is missing then belongs to
    /// another replica, or was deleted, and is cancelled.
    const LISTS_OWNED: bool;

    /// Returns the store.
    fn store(&self) -> &Store;

    /// Returns what wakes the runner when there may be a new task, or a request to cancel one.
    fn wakeup(&self) -> &Notify;

    /// Returns the number of a task, its primary key.
    fn number(task: &Self::Task) -> i64;

    /// Returns whether a request asks to cancel a task.
    fn is_cancelled(_task: &Self::Task) -> bool {
        false
    }

    /// Takes over tasks without an owner, and returns those that this process owns.
    fn claim<'a>(
        &'a self,
        active: &'a Active<Self::Task>,
    ) -> BoxFuture<'a, Result<Vec<Self::Task>, TaskError>>;

    /// Returns the work on a task of this process that is not in progress; `None` if it has to wait for a free place, or
    /// has ended. `cancelled` becomes true when the work should end.
    fn start<'a>(
        &'a self,
        task: Self::Task,
        active: &'a Active<Self::Task>,
        cancelled: watch::Receiver<bool>,
    ) -> BoxFuture<'a, Result<Option<BoxFuture<'static, ()>>, TaskError>>;

    /// Ends a task whose work panicked, unless it belongs to another replica now.
    fn end_panicked<'a>(&'a self, task: &'a Self::Task) -> BoxFuture<'a, Result<(), TaskError>>;

    /// Deletes a part of the old tasks. Returns whether there may be more.
    fn sweep(&self) -> BoxFuture<'_, Result<bool, TaskError>>;
}

/// The tasks in progress in this process.
#[derive(Debug)]
pub struct Active<T> {
    pub(crate) tasks: HashMap<i64, ActiveTask<T>>,
}

/// A task in progress.
#[derive(Debug)]
pub(crate) struct ActiveTask<T> {
    pub(crate) task: T,
    pub(crate) cancel: watch::Sender<bool>,
    pub(crate) handle: AbortHandle,
}

impl<T> Active<T> {
    /// Returns the number of tasks in progress.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether no task is in progress.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns the number of tasks in progress for which `condition` holds.
    pub fn count(&self, condition: impl Fn(&T) -> bool) -> usize {
        self.tasks.values().filter(|active| condition(&active.task)).count()
    }
}
