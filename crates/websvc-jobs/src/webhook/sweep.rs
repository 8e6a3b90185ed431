//! Events that nobody waits for any more.

use crate::jobs::{Jobs, JobsError, now_ms};

/// Drops the events that waited when their jobs were cancelled, and makes dead letters of those that waited for too long.
///
/// # Errors
/// [`JobsError`]
pub(super) async fn sweep(jobs: &Jobs) -> Result<(), JobsError> {
    let mut died = 0;
    loop {
        let swept =
            jobs.with_store(|store, config| store.sweep_webhooks(config.webhooks.keep, now_ms())).await?;
        died += swept.died;
        jobs.inner.deliveries.record_expired(swept.died);
        if !swept.may_be_more() {
            break;
        }
    }
    if died > 0 {
        tracing::warn!(events = died, "events waited for too long, they are dead letters now");
    }
    Ok(())
}
