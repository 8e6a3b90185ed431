//! Tests of ended jobs: removal of secrets, and the state and error of jobs without documents.

use websvc_store::{
    JobKind, JobLease, JobLimits, JobState, JobUrl, NewJob, Store, UrlCompletion, UrlOutcome,
};

use crate::fresh;
use crate::jobs::{complete, complete_url, create, job, lease_urls};

#[test]
fn ended_job_contains_no_credentials_and_headers() {
    let (_directory, store) = fresh();
    let address = "http://user:hunter2@a.test/x";
    let mut new = job("one", &[]);
    new.request = r#"{"options":{"headers":{"authorization":"hunter2"}}}"#.to_owned();
    new.urls = vec![JobUrl { url: address.to_owned(), key: address.to_owned(), depth: 0, entry: None }];
    let number = create(&store, &new);
    let lease = lease_urls(&store, number, 1).remove(0);
    assert_eq!(lease.url.url, address, "the fetch needs the credentials");
    complete(&store, &lease, UrlOutcome::Failed { code: "X".to_owned(), error: "no".to_owned() });
    let record = store.job("tea", new.kind, "one", 0).unwrap().unwrap();
    assert!(!record.request.contains("hunter2"), "{}", record.request);
    let urls = store.job_urls(number).unwrap();
    assert_eq!(urls[0].url, "http://a.test/x");
    assert!(!urls[0].key.contains("hunter2"));
}

fn failed(error: &str) -> UrlOutcome {
    UrlOutcome::Failed { code: "X".to_owned(), error: error.to_owned() }
}

/// Creates a job, ends it by `end`, and returns its state and error.
fn ended(kind: JobKind, urls: &[&str], end: impl Fn(&Store, i64)) -> (JobState, Option<String>) {
    let (_directory, store) = fresh();
    let number = create(&store, &NewJob { kind, ..job("one", urls) });
    end(&store, number);
    let record = store.job_by_number(number).unwrap().unwrap();
    (record.state, record.error)
}

fn next(store: &Store, job: i64) -> JobLease {
    lease_urls(store, job, 1).remove(0)
}

#[test]
fn job_without_a_document_fails_with_the_error_of_its_first_page() {
    let failed_start = ended(JobKind::Crawl, &["start"], |store, job| {
        complete(store, &next(store, job), failed("refused"));
    });
    assert_eq!(failed_start, (JobState::Failed, Some("the crawl could not start: refused".to_owned())));
    let other_failed = ended(JobKind::Crawl, &["start"], |store, job| {
        let found =
            vec![JobUrl { url: "http://a.test/b".to_owned(), key: "b".to_owned(), depth: 1, entry: None }];
        let dropped = UrlCompletion { found, ..UrlCompletion::new(next(store, job), UrlOutcome::OutOfScope) };
        complete_url(store, dropped, &JobLimits::default(), 0);
        complete(store, &next(store, job), failed("gone"));
    });
    assert_eq!(other_failed, (JobState::Failed, Some("gone".to_owned())), "the start did not fail");
    let failed_batch = ended(JobKind::Batch, &["a"], |store, job| {
        complete(store, &next(store, job), failed("refused"));
    });
    assert_eq!(failed_batch, (JobState::Failed, Some("refused".to_owned())));
}

#[test]
fn job_with_a_document_or_only_blocked_pages_is_completed() {
    let one_of_two = ended(JobKind::Batch, &["a", "b"], |store, job| {
        complete(store, &next(store, job), failed("refused"));
        complete(store, &next(store, job), UrlOutcome::Document(b"{}".to_vec()));
    });
    assert_eq!(one_of_two, (JobState::Completed, None));
    let blocked = ended(JobKind::Crawl, &["start"], |store, job| {
        complete(store, &next(store, job), UrlOutcome::Blocked);
    });
    assert_eq!(blocked, (JobState::Completed, None));
}
