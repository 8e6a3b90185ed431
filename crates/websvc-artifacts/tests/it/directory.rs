//! Contents in a directory: limits, errors, and files after a crash.

use std::fs;

use bytes::Bytes;
use websvc_artifacts::{ArtifactError, ArtifactKind, ArtifactsConfig, Retention, StorageLocation};
use websvc_store::{ArtifactRecord, ReserveOutcome};

use crate::support::{DAY, Outcome, Site, read};

#[tokio::test]
async fn oldest_artifacts_are_evicted() {
    let site = Site::with(|config| ArtifactsConfig { max_bytes: 100, ..config });
    let first = site.put(&[1; 60]).await;
    let second = site.put(&[2; 40]).await;
    assert_eq!(site.files().len(), 2);
    let third = site.put(&[3; 41]).await;
    assert_eq!(read(&site.artifacts, &first, None).await, Outcome::Gone);
    assert_eq!(read(&site.artifacts, &second, None).await, Outcome::Content(vec![2; 40]));
    assert_eq!(read(&site.artifacts, &third, None).await, Outcome::Content(vec![3; 41]));
    assert_eq!(site.files().len(), 2, "the content of the first is removed too");
    assert_eq!(site.totals().1, 81);
}

#[tokio::test]
async fn artifact_larger_than_the_total_limit_is_an_error() {
    let site = Site::with(|config| ArtifactsConfig { max_bytes: 100, ..config });
    let stored = site.put(&[1; 60]).await;
    let artifacts = site.artifacts.for_team("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Pdf, Bytes::from(vec![0; 101]), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::NoSpace { bytes: 101, max_bytes: 100 }), "{error}");
    assert!(error.to_string().contains("artifacts.max_bytes"), "{error}");
    assert_eq!(read(&site.artifacts, &stored, None).await, Outcome::Content(vec![1; 60]));
}

#[tokio::test]
async fn directory_that_cannot_be_created_is_an_error_without_a_record() {
    let site = Site::with(|config| {
        let StorageLocation::Directory(path) = &config.location else { panic!("{config:?}") };
        fs::write(path, b"a file in place of the directory").unwrap();
        config
    });
    let artifacts = site.artifacts.for_team("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"content"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::Io { .. }), "{error}");
    assert!(error.to_string().contains("artifacts"), "{error}");
    assert_eq!(site.totals().0, 0);
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_readable_only_by_their_owner() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new();
    site.put(b"content").await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&site.directory.path().join("artifacts")), 0o700);
    assert_eq!(site.files().iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o600]);
}

#[tokio::test]
async fn incomplete_file_of_a_crash_is_not_readable_and_is_swept() {
    let site = Site::new();
    let directory = site.directory.path().join("artifacts");
    fs::create_dir(&directory).unwrap();
    // As after a crash between the reservation and the rename, long ago.
    let id = "0123456789abcdef0123456789abcdef";
    let record = ArtifactRecord {
        id: id.to_owned(),
        team: "default".to_owned(),
        kind: "png".to_owned(),
        bytes: 1000,
        created_at_ms: 1,
        expires_at_ms: u64::MAX >> 1,
    };
    let reserved = site.store.reserve_artifact(&record, 1 << 30).unwrap();
    assert!(matches!(reserved, ReserveOutcome::Reserved { .. }));
    fs::write(directory.join(format!("{id}.png.part")), b"par").unwrap();
    assert_eq!(site.store.artifact(id).unwrap(), None, "it is not readable");
    assert_eq!(site.artifacts.sweep().await.unwrap(), 1);
    assert_eq!(site.files().len(), 0);
    assert_eq!(site.totals().1, 0);
}

#[tokio::test]
async fn file_that_was_truncated_or_removed_is_gone() {
    let site = Site::new();
    let (truncated, removed) = (site.put(b"first content").await, site.put(b"second content").await);
    let directory = site.directory.path().join("artifacts");
    fs::write(directory.join(format!("{}.png", truncated.id)), b"first").unwrap();
    fs::remove_file(directory.join(format!("{}.png", removed.id))).unwrap();
    assert_eq!(read(&site.artifacts, &truncated, None).await, Outcome::Gone);
    assert_eq!(read(&site.artifacts, &removed, None).await, Outcome::Gone);
}

#[tokio::test]
async fn unused_store_creates_no_directory() {
    let site = Site::new();
    assert_eq!(site.artifacts.sweep().await.unwrap(), 0);
    assert!(!site.directory.path().join("artifacts").exists());
}
