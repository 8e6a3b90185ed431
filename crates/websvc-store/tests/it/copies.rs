//! URLs that the list of a batch names again: they wait for the page that they repeat, and end as it did.

use std::time::Duration;

use websvc_store::{CompletionOutcome, JobLimits, JobState, JobUrl, ListEntry, UrlOutcome};

use crate::jobs::{create, document, finish, job, names, url};
use crate::{fresh, sqlite};

const LIFE: Duration = Duration::from_secs(60);

fn entry(name: &str, index: u64) -> JobUrl {
    JobUrl { entry: Some(ListEntry { given: format!("a.test/{name}"), index }), ..url(name) }
}

#[test]
fn copy_waits_for_its_original_and_ends_as_it_did() {
    let (_dir, store) = fresh();
    let mut new = job("one", &[]);
    new.urls = vec![entry("a", 0), entry("a", 1), entry("b", 2), entry("b", 4)];
    let number = create(&store, &new);
    let leases = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    assert_eq!(names(&leases), ["a", "b"]);
    assert!(leases.iter().all(|lease| !lease.is_copy() && store.end_of_original(lease).unwrap().is_none()));
    assert!(store.lease_job_urls(number, 9, 0, LIFE).unwrap().is_empty(), "the originals are under way");

    // One that is to be tried again is still under way.
    assert!(store.retry_job_url(&leases[0]).unwrap());
    let again = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    assert_eq!(names(&again), ["a"]);

    finish(&store, &again[0], document("page a"));
    let failure = UrlOutcome::Failed { code: "C".to_owned(), error: "e".to_owned() };
    finish(&store, &leases[1], failure.clone());
    let copies = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    let ends = [document("page a"), failure];
    for ((copy, end), index) in copies.iter().zip(&ends).zip([1, 4]) {
        assert_eq!(copy.url.entry.as_ref().unwrap().index, index);
        assert_eq!(store.end_of_original(copy).unwrap().as_ref(), Some(end));
        finish(&store, copy, end.clone());
    }
    assert_eq!(copies.len(), 2);
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.state, record.urls, record.documents), (JobState::Completed, 4, 2));
    let errors = store.job_errors(number, 9).unwrap();
    assert_eq!(errors.iter().map(|error| error.url.as_str()).collect::<Vec<_>>(), ["a.test/b", "a.test/b"]);
}

#[test]
fn copies_survive_the_end_of_the_process_and_are_added_to_pages_that_are_done() {
    let (_dir, store) = fresh();
    let mut new = job("one", &[]);
    new.urls = vec![entry("a", 0), entry("a", 1), entry("b", 2)];
    // A fourth is no URL.
    new.listed = 4;
    let number = create(&store, &new);
    let leases = store.lease_job_urls(number, 1, 0, LIFE).unwrap();
    finish(&store, &leases[0], document("page a"));
    // Lent to a process that dies.
    assert_eq!(store.lease_job_urls(number, 1, 0, LIFE).unwrap().len(), 1);
    store.end_job_leases().unwrap();

    let limits = JobLimits::default();
    let added = store.extend_job("tea", "one", &[entry("a", 0), entry("c", 1)], 2, &limits, 0).unwrap();
    assert_eq!(added, Some(2));
    let leases = store.lease_job_urls(number, 9, 0, LIFE).unwrap();
    let indexes = leases.iter().map(|lease| (lease.is_copy(), lease.url.entry.as_ref().unwrap().index));
    assert_eq!(indexes.collect::<Vec<_>>(), [(true, 1), (false, 2), (true, 4), (false, 5)]);
    let ended: Vec<_> = leases.iter().map(|lease| finish(&store, lease, document("x"))).collect();
    assert!(matches!(ended[3], CompletionOutcome::Recorded { state: JobState::Completed, .. }), "{ended:?}");
    assert_eq!(store.job_by_number(number).unwrap().unwrap().documents, 5);
}

#[test]
fn copies_count_for_the_bound_of_urls() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("one", &["a"]));
    let limits = JobLimits { urls: 3, ..JobLimits::default() };
    let more = [entry("a", 0), entry("a", 1), entry("a", 2)];
    assert_eq!(store.extend_job("tea", "one", &more, 3, &limits, 0).unwrap(), Some(2));
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.urls, record.left_out), (3, 1));
}

#[test]
fn lease_does_not_pass_over_copies_that_wait() {
    let (dir, store) = fresh();
    let mut new = job("one", &[]);
    new.urls = (0..1_000).map(|index| entry("a", index)).chain([entry("b", 1_000)]).collect();
    let number = create(&store, &new);
    assert_eq!(names(&store.lease_job_urls(number, 9, 0, LIFE).unwrap()), ["a", "b"]);
    let plan: Vec<String> = sqlite(dir.path())
        .prepare(
            "EXPLAIN QUERY PLAN SELECT place FROM job_urls WHERE job = 1 AND state IN ('waiting', 'leased') \
             AND (state = 'waiting' OR lease_until <= 1) AND waits_for IS NULL ORDER BY place LIMIT 9",
        )
        .unwrap()
        .query_map([], |row| row.get(3))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(plan, ["SEARCH job_urls USING INDEX job_urls_open (job=? AND waits_for=?)"]);
}
