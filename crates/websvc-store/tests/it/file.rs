//! Tests of the database file: settings, schema version, damage, permissions.

use std::fs;

use websvc_store::{Store, StoreError};

use crate::{fresh_file, schema, sqlite};

#[test]
fn database_uses_wal_mode_and_has_a_schema_version() {
    let (dir, _store) = fresh_file();
    let pragma = |name: &str| -> String {
        let value: rusqlite::types::Value =
            sqlite(dir.path()).pragma_query_value(None, name, |row| row.get(0)).unwrap();
        format!("{value:?}")
    };
    assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
    assert_eq!(pragma("user_version"), format!("Integer({})", schema()));
}

#[test]
fn newer_schema_is_rejected_and_not_changed() {
    let (dir, store) = fresh_file();
    drop(store);
    sqlite(dir.path()).pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::NewerSchema { found: 99, supported, .. } if supported == schema()),
        "{error}"
    );
    assert!(error.to_string().ends_with("use a newer websvc"), "{error}");
    let version: i64 = sqlite(dir.path()).pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[test]
fn file_that_is_not_a_database_is_reported_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("websvc.db");
    let text = "this is not a database, it is a letter to a friend\n".repeat(100);
    fs::write(&path, &text).unwrap();
    match Store::open(dir.path()).unwrap_err() {
        StoreError::Corrupt { path: named, .. } => assert_eq!(named, path),
        error => panic!("{error}"),
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn verify_finds_damage_inside_the_file() {
    let (dir, store) = fresh_file();
    store.verify().unwrap();
    for n in 0..50 {
        store.create_key("default", &format!("key {n}")).unwrap();
    }
    drop(store);
    let path = dir.path().join("websvc.db");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(7).position(|window| window == b"default").unwrap();
    // Overwrites the rest of a table page, which contains the cells of its rows.
    let end = at.next_multiple_of(4096);
    bytes[at..end].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let error = Store::open(dir.path()).and_then(|store| store.verify()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn error_names_a_directory_that_cannot_be_created() {
    let dir = tempfile::tempdir().unwrap();
    let in_the_way = dir.path().join("file");
    fs::write(&in_the_way, "x").unwrap();
    let error = Store::open(in_the_way.join("data")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().contains("file"), "{error}");
}

#[cfg(unix)]
#[test]
fn files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("deep/data");
    let store = Store::open(&dir).unwrap();
    store.create_key("default", "").unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let mut files = 0;
    for entry in fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    let expected = if cfg!(target_os = "linux") { 4 } else { 3 };
    assert_eq!(files, expected, "the database, its write-ahead log and the index of the log, and the clock");
}
