//! The scheduler: starts the checks that are due.
//!
//! Its cost depends on the monitors that are due, not on their number: it reads those whose time has come, and waits for
//! the time of the next one. With several replicas, each reads all; the store lets one of them start a check. All
//! monitors are read only at the start and after the clock was set.

use std::convert::Infallible;
use std::time::Duration;

use jiff::Timestamp;
use websvc_store::{CheckStatus, CheckTrigger, Clock, MonitorRecord, StartCheckOutcome, WorkKind};
use websvc_tasks::TaskError;
use websvc_transport::MAX_RETRY_AFTER;

use crate::credits;
use crate::monitors::{Inner, Monitors, new_check, next_run_ms};
use crate::stored::StoredDefinition;
use crate::time::to_ms;

/// Number of due monitors that one access to the store reads.
const BATCH: u64 = 64;

/// Interval at which the store is read although nothing is due: other processes change monitors, and the clock of the
/// machine may be set.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Delay after a failure of the store.
const FAILURE_DELAY: Duration = Duration::from_secs(1);

/// How far a check that is brought forward is at least away: another replica, whose clock is a little ahead, may have
/// started the one before.
const MIN_WAIT: Duration = Duration::from_secs(60);

/// Starts due checks until it is dropped.
pub(crate) async fn schedule(monitors: Monitors) -> Infallible {
    // The clock may have been set before the start.
    let mut last_steps = None;
    let mut was_clock_set = false;
    loop {
        // All of a pass uses one time: a clock that is set during the pass is noticed by the next one.
        let clock = monitors.inner.store.clock();
        let steps = clock.steps();
        let now = clock.now();
        was_clock_set |= last_steps.replace(steps) != Some(steps);
        let pass = move |inner: &Inner| {
            if was_clock_set {
                bring_forward(inner, now)?;
            }
            start_due(inner, now)
        };
        match monitors.run_blocking(pass).await {
            Ok(wait) => {
                was_clock_set = false;
                tokio::select! {
                    () = monitors.inner.store.poll_for_work(WorkKind::Monitors, wait) => {}
                    () = clock_was_set(clock, steps) => {}
                    () = monitors.inner.schedule_wakeup.notified() => {}
                }
            }
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

/// Waits until the clock has made more steps than these.
async fn clock_was_set(clock: &Clock, steps: u64) {
    while clock.steps() == steps {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Brings the checks and messages forward that are due later than their schedules and delays say, because the clock was
/// ahead when they were stored. A clock that was behind leaves nothing to do: what is overdue starts now. Blocks.
fn bring_forward(inner: &Inner, now: Timestamp) -> Result<(), TaskError> {
    let max_delay = inner.config.messages.backoff.max.max(MAX_RETRY_AFTER);
    inner.store.bring_deliveries_forward(to_ms(now), max_delay)?;
    let after = now.checked_add(MIN_WAIT).unwrap_or(Timestamp::MAX);
    let (mut last, mut moved) = ((to_ms(after), i64::MAX), 0_u64);
    loop {
        let scheduled = inner.store.scheduled_monitors(last, BATCH)?;
        for record in &scheduled {
            let stored = StoredDefinition::decode(&record.definition);
            let next_ms = stored.and_then(|stored| next_run_ms(&stored.definition, after));
            if let (Some(next_ms), Some(due_ms)) = (next_ms, record.next_run_ms)
                && next_ms < due_ms
            {
                moved += u64::from(inner.store.bring_check_forward(record.number, due_ms, next_ms)?);
            }
        }
        match scheduled.last() {
            Some(record) if scheduled.len() as u64 == BATCH => {
                last = (record.next_run_ms.unwrap_or(u64::MAX), record.number);
            }
            _ => break,
        }
    }
    if moved > 0 {
        tracing::warn!(monitors = moved, "the clock was set back; the next checks were brought forward");
    }
    Ok(())
}

/// Starts the checks that are due, and returns the time until the next ones may be. Blocks.
fn start_due(inner: &Inner, now: Timestamp) -> Result<Duration, TaskError> {
    let now_ms = to_ms(now);
    let due = inner.store.due_monitors(now_ms, BATCH)?;
    for record in &due {
        start(inner, record, now)?;
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
fn start(inner: &Inner, record: &MonitorRecord, now: Timestamp) -> Result<(), TaskError> {
    let Some(stored) = StoredDefinition::decode(&record.definition) else {
        tracing::error!(
            monitor = record.id,
            "monitor has a definition of another version; its check is skipped"
        );
        return Ok(());
    };
    let next_run_ms = next_run_ms(&stored.definition, now);
    let check = new_check(inner, record, &stored, CheckTrigger::Scheduled, next_run_ms);
    match inner.store.start_check(&check, to_ms(now))? {
        StartCheckOutcome::Started(check) => {
            if let Some(remaining) =
                credits::shortage(inner, &record.team, record.key.as_ref(), stored.check_credits)?
            {
                credits::skip(inner, &check, remaining)?;
            }
        }
        StartCheckOutcome::Overlap { current } => {
            inner.metrics.ended.add(CheckStatus::SkippedOverlap, 1);
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
