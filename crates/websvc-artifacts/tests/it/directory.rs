//! Contents on disk: bounds, failures, and what a crash may leave.

use std::fs;

use bytes::Bytes;
use websvc_artifacts::{ArtifactError, ArtifactKind, ArtifactsConfig, Retention, StorageLocation};
use websvc_store::{ArtifactRecord, ReserveOutcome};

use crate::support::{DAY, Seen, Site, read};

#[tokio::test]
async fn the_oldest_make_room_and_are_gone() {
    let site = Site::with(|config| ArtifactsConfig { max_bytes: 100, ..config });
    let first = site.put(&[1; 60]).await;
    let second = site.put(&[2; 40]).await;
    assert_eq!(site.files().len(), 2);
    let third = site.put(&[3; 41]).await;
    assert_eq!(read(&site.artifacts, &first, None).await, Seen::Gone);
    assert_eq!(read(&site.artifacts, &second, None).await, Seen::Content(vec![2; 40]));
    assert_eq!(read(&site.artifacts, &third, None).await, Seen::Content(vec![3; 41]));
    assert_eq!(site.files().len(), 2, "the content of the first is removed too");
    assert_eq!(site.totals().1, 81);
}

#[tokio::test]
async fn what_is_larger_than_all_may_be_is_an_error_that_says_so() {
    let site = Site::with(|config| ArtifactsConfig { max_bytes: 100, ..config });
    let kept = site.put(&[1; 60]).await;
    let artifacts = site.artifacts.of("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Pdf, Bytes::from(vec![0; 101]), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::NoRoom { bytes: 101, max_bytes: 100 }), "{error}");
    assert!(error.to_string().contains("artifacts.max_bytes"), "{error}");
    assert_eq!(read(&site.artifacts, &kept, None).await, Seen::Content(vec![1; 60]));
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_an_error_and_leaves_no_record() {
    let site = Site::with(|config| {
        let StorageLocation::Directory(path) = &config.place else { panic!("{config:?}") };
        fs::write(path, b"a file, where the directory is to be").unwrap();
        config
    });
    let artifacts = site.artifacts.of("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"picture"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::Io { .. }), "{error}");
    assert!(error.to_string().contains("artifacts"), "{error}");
    assert_eq!(site.totals().0, 0);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new();
    site.put(b"picture").await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&site.directory.path().join("artifacts")), 0o700);
    assert_eq!(site.files().iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o600]);
}

#[tokio::test]
async fn what_a_crash_left_half_written_is_never_read_and_is_swept() {
    let site = Site::new();
    let shelf = site.directory.path().join("artifacts");
    fs::create_dir(&shelf).unwrap();
    // As a process leaves it that dies between the reservation and the rename, an hour ago.
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
    fs::write(shelf.join(format!("{id}.png.part")), b"hal").unwrap();
    assert_eq!(site.store.artifact(id).unwrap(), None, "nobody can read it");
    assert_eq!(site.artifacts.sweep().await.unwrap(), 1);
    assert_eq!(site.files().len(), 0);
    assert_eq!(site.totals().1, 0);
}

#[tokio::test]
async fn a_file_that_others_cut_or_removed_is_gone_and_not_half_read() {
    let site = Site::new();
    let (cut, removed) = (site.put(b"first picture").await, site.put(b"second picture").await);
    let shelf = site.directory.path().join("artifacts");
    fs::write(shelf.join(format!("{}.png", cut.id)), b"first").unwrap();
    fs::remove_file(shelf.join(format!("{}.png", removed.id))).unwrap();
    assert_eq!(read(&site.artifacts, &cut, None).await, Seen::Gone);
    assert_eq!(read(&site.artifacts, &removed, None).await, Seen::Gone);
}

#[tokio::test]
async fn a_shelf_that_nothing_is_put_on_touches_no_file() {
    let site = Site::new();
    assert_eq!(site.artifacts.sweep().await.unwrap(), 0);
    assert!(!site.directory.path().join("artifacts").exists());
}
