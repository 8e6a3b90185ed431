//! Credit holds of the pages of jobs.

use std::sync::Arc;

use websvc_store::{CreditHold, HoldOutcome};
use websvc_tasks::{TaskError, is_anonymous};
use websvc_types::counted;

use super::PageDisposition;
use crate::active::{JobContext, JobStartError, team};
use crate::jobs::{Inner, Jobs};

/// Holds the maximum price of a page. Returns the disposition of the page if the credits do not suffice.
pub(crate) async fn hold(
    jobs: &Jobs,
    context: &Arc<JobContext>,
) -> Result<Result<CreditHold, PageDisposition>, TaskError> {
    if is_anonymous(&context.record.team, context.record.key.as_ref()) {
        return Ok(Ok(jobs.inner.store.hold_unlimited(&context.record.team)));
    }
    let max = jobs.inner.engine.max_page_credits(&context.plan);
    if let Some(team) = context.team.get()
        && let Some(HoldOutcome::Granted(hold)) = jobs.inner.store.try_hold(&team, max)?
    {
        return Ok(Ok(hold));
    }
    let context = Arc::clone(context);
    jobs.run_blocking(move |inner| hold_blocking(inner, &context, max)).await
}

/// Holds credits of the team as it is in the store. Blocks.
fn hold_blocking(
    inner: &Inner,
    context: &JobContext,
    max: u64,
) -> Result<Result<CreditHold, PageDisposition>, TaskError> {
    let team = match team(inner, &context.record) {
        Ok(Some(team)) => Arc::new(team),
        Ok(None) => return Ok(Ok(inner.store.hold_unlimited(&context.record.team))),
        Err(JobStartError::Refused(reason) | JobStartError::Exhausted(reason)) => {
            return Ok(Err(PageDisposition::FailJob(reason)));
        }
        Err(JobStartError::Store(error)) => return Err(error.into()),
    };
    context.team.set(&team);
    let mut is_last_attempt = false;
    loop {
        let remaining = match inner.store.hold(&team, max)? {
            HoldOutcome::Granted(hold) => return Ok(Ok(hold)),
            HoldOutcome::Insufficient { remaining } => remaining,
        };
        let reason = format!(
            "Insufficient credits: a page may cost up to {}, and the team has {remaining} left",
            counted(max, "credit", "credits")
        );
        // Other requests and processes may still release credits that they hold.
        if inner.store.may_release_credits(&team.name)? {
            return Ok(Err(PageDisposition::InsufficientCredits(reason)));
        }
        // The last of them may have ended between the two calls: try once more.
        if is_last_attempt {
            return Ok(Err(PageDisposition::FailJob(reason)));
        }
        is_last_attempt = true;
    }
}
