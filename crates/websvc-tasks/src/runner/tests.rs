//! Tests of the runner with a work of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::sync::Notify;
use websvc_store::{ReplicaRole, Store, WorkKind};
use websvc_transport::BoxFuture;

use super::*;

/// The behaviour of the work on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    EndsAtOnce,
    Panics,
    /// Works until it is cancelled.
    Waits,
}

/// A task of the test, in place of a row.
#[derive(Debug, Clone, Copy)]
struct Task {
    number: i64,
    behaviour: Behaviour,
    is_cancelled: bool,
}

#[derive(Debug, Default)]
struct State {
    /// The tasks that this process owns, by number.
    owned: BTreeMap<i64, Task>,
    log: Vec<String>,
    /// The number of failures of the store that are still to come.
    failures: usize,
}

#[derive(Clone)]
struct TestWork {
    store: Store,
    state: Arc<Mutex<State>>,
    wakeup: Arc<Notify>,
    _dir: Arc<TempDir>,
}

impl TestWork {
    /// Starts a runner with a store that has joined. At most two tasks run at the same time.
    fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.join_replicas(ReplicaRole::Worker).unwrap();
        let work = Self { store, state: Arc::default(), wakeup: Arc::default(), _dir: Arc::new(dir) };
        tokio::spawn(run(work.clone()));
        work
    }

    /// Makes this process the owner of a task.
    fn add(&self, number: i64, behaviour: Behaviour) {
        self.state.lock().owned.insert(number, Task { number, behaviour, is_cancelled: false });
        self.wakeup.notify_one();
    }

    fn log(&self, line: String) {
        self.state.lock().log.push(line);
    }

    /// Waits until the log has a line.
    async fn until_logged(&self, line: &str) {
        let is_logged = async {
            while !self.state.lock().log.iter().any(|logged| logged == line) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let waiting = tokio::time::timeout(Duration::from_secs(60), is_logged).await;
        waiting.unwrap_or_else(|_| panic!("{line} is missing: {:?}", self.state.lock().log));
    }
}

impl Work for TestWork {
    type Task = Task;

    const NAME: &'static str = "tasks of the test";
    const KIND: WorkKind = WorkKind::Runs;
    const POLL_INTERVAL: Duration = Duration::from_secs(3_600);
    const LISTS_OWNED: bool = true;

    fn store(&self) -> &Store {
        &self.store
    }

    fn wakeup(&self) -> &Notify {
        &self.wakeup
    }

    fn number(task: &Task) -> i64 {
        task.number
    }

    fn is_cancelled(task: &Task) -> bool {
        task.is_cancelled
    }

    fn claim<'a>(&'a self, _active: &'a Active<Task>) -> BoxFuture<'a, Result<Vec<Task>, TaskError>> {
        Box::pin(async {
            let mut state = self.state.lock();
            if state.failures > 0 {
                state.failures -= 1;
                return Err(TaskError::Stopping);
            }
            Ok(state.owned.values().copied().collect())
        })
    }

    fn start<'a>(
        &'a self,
        task: Task,
        active: &'a Active<Task>,
        mut cancelled: watch::Receiver<bool>,
    ) -> BoxFuture<'a, Result<Option<BoxFuture<'static, ()>>, TaskError>> {
        Box::pin(async move {
            if active.len() == 2 {
                return Ok(None);
            }
            let test = self.clone();
            let work: BoxFuture<'static, ()> = Box::pin(async move {
                let Task { number, behaviour, .. } = task;
                test.log(format!("{number} begins"));
                match behaviour {
                    Behaviour::EndsAtOnce => {}
                    Behaviour::Panics => panic!("the work of a test panics"),
                    Behaviour::Waits => drop(cancelled.wait_for(|is_cancelled| *is_cancelled).await),
                }
                test.state.lock().owned.remove(&number);
                test.log(format!("{number} ends"));
            });
            Ok(Some(work))
        })
    }

    fn end_panicked<'a>(&'a self, task: &'a Task) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(async {
            self.state.lock().owned.remove(&task.number);
            self.log(format!("{} failed", task.number));
            Ok(())
        })
    }

    fn sweep(&self) -> BoxFuture<'_, Result<bool, TaskError>> {
        Box::pin(async {
            let swept = format!("swept {}", self.state.lock().log.len());
            self.log(swept);
            // The first sweep leaves something.
            Ok(self.state.lock().log.len() == 1)
        })
    }
}

#[tokio::test]
async fn tasks_wait_for_a_free_place_and_panicked_ones_are_ended_once() {
    let test = TestWork::start();
    test.add(1, Behaviour::Waits);
    test.until_logged("1 begins").await;
    test.add(2, Behaviour::Panics);
    test.add(3, Behaviour::EndsAtOnce);
    test.until_logged("3 ends").await;
    test.until_logged("2 failed").await;
    let log = test.state.lock().log.clone();
    let count = |line: &str| log.iter().filter(|logged| *logged == line).count();
    assert_eq!(
        (count("2 begins"), count("2 failed"), count("2 ends"), count("3 begins")),
        (1, 1, 0, 1),
        "{log:?}"
    );
}

#[tokio::test]
async fn requests_and_the_loss_of_a_task_cancel_its_work() {
    let test = TestWork::start();
    test.add(1, Behaviour::Waits);
    test.add(2, Behaviour::Waits);
    test.until_logged("2 begins").await;
    test.state.lock().owned.get_mut(&1).unwrap().is_cancelled = true;
    test.wakeup.notify_one();
    test.until_logged("1 ends").await;
    // Another replica takes over.
    test.state.lock().owned.remove(&2);
    test.wakeup.notify_one();
    test.until_logged("2 ends").await;
}

#[tokio::test(start_paused = true)]
async fn failures_of_the_store_delay_the_work_and_sweeps_repeat_until_nothing_is_left() {
    let test = TestWork::start();
    test.state.lock().failures = 2;
    test.add(1, Behaviour::EndsAtOnce);
    test.until_logged("1 ends").await;
    let log = test.state.lock().log.clone();
    assert_eq!(log, ["swept 0", "swept 1", "1 begins", "1 ends"]);
}
