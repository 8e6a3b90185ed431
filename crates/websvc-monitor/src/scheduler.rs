//! The scheduler: starts the checks that are due.
//!
//! Its cost depends on the monitors that are due, not on their number: it reads those whose time has come, and waits for
//! the time of the next one. With several replicas, each reads all; the store lets one of them start a check.

use std::convert::Infallible;
use std::time::Duration;

use websvc_store::{CheckStatus, CheckTrigger, MonitorRecord, StartCheckOutcome};

use crate::credits;
use crate::error::MonitorsError;
use crate::monitors::{Inner, Monitors, new_check, next_run_ms};
use crate::stored::StoredDefinition;

/// Number of due monitors that one access to the store reads.
const BATCH: u64 = 64;

/// Interval at which the store is read although nothing is due: other processes change monitors, and the clock of the
/// machine may be set.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// Starts due checks until it is dropped.
pub(crate) async fn schedule(monitors: Monitors) -> Infallible {
    loop {
        match monitors.run_blocking(start_due).await {
            Ok(wait) => tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = monitors.inner.schedule_wakeup.notified() => {}
            },
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "monitor scheduler failed; retrying"
                );
                tokio::time::sleep(FAILURE_DELAY).await;
            }
        }
    }
}

/// Starts the checks that are due, and returns the time until the next ones may be. Blocks.
fn start_due(inner: &Inner) -> Result<Duration, MonitorsError> {
    let now_ms = inner.config.clock.now_ms();
    let due = inner.store.due_monitors(now_ms, BATCH)?;
    for record in &due {
        start(inner, record)?;
    }
    if !due.is_empty() {
        inner.check_wakeup.notify_one();
    }
    if due.len() as u64 == BATCH {
        return Ok(Duration::ZERO);
    }
    let next_ms = inner.store.next_monitor_due_ms(now_ms)?;
    let wait = next_ms.map(|next_ms| Duration::from_millis(next_ms.saturating_sub(now_ms).max(1)));
    Ok(wait.unwrap_or(POLL_INTERVAL).min(POLL_INTERVAL))
}

/// Starts the check of a monitor that is due. If the service was down for several times of its schedule, this is the
/// only check for them.
fn start(inner: &Inner, record: &MonitorRecord) -> Result<(), MonitorsError> {
    let now = inner.config.clock.now();
    let Some(stored) = StoredDefinition::decode(&record.definition) else {
        tracing::error!(
            monitor = record.id,
            "monitor has a definition of another version; its check is skipped"
        );
        return Ok(());
    };
    let next_run_ms = next_run_ms(&stored.definition, now);
    let check = new_check(inner, record, &stored, CheckTrigger::Scheduled, next_run_ms);
    match inner.store.start_check(&check, inner.config.clock.now_ms())? {
        StartCheckOutcome::Started(check) => {
            if let Some(remaining) =
                credits::shortage(inner, &record.team, record.key.is_none(), stored.check_credits)?
            {
                credits::skip(inner, &check, remaining)?;
            }
        }
        StartCheckOutcome::Overlap { current } => {
            inner.counters.record_end(CheckStatus::SkippedOverlap);
            tracing::info!(
                monitor = record.id,
                check = current,
                "check skipped, because another one is running"
            );
        }
        // Changed meanwhile, or started by another replica.
        StartCheckOutcome::Paused | StartCheckOutcome::NotFound => {}
    }
    Ok(())
}
