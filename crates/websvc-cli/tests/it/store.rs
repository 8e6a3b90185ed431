//! Tests of `websvc store migrate` without a server. Those of migrations are in `websvc-store`.

use crate::harness::{Site, tea_world};

/// Runs a migration that must fail, and returns its error.
#[track_caller]
fn migration_error(site: &Site, from: &std::path::Path, to: &[&str]) -> String {
    let from = from.to_str().unwrap();
    let output = site.run(&[&["store", "migrate", "--from", from], to].concat());
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_names_a_missing_target_and_source() {
    let site = Site::new(&tea_world().await);
    let error = migration_error(&site, site.data_dir(), &[]);
    assert!(error.contains("--to") && error.contains("store.url"), "{error}");
    let to = ["--to", "postgres://me:hunter2@127.0.0.1:1/websvc"];
    let error = migration_error(&site, site.data_dir(), &to);
    assert!(error.contains("there is no database") && error.contains("websvc.db"), "{error}");
    let missing = site.data_dir().join("missing");
    let error = migration_error(&site, &missing, &to);
    assert!(error.contains("does not exist") && !missing.exists(), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_does_not_print_the_password() {
    let site = Site::new(&tea_world().await);
    site.succeed(&["keys", "create"]);
    for (url, expected) in [
        ("postgres://me:hunter2@127.0.0.1:1/websvc", "postgres://127.0.0.1:1/websvc cannot be reached"),
        ("postgres://me:hunter2@127.0.0.1:x/websvc", "--to"),
        ("mysql://me:hunter2@127.0.0.1/websvc", "the URL must begin with postgres://"),
    ] {
        let error = migration_error(&site, site.data_dir(), &["--to", url]);
        assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_of_a_directory_in_use_is_rejected() {
    let site = Site::new(&tea_world().await);
    let service = site.serve();
    let to = ["--to", "postgres://me@127.0.0.1:1/websvc"];
    let error = migration_error(&site, site.data_dir(), &to);
    assert!(error.contains("in use by another websvc process: stop it first"), "{error}");
    assert!(service.stop().success());
}
