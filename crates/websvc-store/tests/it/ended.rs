//! Jobs that have ended hold no secrets of their callers.

use websvc_store::{JobUrl, PageEnd};

use crate::fresh;
use crate::jobs::{create, finish, job};

#[test]
fn credentials_and_headers_leave_a_job_when_it_ends() {
    let (_directory, store) = fresh();
    let address = "http://user:hunter2@a.test/x";
    let mut new = job("one", &[]);
    new.request = r#"{"options":{"headers":{"authorization":"hunter2"}}}"#.to_owned();
    new.urls = vec![JobUrl { url: address.to_owned(), key: address.to_owned(), depth: 0 }];
    let number = create(&store, &new);
    let lease = store.lease_job_urls(number, 1, 0, std::time::Duration::from_secs(60)).unwrap().remove(0);
    assert_eq!(lease.url.url, address, "the work needs it");
    finish(&store, &lease, PageEnd::Failed { code: "X".to_owned(), error: "no".to_owned() });
    let record = store.job("tea", new.kind, "one", 0).unwrap().unwrap();
    assert!(!record.request.contains("hunter2"), "{}", record.request);
    let urls = store.job_urls(number).unwrap();
    assert_eq!(urls[0].url, "http://a.test/x");
    assert!(!urls[0].key.contains("hunter2"));
}
