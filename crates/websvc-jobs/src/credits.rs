//! Credits that are held while a page is worked on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use websvc_store::{CreditHold, HoldOutcome, Team};

use crate::active::{JobContext, JobStartError, is_anonymous, team};
use crate::jobs::{Inner, Jobs, JobsError};
use crate::page::PageDisposition;

/// For so long a team is taken for what it was, so that not every page asks the store.
const TEAM_LIFE: Duration = Duration::from_millis(500);

/// A team as it was a moment ago.
#[derive(Debug, Default)]
pub(crate) struct TeamCache(Mutex<Option<(Instant, Arc<Team>)>>);

impl TeamCache {
    /// Returns the team, unless it was read too long ago.
    pub(crate) fn read(&self) -> Option<Arc<Team>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, team) = known.as_ref().filter(|(at, _)| at.elapsed() < TEAM_LIFE)?;
        Some(Arc::clone(team))
    }

    /// Notes that the team is this now.
    pub(crate) fn set(&self, team: &Arc<Team>) {
        let now = (Instant::now(), Arc::clone(team));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }
}

/// Holds the most that a page may cost; or says how the work on it ends without.
pub(crate) async fn hold(
    jobs: &Jobs,
    work: &Arc<JobContext>,
) -> Result<Result<CreditHold, PageDisposition>, JobsError> {
    if is_anonymous(&work.record) {
        return Ok(Ok(jobs.inner.store.hold_unlimited(&work.record.team)));
    }
    let most = jobs.inner.engine.max_page_credits(&work.plan);
    if let Some(team) = work.team.read()
        && let Some(HoldOutcome::Granted(hold)) = jobs.inner.store.try_hold(&team, most)?
    {
        return Ok(Ok(hold));
    }
    let work = Arc::clone(work);
    jobs.blocking(move |inner| hold_within(inner, &work, most)).await
}

/// Holds credits by the team as it is now. Blocks.
fn hold_within(
    inner: &Inner,
    work: &JobContext,
    most: u64,
) -> Result<Result<CreditHold, PageDisposition>, JobsError> {
    let team = match team(inner, &work.record) {
        Ok(Some(team)) => Arc::new(team),
        Ok(None) => return Ok(Ok(inner.store.hold_unlimited(&work.record.team))),
        Err(JobStartError::Refused(reason) | JobStartError::Exhausted(reason)) => {
            return Ok(Err(PageDisposition::FailJob(reason)));
        }
        Err(JobStartError::Store(error)) => return Err(error.into()),
    };
    work.team.set(&team);
    let mut is_last = false;
    loop {
        let remaining = match inner.store.hold(&team, most)? {
            HoldOutcome::Granted(hold) => return Ok(Ok(hold)),
            HoldOutcome::Insufficient { remaining } => remaining,
        };
        let reason = format!(
            "Insufficient credits: a page may cost up to {most} credits, and the team has {remaining} left"
        );
        // What others hold may come back.
        if inner.store.requests_in_work(&team.name) > 0 {
            return Ok(Err(PageDisposition::InsufficientCredits(reason)));
        }
        // Or it came back meanwhile.
        if is_last {
            return Ok(Err(PageDisposition::FailJob(reason)));
        }
        is_last = true;
    }
}
