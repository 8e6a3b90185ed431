//! Round robin between teams, and between the jobs of each team.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// The running jobs in their fair order.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    /// The teams that have jobs, each once.
    teams: VecDeque<String>,
    /// The jobs of each team, each once.
    jobs: BTreeMap<String, VecDeque<i64>>,
}

impl FairQueue {
    /// Replaces the set of running jobs. Jobs that were in the queue keep their positions.
    pub(crate) fn sync(&mut self, running: &[(i64, String)]) {
        let owners: HashMap<i64, &str> =
            running.iter().map(|(number, team)| (*number, team.as_str())).collect();
        let mut queued = HashSet::new();
        for (team, jobs) in &mut self.jobs {
            jobs.retain(|job| owners.get(job) == Some(&team.as_str()));
            queued.extend(jobs.iter().copied());
        }
        for (number, team) in running.iter().filter(|(number, _)| !queued.contains(number)) {
            let is_known = self.teams.contains(team);
            self.jobs.entry(team.clone()).or_default().push_back(*number);
            if !is_known {
                self.teams.push_back(team.clone());
            }
        }
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.teams.retain(|team| self.jobs.contains_key(team));
    }

    pub(crate) fn contains(&self, job: i64) -> bool {
        self.jobs.values().any(|jobs| jobs.contains(&job))
    }

    /// Removes a job that ended.
    pub(crate) fn remove(&mut self, job: i64) {
        self.jobs.values_mut().for_each(|jobs| jobs.retain(|number| *number != job));
        self.jobs.retain(|_, jobs| !jobs.is_empty());
        self.teams.retain(|team| self.jobs.contains_key(team));
    }

    /// Returns the jobs in the order in which they may start work: the first job of every team, then the second ones,
    /// and so on.
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

    /// Moves a job behind the others of its team, and its team behind the others, because the job was served.
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

    fn queue(running: &[(i64, &str)]) -> FairQueue {
        let mut queue = FairQueue::default();
        queue.sync(&owned(running));
        queue
    }

    fn owned(running: &[(i64, &str)]) -> Vec<(i64, String)> {
        running.iter().map(|(number, team)| (*number, (*team).to_owned())).collect()
    }

    /// Serves the first job of the queue `count` times, and returns the jobs that were served.
    fn serve(queue: &mut FairQueue, count: usize) -> Vec<i64> {
        let serve = |_| {
            let job = queue.order()[0];
            queue.record_served(job);
            job
        };
        (0..count).map(serve).collect()
    }

    #[test]
    fn team_with_many_jobs_is_served_as_often_as_team_with_one() {
        let mut queue = queue(&[(1, "a"), (2, "a"), (3, "a"), (4, "b")]);
        assert_eq!(serve(&mut queue, 8), [1, 4, 2, 4, 3, 4, 1, 4]);
        assert_eq!(queue.order(), [2, 4, 3, 1]);
    }

    #[test]
    fn new_jobs_are_appended_and_ended_jobs_removed() {
        let mut queue = queue(&[(1, "a"), (2, "b")]);
        assert_eq!(serve(&mut queue, 1), [1]);
        queue.sync(&owned(&[(1, "a"), (2, "b"), (3, "c")]));
        assert_eq!(serve(&mut queue, 3), [2, 1, 3]);
        assert!(queue.contains(1));
        queue.remove(1);
        assert!(!queue.contains(1));
        assert_eq!(serve(&mut queue, 3), [2, 3, 2]);
        queue.sync(&[]);
        assert_eq!(queue.order(), [] as [i64; 0]);
    }
}
