//! Whose turn it is: teams one after the other, and the jobs of each one after the other.

use std::collections::{BTreeMap, VecDeque};

/// The jobs that run, in the order of their turns.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    /// The teams that have jobs, each once.
    teams: VecDeque<String>,
    /// The jobs of each, each once.
    jobs: BTreeMap<String, VecDeque<i64>>,
}

impl FairQueue {
    /// Takes in the jobs that run now; those that were there keep their places, and the others leave.
    pub(crate) fn sync(&mut self, running: &[(i64, String)]) {
        let is_running =
            |team: &str, job: i64| running.iter().any(|(number, of)| *number == job && of == team);
        for (team, jobs) in &mut self.jobs {
            jobs.retain(|job| is_running(team, *job));
        }
        for (number, team) in running {
            let jobs = self.jobs.entry(team.clone()).or_default();
            if !jobs.contains(number) {
                jobs.push_back(*number);
            }
            if !self.teams.contains(team) {
                self.teams.push_back(team.clone());
            }
        }
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.teams.retain(|team| self.jobs.contains_key(team));
    }

    /// Removes a job that ended.
    pub(crate) fn remove(&mut self, job: i64) {
        self.jobs.values_mut().for_each(|jobs| jobs.retain(|number| *number != job));
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.teams.retain(|team| self.jobs.contains_key(team));
    }

    /// Returns the jobs in the order in which they may try: first the job whose turn it is of every team, then the others.
    pub(crate) fn order(&self) -> Vec<i64> {
        let mut order = Vec::new();
        for round in 0.. {
            let jobs = self.teams.iter().filter_map(|team| self.jobs.get(team)?.get(round).copied());
            let before = order.len();
            order.extend(jobs);
            if order.len() == before {
                break;
            }
        }
        order
    }

    /// Notes that a job had its turn.
    pub(crate) fn record_served(&mut self, job: i64) {
        let Some((team, jobs)) = self.jobs.iter_mut().find(|(_, jobs)| jobs.contains(&job)) else { return };
        jobs.retain(|number| *number != job);
        jobs.push_back(job);
        self.teams.retain(|other| other != team);
        self.teams.push_back(team.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(running: &[(i64, &str)]) -> FairQueue {
        let mut turns = FairQueue::default();
        turns.sync(&owned(running));
        turns
    }

    fn owned(running: &[(i64, &str)]) -> Vec<(i64, String)> {
        running.iter().map(|(number, team)| (*number, (*team).to_owned())).collect()
    }

    /// Returns who gets so many turns, if everybody always wants one.
    fn taken(turns: &mut FairQueue, count: usize) -> Vec<i64> {
        let take = |_| {
            let job = turns.order()[0];
            turns.record_served(job);
            job
        };
        (0..count).map(take).collect()
    }

    #[test]
    fn a_team_with_many_jobs_gets_no_more_than_one_with_few() {
        let mut turns = turns(&[(1, "a"), (2, "a"), (3, "a"), (4, "b")]);
        assert_eq!(taken(&mut turns, 8), [1, 4, 2, 4, 3, 4, 1, 4]);
        assert_eq!(turns.order(), [2, 4, 3, 1]);
    }

    #[test]
    fn who_comes_waits_for_a_turn_and_who_goes_leaves_none() {
        let mut turns = turns(&[(1, "a"), (2, "b")]);
        assert_eq!(taken(&mut turns, 1), [1]);
        turns.sync(&owned(&[(1, "a"), (2, "b"), (3, "c")]));
        assert_eq!(taken(&mut turns, 3), [2, 1, 3]);
        turns.remove(1);
        assert_eq!(taken(&mut turns, 3), [2, 3, 2]);
        turns.sync(&[]);
        assert_eq!(turns.order(), [] as [i64; 0]);
    }
}
