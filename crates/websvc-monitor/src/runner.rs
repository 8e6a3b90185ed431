//! The work on checks, for the runner of durable tasks.

use std::time::Duration;

use tokio::sync::{Notify, watch};
use websvc_stage::RequestSpan;
use websvc_store::{CheckRecord, Store, WorkKind};
use websvc_tasks::{Active, TaskError, Work};
use websvc_transport::BoxFuture;

use crate::check;
use crate::monitors::Monitors;

impl Work for Monitors {
    type Task = CheckRecord;

    const NAME: &'static str = "monitor checks";
    const KIND: WorkKind = WorkKind::Checks;
    const POLL_INTERVAL: Duration = Duration::from_secs(2);
    const LISTS_OWNED: bool = true;

    fn store(&self) -> &Store {
        &self.inner.store
    }

    fn wakeup(&self) -> &Notify {
        &self.inner.check_wakeup
    }

    fn number(check: &CheckRecord) -> i64 {
        check.number
    }

    fn claim<'a>(
        &'a self,
        _active: &'a Active<CheckRecord>,
    ) -> BoxFuture<'a, Result<Vec<CheckRecord>, TaskError>> {
        let max = self.config().concurrency as u64;
        Box::pin(self.with_store(move |store, _| store.claim_checks(max)))
    }

    /// A check that this process no longer owns notices that itself, so it is not cancelled.
    fn start<'a>(
        &'a self,
        check: CheckRecord,
        active: &'a Active<CheckRecord>,
        _cancelled: watch::Receiver<bool>,
    ) -> BoxFuture<'a, Result<Option<BoxFuture<'static, ()>>, TaskError>> {
        Box::pin(async move {
            if active.len() >= self.config().concurrency {
                return Ok(None);
            }
            // Log lines of the check carry its identifier.
            let span = RequestSpan::new(&check.id, "monitor", None);
            let work: BoxFuture<'static, ()> = Box::pin(span.run(check::run(self.clone(), check)));
            Ok(Some(work))
        })
    }

    fn end_panicked<'a>(&'a self, check: &'a CheckRecord) -> BoxFuture<'a, Result<(), TaskError>> {
        Box::pin(check::fail(self, check, "an internal error ended the check".to_owned()))
    }

    fn sweep(&self) -> BoxFuture<'_, Result<bool, TaskError>> {
        Box::pin(self.with_store(|store, config| store.sweep_monitors(&config.limits, store.now_ms())))
    }
}
