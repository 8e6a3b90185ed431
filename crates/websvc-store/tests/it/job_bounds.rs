//! The bounds of one job, and of all together.

use websvc_store::{Creating, JobKind, JobLease, JobLimits, JobState, PageFinish, PageFinished};

use crate::credits::{enough, give, usage};
use crate::jobs::{DAY_MS, LIFE, create, document, finish, free, job, url};
use crate::{fresh, sqlite};

#[test]
fn bounds_are_kept() {
    let (_dir, store) = fresh();
    let limits = JobLimits { urls: 2, bytes: 3, running: 1, kept: 2, ..JobLimits::default() };
    let start = |id: &str, names: &[&str]| store.create_job(&job(id, names), &limits, 0).unwrap();
    assert_eq!(start("j", &["a", "b", "c"]), Creating::TooManyUrls);
    assert_eq!(start("j", &["a", "b"]), Creating::Created { urls: 2 });
    assert_eq!(start("k", &["a"]), Creating::TooManyRunning);
    assert_eq!(store.extend_job("tea", "j", &[url("c")], &limits, 0).unwrap(), Some(0));
    let number = store.job("tea", JobKind::Batch, "j", 0).unwrap().unwrap().number;
    assert_eq!(store.job_by_number(number).unwrap().unwrap().left_out, 1);
    let lease = store.lease_job_urls(number, 1, 0, LIFE).unwrap().remove(0);
    let large =
        PageFinish { lease, end: document("1234"), aliases: Vec::new(), found: Vec::new(), charge: None };
    assert_eq!(store.finish_job_url(large, &limits, 0).unwrap(), free(JobState::Failed));
    assert_eq!(start("k", &["a"]), Creating::Created { urls: 1 });
    store.cancel_job("tea", JobKind::Batch, "k", &limits, 0).unwrap();
    assert_eq!(start("l", &["a"]), Creating::TooManyKept);
}

#[test]
fn the_documents_of_all_jobs_have_a_bound_of_their_own() {
    let (dir, store) = fresh();
    let stored = || -> u64 {
        let [counted, summed] =
            ["SELECT bytes FROM job_storage", "SELECT ifnull(sum(length(document)), 0) FROM job_documents"]
                .map(|sql| sqlite(dir.path()).query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap());
        assert_eq!(counted, summed);
        counted
    };
    let team = give(&store, "tea", Some(10));
    let number = create(&store, &job("j", &["a", "b", "c"]));
    let leases = store.lease_job_urls(number, 3, 0, LIFE).unwrap();
    finish(&store, &leases[0], document("12345"));
    let one = stored();
    assert!(one > 0);
    let limits = JobLimits { total_bytes: 2 * one, ..JobLimits::default() };
    let end = |lease: &JobLease, text: &str| {
        let charge = Some((enough(&store, &team, 5), usage(5)));
        let (aliases, found) = (Vec::new(), Vec::new());
        let page = PageFinish { lease: lease.clone(), end: document(text), aliases, found, charge };
        store.finish_job_url(page, &limits, 0).unwrap()
    };
    assert_eq!(end(&leases[1], "12345"), PageFinished::Noted { state: JobState::Running, charged: 5 });
    assert_eq!(store.create_job(&job("k", &["a"]), &limits, 0).unwrap(), Creating::NoRoom);
    assert_eq!(end(&leases[2], "1"), free(JobState::Failed), "what finds no room costs nothing");
    let record = store.job_by_number(number).unwrap().unwrap();
    assert!(record.error.unwrap().contains(&limits.total_bytes.to_string()));
    assert_eq!((stored(), record.documents), (2 * one, 2), "what was there stays");
    while store.sweep_jobs(&limits, 3 * DAY_MS).unwrap() {}
    assert_eq!(stored(), 0);
    assert_eq!(store.create_job(&job("k", &["a"]), &limits, 0).unwrap(), Creating::Created { urls: 1 });
}
