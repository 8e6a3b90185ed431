//! The runner: works on the tasks of this process, several at the same time.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};

use crate::error::TaskError;
use crate::sweep::Sweep;
use crate::work::{Active, ActiveTask, Work};

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// State of the runner.
struct Runner<W: Work> {
    work: W,
    running: JoinSet<()>,
    active: Active<W::Task>,
    /// Tasks whose work panicked, to be ended.
    panicked: HashMap<i64, W::Task>,
    sweep: Sweep,
}

/// Works on the tasks of a kind until it is dropped. Waits until this process has joined the replicas: before, it does
/// not know which tasks belong to others.
pub async fn run<W: Work>(work: W) -> Infallible {
    work.store().joined().await;
    let mut runner = Runner {
        work,
        running: JoinSet::new(),
        active: Active { tasks: HashMap::new() },
        panicked: HashMap::new(),
        sweep: Sweep::default(),
    };
    loop {
        if let Err(error) = runner.step().await {
            tracing::error!(error = &error as &dyn std::error::Error, "{} failed; retrying", W::NAME);
            tokio::time::sleep(FAILURE_DELAY).await;
        }
    }
}

impl<W: Work> Runner<W> {
    /// Starts the work on new tasks, then waits for one event.
    async fn step(&mut self) -> Result<(), TaskError> {
        if self.sweep.is_due() {
            let has_more = self.work.sweep().await?;
            self.sweep.record(has_more);
        }
        self.end_panicked().await;
        let claimed = self.work.claim(&self.active).await?;
        if W::LISTS_OWNED {
            self.cancel_lost(&claimed);
        }
        for task in claimed {
            let number = W::number(&task);
            // A task that cannot be started or ended must not delay the others.
            if let Err(error) = self.sync(task).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    number,
                    "one of the {} could not be started or ended; retrying",
                    W::NAME
                );
            }
        }
        tokio::select! {
            Some(result) = self.running.join_next_with_id(), if !self.running.is_empty() => self.forget(result),
            () = self.work.wakeup().notified() => {}
            () = self.work.store().poll_for_work(W::KIND, W::POLL_INTERVAL) => {}
        }
        Ok(())
    }

    /// Cancels the work on tasks that this process no longer owns. Their end cannot be stored.
    fn cancel_lost(&self, owned: &[W::Task]) {
        let owned: HashSet<i64> = owned.iter().map(W::number).collect();
        for (_, lost) in self.active.tasks.iter().filter(|(number, _)| !owned.contains(number)) {
            lost.cancel.send_replace(true);
        }
    }

    /// Brings the work on a task of this process in line with its row.
    async fn sync(&mut self, task: W::Task) -> Result<(), TaskError> {
        let number = W::number(&task);
        if let Some(active) = self.active.tasks.get(&number) {
            if W::is_cancelled(&task) {
                active.cancel.send_replace(true);
            }
            return Ok(());
        }
        if self.panicked.contains_key(&number) {
            return Ok(());
        }
        let (cancel, cancelled) = watch::channel(false);
        if let Some(work) = self.work.start(task.clone(), &self.active, cancelled).await? {
            let handle = self.running.spawn(work);
            self.active.tasks.insert(number, ActiveTask { task, cancel, handle });
        }
        Ok(())
    }

    /// Forgets a task whose work ended. If the task has not ended, the next step starts it again.
    fn forget(&mut self, result: Result<(Id, ()), JoinError>) {
        let id = result.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let ended = self.active.tasks.extract_if(|_, active| active.handle.id() == id);
        let ended: Vec<(i64, W::Task)> = ended.map(|(number, active)| (number, active.task)).collect();
        if let Err(error) = result
            && error.is_panic()
        {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the work on one of the {} panicked",
                W::NAME
            );
            self.panicked.extend(ended);
        }
    }

    /// Ends the tasks whose work panicked. One that cannot be ended now is tried again.
    async fn end_panicked(&mut self) {
        let numbers: Vec<i64> = self.panicked.keys().copied().collect();
        for number in numbers {
            let Some(task) = self.panicked.get(&number) else { continue };
            match self.work.end_panicked(task).await {
                Ok(()) => drop(self.panicked.remove(&number)),
                Err(error) => tracing::error!(
                    error = &error as &dyn std::error::Error,
                    number,
                    "one of the {} whose work panicked could not be ended; retrying",
                    W::NAME
                ),
            }
        }
    }
}

#[cfg(test)]
mod tests;
