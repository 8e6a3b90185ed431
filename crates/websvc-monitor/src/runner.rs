//! The runner: works on the checks of this process, several at the same time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Duration;

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use websvc_stage::RequestSpan;
use websvc_store::CheckRecord;

use crate::check;
use crate::error::MonitorsError;
use crate::monitors::Monitors;

/// Interval at which the store is read for checks of other processes, of lost replicas, and for old ones.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Interval at which old checks are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// State of the runner.
struct Runner {
    monitors: Monitors,
    tasks: JoinSet<()>,
    /// The checks in progress, by the number of the check.
    active: HashMap<i64, ActiveCheck>,
    /// Checks whose work panicked, to be ended.
    panicked: Vec<CheckRecord>,
    last_sweep: Option<tokio::time::Instant>,
}

/// A check in progress.
struct ActiveCheck {
    record: CheckRecord,
    task: AbortHandle,
}

/// Works on checks until it is dropped.
pub(crate) async fn run(monitors: Monitors) -> Infallible {
    let mut runner = Runner {
        monitors,
        tasks: JoinSet::new(),
        active: HashMap::new(),
        panicked: Vec::new(),
        last_sweep: None,
    };
    loop {
        if let Err(error) = runner.step().await {
            tracing::error!(error = &error as &dyn std::error::Error, "monitor checks failed; retrying");
            tokio::time::sleep(FAILURE_DELAY).await;
        }
    }
}

impl Runner {
    /// Starts the work on new checks, then waits for one event.
    async fn step(&mut self) -> Result<(), MonitorsError> {
        self.sweep().await?;
        self.fail_panicked().await?;
        let max = self.monitors.config().concurrency as u64;
        let claimed = self.monitors.with_store(move |store, _| store.claim_checks(max)).await?;
        self.sync(claimed);
        tokio::select! {
            Some(result) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.finish(result),
            () = self.monitors.inner.check_wakeup.notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        Ok(())
    }

    /// Starts the work on the checks that this process owns. The work on a check that it no longer owns notices that
    /// itself.
    fn sync(&mut self, owned: Vec<CheckRecord>) {
        for record in owned {
            if self.active.contains_key(&record.number)
                || self.active.len() >= self.monitors.config().concurrency
            {
                continue;
            }
            // Log lines of the check carry its identifier.
            let span = RequestSpan::new(&record.id, "monitor", None);
            let task = self.tasks.spawn(span.run(check::run(self.monitors.clone(), record.clone())));
            self.active.insert(record.number, ActiveCheck { record, task });
        }
    }

    /// Forgets a check whose task ended. If the check is not finished, the next step starts it again.
    fn finish(&mut self, result: Result<(Id, ()), JoinError>) {
        let id = match result {
            Ok((id, ())) => id,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!(error = &error as &dyn std::error::Error, "monitor check panicked");
                    self.panicked.extend(
                        self.active
                            .values()
                            .filter(|check| check.task.id() == error.id())
                            .map(|check| check.record.clone()),
                    );
                }
                error.id()
            }
        };
        self.active.retain(|_, check| check.task.id() != id);
    }

    /// Ends the checks whose work panicked.
    async fn fail_panicked(&mut self) -> Result<(), MonitorsError> {
        while let Some(record) = self.panicked.last() {
            check::fail(&self.monitors, record, "an internal error ended the check".to_owned()).await?;
            self.panicked.pop();
        }
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), MonitorsError> {
        if self.last_sweep.is_some_and(|last| last.elapsed() < SWEEP_INTERVAL) {
            return Ok(());
        }
        let now_ms = self.monitors.inner.store.now_ms();
        let has_more = self
            .monitors
            .with_store(move |store, config| store.sweep_monitors(&config.limits, now_ms))
            .await?;
        self.last_sweep = (!has_more).then(tokio::time::Instant::now);
        Ok(())
    }
}
