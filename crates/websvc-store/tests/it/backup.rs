//! Tests of backups of the database while it is in use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use websvc_store::{CacheLimits, Store, StoreError};

use crate::{fresh_file, noise, page};

#[test]
fn backup_during_writes_is_consistent_and_opens() {
    let (_dir, store) = fresh_file();
    let target = tempfile::tempdir().unwrap();
    let key = store.create_key("red", "").unwrap();
    let limits = CacheLimits::default();
    let done = AtomicBool::new(false);
    let expected = thread::scope(|scope| {
        let writer = store.clone();
        let done = &done;
        let writing = scope.spawn(move || {
            let mut number = 0;
            while !done.load(Ordering::Relaxed) || number < 50 {
                let page = page(&format!("http://tea.test/{number}"), number, noise(number, 5_000));
                writer.put_page(&page, &limits).unwrap();
                number += 1;
            }
            number
        });
        while store.cache_size().unwrap().pages < 20 {
            thread::yield_now();
        }
        let before = store.cache_size().unwrap().pages;
        store.back_up(&target.path().join(Store::FILE_NAME)).unwrap();
        done.store(true, Ordering::Relaxed);
        let written = writing.join().unwrap();
        before..=written
    });
    let copy = Store::open(target.path()).unwrap();
    copy.verify().unwrap();
    assert!(expected.contains(&copy.cache_size().unwrap().pages));
    assert!(copy.authenticate(key.secret.expose()).unwrap().is_some());
}

#[test]
fn backup_does_not_overwrite_a_file() {
    let (dir, store) = fresh_file();
    let error = store.back_up(&dir.path().join(Store::FILE_NAME)).unwrap_err();
    assert!(matches!(error, StoreError::BackupExists { .. }), "{error}");
    store.verify().unwrap();
}

#[test]
fn failed_backup_leaves_no_file() {
    let (dir, store) = fresh_file();
    let file = dir.path().join("absent").join("copy.db");
    assert!(matches!(store.back_up(&file), Err(StoreError::Io { .. })));
    assert!(!file.exists());
}

#[cfg(unix)]
#[test]
fn backup_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, store) = fresh_file();
    let file = dir.path().join("copy.db");
    store.back_up(&file).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0);
}
