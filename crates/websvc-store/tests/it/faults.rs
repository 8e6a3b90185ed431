//! Tests of faults that outlast a statement: a full disk, damage, and a clock that was ahead.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use websvc_store::{
    CacheLimits, DeliveryOutcome, JobEvent, NewJob, NewWebhook, Store, StoreError, StoreFault,
};

use crate::engine::fresh;
use crate::jobs::{create, job, lease_urls};
use crate::webhooks::{next_due, record_attempt};
use crate::{fresh_file, noise, page};

const SECOND: Duration = Duration::from_secs(1);

/// Stores pages until the disk is full.
fn fill(store: &Store) {
    let full = (0..1_000).find_map(|number| {
        let page = page(&format!("http://a.test/{number}"), 1, noise(number, 20_000));
        store.put_page(&page, &CacheLimits::default()).err()
    });
    assert!(matches!(full, Some(StoreError::Full { .. })), "{full:?}");
}

#[test]
fn full_disk_is_a_fault_until_there_is_space() {
    let (_dir, store) = fresh_file();
    let start = Instant::now();
    assert_eq!(store.fault(start), None);
    store.limit_file_size(1024 * 1024).unwrap();
    fill(&store);
    assert_eq!(store.fault(start), Some(StoreFault::Full));
    assert_eq!(store.fault(start + SECOND), Some(StoreFault::Full), "there is no space yet");
    store.purge_host("a.test").unwrap();
    assert_eq!(store.fault(start + SECOND), Some(StoreFault::Full), "it is tried once a second");
    assert_eq!(store.fault(start + 2 * SECOND), None);
    assert_eq!(store.list_profiles(Some("")).unwrap(), [], "nothing is left of the attempt");
    fill(&store);
    store.limit_file_size(64 * 1024 * 1024).unwrap();
    assert_eq!(store.fault(start + 4 * SECOND), None);
}

#[test]
fn work_on_pages_does_not_begin_while_the_disk_is_full() {
    let (_dir, store) = fresh_file();
    let number = create(&store, &job("j", &["a"]));
    let lease = lease_urls(&store, number, 1).remove(0);
    store.limit_file_size(1024 * 1024).unwrap();
    fill(&store);
    let error = store.begin_job_url(&lease).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    store.purge_host("a.test").unwrap();
    assert_eq!(store.fault(Instant::now() + 2 * SECOND), None);
    assert!(store.begin_job_url(&lease).unwrap());
}

/// Overwrites a page in the middle of the file, which has rows of cached pages.
fn damage(dir: &Path) {
    let path = dir.join(Store::FILE_NAME);
    let mut bytes = fs::read(&path).unwrap();
    let needle = b"http://a.test/25";
    let at = bytes.windows(needle.len()).rposition(|window| window == needle).unwrap() / 4096 * 4096;
    bytes[at..at + 4096].fill(0xff);
    fs::write(&path, &bytes).unwrap();
}

/// Returns a closed database with 50 cached pages.
fn filled() -> tempfile::TempDir {
    let (dir, store) = fresh_file();
    for number in 0..50 {
        let page = page(&format!("http://a.test/{number}"), 1, noise(number, 500));
        store.put_page(&page, &CacheLimits::default()).unwrap();
    }
    dir
}

#[test]
fn damage_is_found_at_the_start_if_the_file_is_small() {
    let dir = filled();
    Store::open(dir.path()).unwrap().check_structure(u64::MAX).unwrap();
    damage(dir.path());
    let store = Store::open(dir.path()).unwrap();
    store.check_structure(4096).unwrap();
    assert_eq!(store.fault(Instant::now()), None, "the file is larger, so it was not checked");
    let error = store.check_structure(u64::MAX).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert_eq!(store.fault(Instant::now()), Some(StoreFault::Damaged));
    assert_eq!(store.fault(Instant::now() + 60 * SECOND), Some(StoreFault::Damaged), "it does not go");
    let error = Store::inspect(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn damage_is_found_by_the_statement_that_reads_it() {
    let dir = filled();
    damage(dir.path());
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.fault(Instant::now()), None);
    let keys = (0..50).map(|number| page(&format!("http://a.test/{number}"), 1, "").key);
    let errors: Vec<StoreError> = keys.filter_map(|key| store.page(&key).err()).collect();
    assert!(errors.iter().any(|error| matches!(error, StoreError::Corrupt { .. })), "{errors:?}");
    assert_eq!(store.fault(Instant::now()), Some(StoreFault::Damaged));
}

#[test]
fn deliveries_of_a_clock_that_was_ahead_are_brought_forward() {
    const HOUR_MS: u64 = 3_600_000;
    let (_dir, store) = fresh();
    let webhook = NewWebhook {
        url: "http://hook.test/".to_owned(),
        host: "hook.test".to_owned(),
        headers: "{}".to_owned(),
        metadata: "{}".to_owned(),
        events: vec![JobEvent::Started],
    };
    let number = create(&store, &NewJob { webhook: Some(webhook), ..job("j", &["a"]) });
    let due = |now_ms| next_due(&store, number, now_ms, &[]);
    let retry_at = |retry_at_ms: u64| DeliveryOutcome::Failed {
        status: None,
        error: "no".to_owned(),
        retry_at_ms: Some(retry_at_ms),
        expires_at_ms: u64::from(u32::MAX),
    };
    let event = due(0).unwrap().number;
    record_attempt(&store, event, retry_at(4 * HOUR_MS), 0);
    store.bring_deliveries_forward(HOUR_MS, Duration::from_secs(4 * 3_600)).unwrap();
    assert_eq!(due(HOUR_MS), None, "this is a delay that retries have");
    record_attempt(&store, event, retry_at(52 * HOUR_MS), 0);
    store.bring_deliveries_forward(HOUR_MS, Duration::from_secs(4 * 3_600)).unwrap();
    assert_eq!(due(HOUR_MS).map(|due| due.number), Some(event));
}
