//! The limit of concurrent pages of a team.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use websvc_store::TeamShare;

use crate::active::{JobContext, NextStep};
use crate::jobs::Jobs;

/// Time after which the other replicas know that they share the limit of a team with one that begins to help.
const SHARE_DELAY: Duration = Duration::from_millis(2_500);

/// The limit for the team of a job in this process, and its pages in flight.
#[derive(Debug)]
pub(super) struct TeamLimit {
    /// `None` if the team has no limit.
    max: Option<usize>,
    in_flight: u64,
}

impl TeamLimit {
    /// Returns the limit for the team of a job, of which this replica has a share.
    pub(super) fn new(jobs: &Jobs, context: &JobContext, shares: &HashMap<String, TeamShare>) -> Self {
        let team = context.record.team.as_str();
        let share = shares.get(team).copied().unwrap_or_default();
        let max = context.team_concurrency(jobs.config(), share);
        Self { max, in_flight: jobs.inner.in_flight.count(Some(team)) }
    }

    /// Returns the step of a job that has to wait for other pages of the team, or, since this replica helps with it, for the
    /// others.
    pub(super) fn step(&self, helps_since: Option<Instant>, now: Instant) -> Option<NextStep> {
        let max = self.max?;
        if let Some(at) = helps_since.map(|since| since + SHARE_DELAY).filter(|at| *at > now) {
            return Some(NextStep::At(at));
        }
        (self.in_flight >= max as u64).then_some(NextStep::Later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn team_waits_for_its_pages_and_a_helper_for_the_others() {
        let (now, limit) = (Instant::now(), |max, in_flight| TeamLimit { max, in_flight });
        assert!(limit(None, 99).step(Some(now), now).is_none());
        assert!(limit(Some(2), 1).step(None, now).is_none());
        assert!(matches!(limit(Some(2), 2).step(None, now), Some(NextStep::Later)));
        assert!(matches!(limit(Some(2), 0).step(Some(now), now), Some(NextStep::At(_))));
        assert!(limit(Some(2), 0).step(Some(now), now + SHARE_DELAY).is_none());
    }
}
