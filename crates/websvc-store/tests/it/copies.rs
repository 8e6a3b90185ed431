//! Tests of repeated URLs in the list of a batch, which wait for the original and have its outcome.

use websvc_store::{CompletionOutcome, JobLimits, JobState, JobUrl, ListEntry, UrlOutcome};

use crate::jobs::{complete, create, document, job, lease_urls, names, url};
use crate::{fresh, fresh_file, sqlite};

fn entry(name: &str, index: u64) -> JobUrl {
    JobUrl { entry: Some(ListEntry { original_url: format!("a.test/{name}"), index }), ..url(name) }
}

#[test]
fn copy_waits_for_its_original_and_has_its_outcome() {
    let (_dir, store) = fresh();
    let mut new = job("one", &[]);
    new.urls = vec![entry("a", 0), entry("a", 1), entry("b", 2), entry("b", 4)];
    let number = create(&store, &new);
    let leases = lease_urls(&store, number, 9);
    assert_eq!(names(&leases), ["a", "b"]);
    assert!(leases.iter().all(|lease| !lease.is_copy() && store.original_outcome(lease).unwrap().is_none()));
    assert!(lease_urls(&store, number, 9).is_empty(), "the originals are in flight");

    // An original that is retried is not completed yet.
    assert!(store.retry_job_url(&leases[0]).unwrap());
    let again = lease_urls(&store, number, 9);
    assert_eq!(names(&again), ["a"]);

    complete(&store, &again[0], document("page a"));
    let failure = UrlOutcome::Failed { code: "C".to_owned(), error: "e".to_owned() };
    complete(&store, &leases[1], failure.clone());
    let copies = lease_urls(&store, number, 9);
    let outcomes = [document("page a"), failure];
    for ((copy, outcome), index) in copies.iter().zip(&outcomes).zip([1, 4]) {
        assert_eq!(copy.url.entry.as_ref().unwrap().index, index);
        assert_eq!(store.original_outcome(copy).unwrap().as_ref(), Some(outcome));
        complete(&store, copy, outcome.clone());
    }
    assert_eq!(copies.len(), 2);
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.state, record.urls, record.documents), (JobState::Completed, 4, 2));
    let errors = store.job_errors(number, 9).unwrap();
    assert_eq!(errors.iter().map(|error| error.url.as_str()).collect::<Vec<_>>(), ["a.test/b", "a.test/b"]);
}

#[test]
fn copies_survive_a_restart_and_may_repeat_completed_pages() {
    let (_dir, store) = fresh();
    let mut new = job("one", &[]);
    new.urls = vec![entry("a", 0), entry("a", 1), entry("b", 2)];
    // The fourth entry of the list was not a valid URL.
    new.list_len = 4;
    let number = create(&store, &new);
    let leases = lease_urls(&store, number, 1);
    complete(&store, &leases[0], document("page a"));
    // A process leases a URL and dies.
    assert_eq!(lease_urls(&store, number, 1).len(), 1);
    store.start_job(number, false).unwrap();

    let limits = JobLimits::default();
    let added = store.extend_job("tea", "one", &[entry("a", 0), entry("c", 1)], 2, &limits, 0).unwrap();
    assert_eq!(added, Some(2));
    let leases = lease_urls(&store, number, 9);
    let indexes = leases.iter().map(|lease| (lease.is_copy(), lease.url.entry.as_ref().unwrap().index));
    assert_eq!(indexes.collect::<Vec<_>>(), [(true, 1), (false, 2), (true, 4), (false, 5)]);
    let outcomes: Vec<_> = leases.iter().map(|lease| complete(&store, lease, document("x"))).collect();
    assert!(
        matches!(outcomes[3], CompletionOutcome::Recorded { state: JobState::Completed, .. }),
        "{outcomes:?}"
    );
    assert_eq!(store.job_by_number(number).unwrap().unwrap().documents, 5);
}

#[test]
fn copies_count_against_the_url_limit() {
    let (_dir, store) = fresh();
    let number = create(&store, &job("one", &["a"]));
    let limits = JobLimits { max_urls: 3, ..JobLimits::default() };
    let more = [entry("a", 0), entry("a", 1), entry("a", 2)];
    assert_eq!(store.extend_job("tea", "one", &more, 3, &limits, 0).unwrap(), Some(2));
    let record = store.job_by_number(number).unwrap().unwrap();
    assert_eq!((record.urls, record.skipped), (3, 1));
}

#[test]
fn lease_query_skips_waiting_copies_by_index() {
    // A test of the plan of SQLite.
    let (dir, store) = fresh_file();
    let mut new = job("one", &[]);
    new.urls = (0..1_000).map(|index| entry("a", index)).chain([entry("b", 1_000)]).collect();
    let number = create(&store, &new);
    assert_eq!(names(&lease_urls(&store, number, 9)), ["a", "b"]);
    let plan: Vec<String> = sqlite(dir.path())
        .prepare(
            "EXPLAIN QUERY PLAN SELECT place FROM job_urls WHERE job = 1 AND state IN ('waiting', 'leased') \
             AND (state = 'waiting' OR leased_by NOT IN (SELECT id FROM replicas)) AND waits_for IS NULL ORDER BY place LIMIT 9",
        )
        .unwrap()
        .query_map([], |row| row.get(3))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(plan[..1], ["SEARCH job_urls USING INDEX job_urls_open (job=? AND waits_for=?)"]);
}
