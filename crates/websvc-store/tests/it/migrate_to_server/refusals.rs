//! Tests of migrations that do not begin.

use websvc_store::{DatabaseUrl, MigrateError, Migration, MigrationMode, ReplicaRole, StoreError, migrate};

use super::Test;
use crate::engine::{client, is_server};
use crate::{fresh_file, sqlite};

/// The URL of a server that is not contacted.
const NOWHERE: &str = "postgres://me:hunter2@127.0.0.1:1/websvc";

fn migrate_to_nowhere(from: &std::path::Path) -> MigrateError {
    let url = DatabaseUrl::parse(NOWHERE).unwrap();
    let migration = Migration { from, to: &url, client: client(&url), mode: MigrationMode::Resume };
    let error = migrate(&migration, |_| panic!("nothing can be copied")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    error
}

#[test]
fn directory_without_a_database_is_rejected_and_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("data");
    for from in [dir.path(), &missing] {
        let error = migrate_to_nowhere(from);
        assert!(matches!(error, MigrateError::NoSource { .. }), "{error}");
        assert!(error.to_string().contains("--from"), "{error}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn pooler_is_rejected_as_a_target() {
    let (dir, store) = fresh_file();
    drop(store);
    let url = DatabaseUrl::parse(&format!("{NOWHERE}?pgbouncer=true")).unwrap();
    let migration =
        Migration { from: dir.path(), to: &url, client: client(&url), mode: MigrationMode::Resume };
    let error = migrate(&migration, |_| panic!("nothing can be copied")).unwrap_err();
    assert!(matches!(error, MigrateError::Pooler { .. }), "{error}");
    assert!(
        error.to_string().contains("the URL postgres://127.0.0.1:1/websvc has pgbouncer=true"),
        "{error}"
    );
}

#[test]
fn newer_file_is_rejected() {
    let (dir, store) = fresh_file();
    drop(store);
    sqlite(dir.path()).pragma_update(None, "user_version", 99).unwrap();
    let error = migrate_to_nowhere(dir.path());
    assert!(matches!(error, MigrateError::Store(StoreError::NewerSchema { found: 99, .. })), "{error}");
}

#[test]
fn unreachable_server_is_named_without_its_password() {
    let (dir, store) = fresh_file();
    drop(store);
    let error = migrate_to_nowhere(dir.path());
    assert!(matches!(error, MigrateError::Store(StoreError::Unreachable { .. })), "{error}");
    assert!(error.to_string().contains("postgres://127.0.0.1:1/websvc"), "{error}");
}

#[test]
fn target_with_rows_is_rejected_and_not_changed() {
    let Some(test) = Test::new() else { return };
    let store = test.connect().unwrap();
    store.create_key("default", "mine").unwrap();
    store.create_key("default", "another").unwrap();
    for migrate in [Test::migrate, Test::restart] {
        let error = migrate(&test).unwrap_err();
        assert!(matches!(error, MigrateError::TargetNotEmpty { .. }), "{error}");
        assert!(error.to_string().contains("1 row(s) in teams, 2 row(s) in keys"), "{error}");
    }
    assert_eq!(store.list_keys().unwrap().len(), 2);
    drop(test.connect().unwrap());
}

#[test]
fn migrated_target_is_rejected() {
    let Some(test) = Test::new() else { return };
    test.migrate().unwrap();
    let error = test.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::TargetNotEmpty { .. }), "{error}");
    test.check_equal();
}

#[test]
fn unfinished_migration_of_another_file_is_rejected_unless_restarted() {
    let Some(first) = Test::new() else { return };
    first.copy_only(MigrationMode::Resume);
    let (other, store) = fresh_file();
    store.create_key("other", "").unwrap();
    drop(store);
    let second = Test { source: other, target: first.target, url: first.url };
    let error = second.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::OtherSource { .. }), "{error}");
    assert!(error.to_string().contains(&first.source.path().display().to_string()), "{error}");
    second.restart().unwrap();
    second.check_equal();
}

#[test]
fn target_that_a_process_serves_from_is_rejected() {
    let Some(test) = Test::new() else { return };
    let server = test.connect().unwrap();
    server.join_replicas(ReplicaRole::Worker).unwrap();
    let error = test.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::TargetNotEmpty { .. }), "{error}");
    assert!(error.to_string().contains("1 row(s) in replicas"), "{error}");
    drop(server);
    test.migrate().unwrap();
}

#[test]
fn source_of_which_a_process_has_leased_credits_is_rejected() {
    if !is_server() {
        return;
    }
    let (source, store) = fresh_file();
    let team = crate::credits::give(&store, "tea", Some(100));
    let hold = crate::credits::hold_credits(&store, &team, 10);
    let test = Test::with_source(source);
    let error = test.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::SourceInUse { processes: 1, .. }), "{error}");
    drop(test.connect().unwrap());
    drop((hold, store));
    test.migrate().unwrap();
}

#[test]
fn primary_key_with_nul_is_rejected() {
    let Some(test) = Test::new() else { return };
    let file = sqlite(test.source.path());
    file.execute("INSERT INTO profiles (team, name) VALUES ('tea', ?1)", ["a\0b"]).unwrap();
    let error = test.migrate().unwrap_err();
    assert!(matches!(error, MigrateError::NulInKey { table: "profiles" }), "{error}");
    file.execute("DELETE FROM profiles WHERE name = ?1", ["a\0b"]).unwrap();
    test.migrate().unwrap();
    test.check_equal();
}
