//! The completion of a page: its outcome is stored, and those that wait for it are notified.

use websvc_store::{CompletionOutcome, JobKind, UrlCompletion};
use websvc_tasks::TaskError;

use super::PageDisposition;
use crate::jobs::{Inner, Jobs};

/// Stores the outcome of a page.
pub(super) async fn complete(
    jobs: &Jobs,
    kind: JobKind,
    completion: UrlCompletion,
) -> Result<PageDisposition, TaskError> {
    let job = completion.lease.job();
    let completed = jobs.run_blocking(move |inner| write(inner, completion)).await?;
    Ok(notify_watchers(jobs, kind, job, completed))
}

/// Writes the completion of a page. Blocks.
pub(super) fn write(inner: &Inner, completion: UrlCompletion) -> Result<CompletionOutcome, TaskError> {
    if let Some((hold, usage)) = &completion.charge
        && !hold.covers(usage.price())
        && let Err(error) = hold.extend(usage.price())
    {
        // The page is charged up to the credits that are held.
        tracing::error!(error = &error as &dyn std::error::Error, "credit lease could not be extended");
    }
    let completion = completion.compress();
    // A file has one transaction at a time, so the completions of all jobs share it.
    let key = if inner.store.is_shared() { completion.job() } else { 0 };
    inner.completions.write(key, completion, |completions| {
        inner.store.complete_job_urls(completions, &inner.config.limits, inner.store.now_ms())
    })
}

/// Notifies the watchers of a job, and the webhook scheduler, that a page ended.
pub(super) fn notify_watchers(
    jobs: &Jobs,
    kind: JobKind,
    job: i64,
    completed: CompletionOutcome,
) -> PageDisposition {
    match completed {
        CompletionOutcome::Recorded { state, charged, has_event } => {
            jobs.inner.charged.add(kind, charged);
            jobs.inner.watchers.notify(job);
            if has_event {
                jobs.inner.webhook_wakeup.notify_one();
            }
            PageDisposition::Recorded(state)
        }
        CompletionOutcome::LeaseLost => PageDisposition::LeaseReturned,
    }
}
