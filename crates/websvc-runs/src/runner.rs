//! The work on runs, for the runner of durable tasks.

use std::time::Duration;

use tokio::sync::{Notify, watch};
use websvc_stage::RequestSpan;
use websvc_store::{OpenRun, RunKind, RunRecord, RunStatus, Store, WorkKind};
use websvc_tasks::{Active, TaskError, Work};
use websvc_transport::BoxFuture;

use crate::agent;
use crate::end::{Ending, add_session_ends, end, end_interrupted};
use crate::extract;
use crate::runs::Runs;
use crate::trace::Trace;

impl Work for Runs {
    type Task = OpenRun;

    const NAME: &'static str = "runs";
    const KIND: WorkKind = WorkKind::Runs;
    const POLL_INTERVAL: Duration = Duration::from_secs(1);
    const LISTS_OWNED: bool = true;

    fn store(&self) -> &Store {
        &self.inner.store
    }

    fn wakeup(&self) -> &Notify {
        &self.inner.wakeup
    }

    fn number(run: &OpenRun) -> i64 {
        run.number
    }

    fn is_cancelled(run: &OpenRun) -> bool {
        run.cancel_requested_at_ms.is_some()
    }

    fn claim<'a>(&'a self, _active: &'a Active<OpenRun>) -> BoxFuture<'a, Result<Vec<OpenRun>, TaskError>> {
        Box::pin(self.with_store(|store, _| store.claim_runs()))
    }

    fn start<'a>(
        &'a self,
        run: OpenRun,
        active: &'a Active<OpenRun>,
        cancelled: watch::Receiver<bool>,
    ) -> BoxFuture<'a, Result<Option<BoxFuture<'static, ()>>, TaskError>> {
        Box::pin(async move {
            let is_cancelled = Self::is_cancelled(&run);
            if run.status == RunStatus::Queued && !is_cancelled && !self.has_place(&run.team, active) {
                return Ok(None);
            }
            let Some(record) = self.unfinished(run.number).await? else { return Ok(None) };
            match record.status {
                RunStatus::Running => end_interrupted(self, &record).await?,
                RunStatus::Queued if is_cancelled => {
                    let trace = self.trace(&record);
                    end(self, &record, &trace, Ending::cancelled(), None).await?;
                }
                RunStatus::Queued => return Ok(Some(self.work(record, cancelled))),
                RunStatus::Succeeded
                | RunStatus::Failed
                | RunStatus::Cancelled
                | RunStatus::Refused
                | RunStatus::CreditLimitReached => {}
            }
            Ok(None)
        })
    }

    fn end_panicked<'a>(&'a self, run: &'a OpenRun) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(async move {
            let Some(record) = self.unfinished(run.number).await? else { return Ok(()) };
            let trace = self.trace(&record);
            let events = self.events(record.number).await?;
            add_session_ends(self, &events, &trace).await?;
            let ending = Ending::failed("failed", "an internal error ended the run");
            end(self, &record, &trace, ending, None).await
        })
    }

    fn sweep(&self) -> BoxFuture<'_, Result<bool, TaskError>> {
        Box::pin(self.with_store(|store, config| store.sweep_runs(&config.limits, store.now_ms())))
    }
}

impl Runs {
    async fn unfinished(&self, run: i64) -> Result<Option<RunRecord>, TaskError> {
        self.with_store(move |store, _| store.unfinished_run(run)).await
    }

    fn trace(&self, record: &RunRecord) -> Trace {
        Trace::new(&record.id, record.events, self.inner.store.clock())
    }

    /// Returns whether a run of a team may begin.
    fn has_place(&self, team: &str, active: &Active<OpenRun>) -> bool {
        let config = self.config();
        active.len() < config.concurrency && active.count(|run| run.team == team) < config.per_team
    }

    /// Returns the work on a queued run. Its log lines carry the identifier of the run.
    fn work(&self, record: RunRecord, cancelled: watch::Receiver<bool>) -> BoxFuture<'static, ()> {
        let span = RequestSpan::new(&record.id, record.kind.as_str(), None);
        let runs = self.clone();
        match record.kind {
            RunKind::Agent => Box::pin(span.run(agent::run(runs, record, cancelled))),
            RunKind::Extract => Box::pin(span.run(extract::run(runs, record, cancelled))),
        }
    }
}
