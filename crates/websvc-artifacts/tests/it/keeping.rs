//! Tests of access to artifacts, their lifetime, and what is never stored.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use websvc_artifacts::{
    ArtifactError, ArtifactKind, Artifacts, ArtifactsConfig, FindError, Retention, SignedUrl,
};
use websvc_store::Store;

use crate::support::{DAY, Seen, Site, link, put, read};

#[tokio::test]
async fn whoever_has_the_url_may_read() {
    let site = Site::new();
    let artifact = site.put(b"picture").await;
    assert_eq!(read(&site.artifacts, &artifact, None).await, Seen::Content(b"picture".to_vec()));
    assert_eq!(read(&site.artifacts, &artifact, Some("default")).await, Seen::Content(b"picture".to_vec()));
}

#[tokio::test]
async fn a_key_of_another_team_finds_nothing() {
    let site = Site::new();
    let artifact = site.put(b"picture").await;
    assert_eq!(read(&site.artifacts, &artifact, Some("others")).await, Seen::NotFound);
}

#[tokio::test]
async fn the_name_alone_opens_nothing() {
    let site = Site::new();
    let artifact = site.put(b"picture").await;
    let zeros = "0".repeat(64);
    let query = format!("expires={}&signature={zeros}", artifact.expires_at_s);
    let guessed = SignedUrl::read(&format!("{}.png", artifact.id), Some(&query)).unwrap();
    let error = site.artifacts.get(&guessed, &Method::GET, None).await.unwrap_err();
    assert!(matches!(error, FindError::NotFound), "{error}");
}

#[tokio::test]
async fn another_installation_signs_otherwise() {
    let (site, other) = (Site::new(), Site::new());
    let artifact = site.put(b"picture").await;
    assert_eq!(read(&other.artifacts, &artifact, None).await, Seen::NotFound);
}

#[tokio::test]
async fn urls_stay_valid_over_a_restart() {
    let site = Site::new();
    let artifact = site.put(b"picture").await;
    let store = Store::open(site.directory.path()).unwrap();
    let config = ArtifactsConfig::in_directory(site.directory.path().join("artifacts"));
    let again = Artifacts::open(store, config).unwrap();
    assert_eq!(read(&again, &artifact, None).await, Seen::Content(b"picture".to_vec()));
}

#[tokio::test]
async fn what_expired_is_gone_before_and_after_it_is_swept() {
    let site = Site::with(|config| ArtifactsConfig { max_age: Duration::ZERO, ..config });
    let artifact = site.put(b"picture").await;
    // It expires at the end of the second in which it was made.
    while read(&site.artifacts, &artifact, None).await != Seen::Gone {
        tokio::task::yield_now().await;
    }
    assert_eq!(read(&site.artifacts, &artifact, Some("others")).await, Seen::NotFound);
    assert_eq!(site.files().len(), 1);
    assert_eq!(site.artifacts.sweep().await.unwrap(), 1);
    assert_eq!(site.files().len(), 0);
    assert_eq!(read(&site.artifacts, &artifact, None).await, Seen::Gone);
}

#[tokio::test]
async fn nothing_is_kept_of_a_request_that_may_leave_nothing() {
    let site = Site::new();
    let artifacts = site.artifacts.of("default", Retention::Nothing);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"picture"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::NothingStored), "{error}");
    assert_eq!(site.files().len(), 0);
    assert_eq!(site.totals().0, 0);
}

#[tokio::test]
async fn names_and_signatures_do_not_repeat() {
    let site = Site::new();
    let mut urls = std::collections::BTreeSet::new();
    for _ in 0..32 {
        urls.insert(site.put(b"").await.url(""));
    }
    assert_eq!(urls.len(), 32);
}

#[tokio::test]
async fn a_life_is_at_most_that_of_the_configuration() {
    let site = Site::with(|config| ArtifactsConfig { max_age: Duration::from_secs(60), ..config });
    let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let artifact = put(&site.artifacts, b"").await;
    assert!((now_s + 60..=now_s + 90).contains(&artifact.expires_at_s), "{now_s} {}", artifact.expires_at_s);
}

#[tokio::test]
async fn the_url_is_below_the_base_it_is_given() {
    let artifact = Site::new().put(b"").await;
    let path = artifact.url("");
    assert!(path.starts_with("/artifacts/"), "{path}");
    assert_eq!(artifact.url("https://websvc.test"), format!("https://websvc.test{path}"));
    assert_eq!(artifact.url("https://websvc.test/api/"), format!("https://websvc.test/api{path}"));
    assert_eq!(artifact.to_string(), artifact.id, "a log must not have the permission");
    let _ = link(&artifact);
}
