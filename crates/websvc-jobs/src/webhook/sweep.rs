//! Removal of events that are no longer delivered.

use websvc_tasks::TaskError;

use crate::jobs::Jobs;

/// Drops the pending events of cancelled jobs, and makes dead letters of events that were pending for too long.
///
/// # Errors
/// [`TaskError`]
pub(super) async fn sweep(jobs: &Jobs) -> Result<(), TaskError> {
    let mut expired = 0;
    loop {
        let report = jobs
            .with_store(|store, config| store.sweep_webhooks(config.webhooks.retention, store.now_ms()))
            .await?;
        expired += report.expired;
        jobs.inner.webhook_metrics.dead_letters.add(report.expired);
        if !report.has_more() {
            break;
        }
    }
    if expired > 0 {
        tracing::warn!(events = expired, "webhook events expired before delivery; they are dead letters now");
    }
    Ok(())
}
