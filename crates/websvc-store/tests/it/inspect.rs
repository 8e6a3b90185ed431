//! Tests of the inspection of a database.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use websvc_store::{CacheLimits, CacheSize, DatabaseReport, Store, StoreError, TeamChange};

use crate::{fresh_file, page, schema, sqlite};

/// Returns every file of a directory with its bytes.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn inspect_reports_the_content_and_changes_nothing() {
    let (dir, store) = fresh_file();
    let key = store.create_key("readers", "laptop").unwrap();
    store.create_key("readers", "phone").unwrap();
    store.revoke_key(key.id.as_str()).unwrap();
    store.set_team("readers", &TeamChange { audit: Some(true), ..TeamChange::default() }).unwrap();
    store.put_page(&page("http://a.test/", 1, "text"), &CacheLimits::default()).unwrap();
    let size = store.cache_size().unwrap();
    assert_eq!(size.pages, 1);
    let expected = DatabaseReport {
        schema: schema(),
        supported: schema(),
        keys: 1,
        revoked_keys: 1,
        audited_teams: 1,
        cache: size,
        owned_pages: 0,
    };
    assert_eq!(Store::inspect(dir.path()).unwrap().as_ref(), Some(&expected), "while a store is open");
    drop(store);
    let before = files(dir.path());
    assert_eq!(Store::inspect(dir.path()).unwrap(), Some(expected));
    assert_eq!(files(dir.path()), before);
}

#[test]
fn inspect_creates_no_database() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Store::inspect(dir.path()).unwrap(), None);
    assert_eq!(Store::inspect(dir.path().join("no/such")).unwrap(), None);
    assert!(files(dir.path()).is_empty());

    fs::write(dir.path().join("websvc.db"), "").unwrap();
    let empty = DatabaseReport {
        schema: 0,
        supported: schema(),
        keys: 0,
        revoked_keys: 0,
        audited_teams: 0,
        cache: CacheSize { pages: 0, bytes: 0 },
        owned_pages: 0,
    };
    assert_eq!(Store::inspect(dir.path()).unwrap(), Some(empty));
}

#[test]
fn inspect_returns_the_errors_of_open() {
    let (dir, store) = fresh_file();
    drop(store);
    sqlite(dir.path()).pragma_update(None, "user_version", 99).unwrap();
    let error = Store::inspect(dir.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::NewerSchema { found: 99, supported, .. } if supported == schema()),
        "{error}"
    );

    fs::write(dir.path().join("websvc.db"), "a letter to a friend\n".repeat(100)).unwrap();
    let error = Store::inspect(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn inspect_finds_damage_inside_the_file() {
    let (dir, store) = fresh_file();
    for n in 0..50 {
        store.create_key("default", &format!("key {n}")).unwrap();
    }
    drop(store);
    let path = dir.path().join("websvc.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(7).position(|window| window == b"default").unwrap();
    bytes[at..at.next_multiple_of(4096)].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let error = Store::inspect(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}
