//! The runner: works on the runs of this process, several at the same time.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use websvc_stage::RequestSpan;
use websvc_store::{OpenRun, RunKind, RunRecord, RunStatus};

use crate::agent;
use crate::end::{Ending, add_session_ends, end, end_interrupted};
use crate::error::RunsError;
use crate::extract;
use crate::runs::Runs;
use crate::trace::Trace;

/// Interval at which the store is read for requests to other processes, for runs of lost replicas, and for old ones.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Interval at which old runs are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// State of the runner.
struct Runner {
    runs: Runs,
    tasks: JoinSet<()>,
    /// The runs in progress, by the number of the run.
    active: HashMap<i64, ActiveRun>,
    /// Runs whose work panicked, to be ended.
    panicked: HashSet<i64>,
    last_sweep: Option<tokio::time::Instant>,
}

/// A run in progress.
struct ActiveRun {
    team: String,
    cancel: watch::Sender<bool>,
    task: AbortHandle,
}

/// Works on runs until it is dropped.
pub(crate) async fn run(runs: Runs) -> Infallible {
    let mut runner = Runner {
        runs,
        tasks: JoinSet::new(),
        active: HashMap::new(),
        panicked: HashSet::new(),
        last_sweep: None,
    };
    loop {
        if let Err(error) = runner.step().await {
            tracing::error!(error = &error as &dyn std::error::Error, "runs failed; retrying");
            tokio::time::sleep(FAILURE_DELAY).await;
        }
    }
}

impl Runner {
    /// Begins the work on new runs, then waits for one event.
    async fn step(&mut self) -> Result<(), RunsError> {
        self.sweep().await?;
        let owned = self.runs.with_store(|store, _| store.claim_runs()).await?;
        self.cancel_lost(&owned);
        for run in owned {
            let id = run.id.clone();
            // A run that cannot be ended must not delay the others.
            if let Err(error) = self.sync(run).await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    id,
                    "a run could not be ended; retrying"
                );
            }
        }
        tokio::select! {
            Some(result) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.forget(result),
            () = self.runs.inner.wakeup.notified() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
        Ok(())
    }

    /// Cancels the work on runs that this process no longer owns. Their end is not stored.
    fn cancel_lost(&self, owned: &[OpenRun]) {
        let owned: HashSet<i64> = owned.iter().map(|run| run.number).collect();
        for (_, run) in self.active.iter().filter(|(number, _)| !owned.contains(number)) {
            run.cancel.send_replace(true);
        }
    }

    /// Brings the work on a run that this process owns in line with its row.
    async fn sync(&mut self, run: OpenRun) -> Result<(), RunsError> {
        let OpenRun { number, id: _, team, status, cancel_requested_at_ms } = run;
        let is_cancelled = cancel_requested_at_ms.is_some();
        if let Some(active) = self.active.get(&number) {
            if is_cancelled {
                active.cancel.send_replace(true);
            }
            return Ok(());
        }
        let waits = status == RunStatus::Queued && !is_cancelled && !self.has_place(&team);
        if waits {
            return Ok(());
        }
        let Some(record) = self.runs.with_store(move |store, _| store.unfinished_run(number)).await? else {
            return Ok(());
        };
        match record.status {
            RunStatus::Running if self.panicked.remove(&number) => {
                let trace = Trace::new(&record.id, record.events, self.runs.inner.store.clock());
                let events = self.runs.events(record.number).await?;
                add_session_ends(&self.runs, &events, &trace).await?;
                let ending = Ending::failed("failed", "an internal error ended the run");
                end(&self.runs, &record, &trace, ending, None).await
            }
            RunStatus::Running => end_interrupted(&self.runs, &record).await,
            RunStatus::Queued if is_cancelled => {
                let trace = Trace::new(&record.id, record.events, self.runs.inner.store.clock());
                end(&self.runs, &record, &trace, Ending::cancelled(), None).await
            }
            RunStatus::Queued => {
                self.begin(record);
                Ok(())
            }
            RunStatus::Succeeded
            | RunStatus::Failed
            | RunStatus::Cancelled
            | RunStatus::Refused
            | RunStatus::CreditLimitReached => Ok(()),
        }
    }

    /// Returns whether a run of a team may begin.
    fn has_place(&self, team: &str) -> bool {
        let config = self.runs.config();
        let of_team = self.active.values().filter(|run| run.team == team).count();
        self.active.len() < config.concurrency && of_team < config.per_team
    }

    fn begin(&mut self, record: RunRecord) {
        let (cancel, cancelled) = watch::channel(false);
        let (number, team) = (record.number, record.team.clone());
        // Log lines of the run carry its identifier.
        let span = RequestSpan::new(&record.id, record.kind.as_str(), None);
        let runs = self.runs.clone();
        let task = match record.kind {
            RunKind::Agent => self.tasks.spawn(span.run(agent::run(runs, record, cancelled))),
            RunKind::Extract => self.tasks.spawn(span.run(extract::run(runs, record, cancelled))),
        };
        self.active.insert(number, ActiveRun { team, cancel, task });
    }

    /// Forgets a run whose task ended.
    fn forget(&mut self, result: Result<(Id, ()), JoinError>) {
        let id = match result {
            Ok((id, ())) => id,
            Err(error) => {
                if error.is_panic() {
                    tracing::error!(error = &error as &dyn std::error::Error, "the work on a run panicked");
                    let panicked = self.active.iter().filter(|(_, run)| run.task.id() == error.id());
                    self.panicked.extend(panicked.map(|(number, _)| *number));
                }
                error.id()
            }
        };
        self.active.retain(|_, run| run.task.id() != id);
    }

    async fn sweep(&mut self) -> Result<(), RunsError> {
        if self.last_sweep.is_some_and(|last| last.elapsed() < SWEEP_INTERVAL) {
            return Ok(());
        }
        let has_more =
            self.runs.with_store(|store, config| store.sweep_runs(&config.limits, store.now_ms())).await?;
        self.last_sweep = (!has_more).then(tokio::time::Instant::now);
        Ok(())
    }
}
