//! Background tasks of a browser, such as closing pages.

use std::mem;

use parking_lot::Mutex;
use tokio::task::JoinSet;

/// Tasks that no request waits for. They end with the browser.
#[derive(Default)]
pub(crate) struct BackgroundTasks(Mutex<JoinSet<()>>);

impl BackgroundTasks {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Waits until all tasks that were spawned before have ended.
    pub(crate) async fn join_all(&self) {
        let mut tasks = mem::take(&mut *self.0.lock());
        while tasks.join_next().await.is_some() {}
    }
}
