//! Jobs that have ended: they hold no secrets of their callers, and without a document they say why.

use websvc_store::{
    JobKind, JobLease, JobLimits, JobState, JobUrl, NewJob, Store, UrlCompletion, UrlOutcome,
};

use crate::fresh;
use crate::jobs::{create, finish, job};

#[test]
fn credentials_and_headers_leave_a_job_when_it_ends() {
    let (_directory, store) = fresh();
    let address = "http://user:hunter2@a.test/x";
    let mut new = job("one", &[]);
    new.request = r#"{"options":{"headers":{"authorization":"hunter2"}}}"#.to_owned();
    new.urls = vec![JobUrl { url: address.to_owned(), key: address.to_owned(), depth: 0, entry: None }];
    let number = create(&store, &new);
    let lease = store.lease_job_urls(number, 1, 0, std::time::Duration::from_secs(60)).unwrap().remove(0);
    assert_eq!(lease.url.url, address, "the work needs it");
    finish(&store, &lease, UrlOutcome::Failed { code: "X".to_owned(), error: "no".to_owned() });
    let record = store.job("tea", new.kind, "one", 0).unwrap().unwrap();
    assert!(!record.request.contains("hunter2"), "{}", record.request);
    let urls = store.job_urls(number).unwrap();
    assert_eq!(urls[0].url, "http://a.test/x");
    assert!(!urls[0].key.contains("hunter2"));
}

fn failed(error: &str) -> UrlOutcome {
    UrlOutcome::Failed { code: "X".to_owned(), error: error.to_owned() }
}

/// Ends a job of this kind by `end`, and returns how it stands.
fn ended(kind: JobKind, urls: &[&str], end: impl Fn(&Store, i64)) -> (JobState, Option<String>) {
    let (_directory, store) = fresh();
    let number = create(&store, &NewJob { kind, ..job("one", urls) });
    end(&store, number);
    let record = store.job_by_number(number).unwrap().unwrap();
    (record.state, record.error)
}

fn next(store: &Store, job: i64) -> JobLease {
    store.lease_job_urls(job, 1, 0, std::time::Duration::from_secs(60)).unwrap().remove(0)
}

#[test]
fn job_without_a_document_fails_with_the_error_of_its_first_page() {
    let of_start = ended(JobKind::Crawl, &["start"], |store, job| {
        finish(store, &next(store, job), failed("refused"));
    });
    assert_eq!(of_start, (JobState::Failed, Some("the crawl could not start: refused".to_owned())));
    let of_others = ended(JobKind::Crawl, &["start"], |store, job| {
        let found =
            vec![JobUrl { url: "http://a.test/b".to_owned(), key: "b".to_owned(), depth: 1, entry: None }];
        let dropped = UrlCompletion { found, ..UrlCompletion::of(next(store, job), UrlOutcome::OutOfScope) };
        store.finish_job_url(dropped, &JobLimits::default(), 0).unwrap();
        finish(store, &next(store, job), failed("gone"));
    });
    let none = "none of the 1 pages could be had; the first: gone";
    assert_eq!(of_others, (JobState::Failed, Some(none.to_owned())), "the start did not fail");
    let of_batch = ended(JobKind::Batch, &["a"], |store, job| {
        finish(store, &next(store, job), failed("refused"));
    });
    assert_eq!(of_batch, (JobState::Failed, Some("refused".to_owned())));
}

#[test]
fn job_with_a_document_or_with_nothing_but_forbidden_pages_is_completed() {
    let one_of_two = ended(JobKind::Batch, &["a", "b"], |store, job| {
        finish(store, &next(store, job), failed("refused"));
        finish(store, &next(store, job), UrlOutcome::Document(b"{}".to_vec()));
    });
    assert_eq!(one_of_two, (JobState::Completed, None));
    let forbidden = ended(JobKind::Crawl, &["start"], |store, job| {
        finish(store, &next(store, job), UrlOutcome::Blocked);
    });
    assert_eq!(forbidden, (JobState::Completed, None));
}
