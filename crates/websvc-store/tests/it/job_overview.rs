//! Tests of the overview of jobs.

use websvc_store::{JobKind, JobLimits, JobState, NewJob};

use crate::fresh;
use crate::jobs::{create, job};

#[test]
fn recent_jobs_are_running_jobs_then_recently_ended_ones() {
    let (_folder, store) = fresh();
    create(&store, &job("old", &["a"]));
    create(&store, &job("done", &["a", "b"]));
    create(&store, &NewJob { team: "cup".to_owned(), kind: JobKind::Crawl, ..job("busy", &["a", "b", "c"]) });
    let limits = JobLimits::default();
    store.cancel_job("tea", JobKind::Batch, "old", &limits, 1_000).unwrap();
    store.cancel_job("tea", JobKind::Batch, "done", &limits, 9_000).unwrap();
    let found = store.recent_jobs(5_000, 10).unwrap();
    let seen =
        found.iter().map(|job| (job.id.as_str(), job.team.as_str(), job.state, job.open)).collect::<Vec<_>>();
    assert_eq!(seen, [("busy", "cup", JobState::Running, 3), ("done", "tea", JobState::Cancelled, 0)]);
    assert_eq!((found[0].kind, &found[0].urls[..1]), (JobKind::Crawl, &["http://a.test/a".to_owned()][..]));
    assert_eq!((found[0].finished_at_ms, found[1].finished_at_ms), (None, Some(9_000)));
    assert_eq!(store.recent_jobs(0, 2).unwrap().len(), 2, "at most two");
}
