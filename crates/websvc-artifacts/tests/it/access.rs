//! Tests of the access to artifacts, their lifetime, and their retention.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use websvc_artifacts::{
    ArtifactError, ArtifactKind, Artifacts, ArtifactsConfig, FindError, Retention, SignedUrl,
};
use websvc_store::Store;

use crate::support::{DAY, Outcome, Site, put, read};

#[tokio::test]
async fn signed_url_is_sufficient_to_read() {
    let site = Site::new();
    let artifact = site.put(b"content").await;
    assert_eq!(read(&site.artifacts, &artifact, None).await, Outcome::Content(b"content".to_vec()));
    assert_eq!(
        read(&site.artifacts, &artifact, Some("default")).await,
        Outcome::Content(b"content".to_vec())
    );
}

#[tokio::test]
async fn key_of_another_team_is_not_found() {
    let site = Site::new();
    let artifact = site.put(b"content").await;
    assert_eq!(read(&site.artifacts, &artifact, Some("others")).await, Outcome::NotFound);
}

#[tokio::test]
async fn wrong_signature_is_not_found() {
    let site = Site::new();
    let artifact = site.put(b"content").await;
    let zeros = "0".repeat(64);
    let query = format!("expires={}&signature={zeros}", artifact.expires_at_s);
    let guessed = SignedUrl::parse(&format!("{}.png", artifact.id), Some(&query)).unwrap();
    let error = site.artifacts.get(&guessed, &Method::GET, None).await.unwrap_err();
    assert!(matches!(error, FindError::NotFound), "{error}");
}

#[tokio::test]
async fn url_of_another_installation_is_not_found() {
    let (site, other) = (Site::new(), Site::new());
    let artifact = site.put(b"content").await;
    assert_eq!(read(&other.artifacts, &artifact, None).await, Outcome::NotFound);
}

#[tokio::test]
async fn urls_are_valid_after_a_restart() {
    let site = Site::new();
    let artifact = site.put(b"content").await;
    let store = Store::open(site.directory.path()).unwrap();
    let config = ArtifactsConfig::in_directory(site.directory.path().join("artifacts"));
    let reopened = Artifacts::open(store, config).unwrap();
    assert_eq!(read(&reopened, &artifact, None).await, Outcome::Content(b"content".to_vec()));
}

#[tokio::test]
async fn expired_artifact_is_gone_before_and_after_the_sweep() {
    let site = Site::with(|config| ArtifactsConfig { max_age: Duration::ZERO, ..config });
    let artifact = site.put(b"content").await;
    // It expires at the end of the second in which it was created.
    while read(&site.artifacts, &artifact, None).await != Outcome::Gone {
        tokio::task::yield_now().await;
    }
    assert_eq!(read(&site.artifacts, &artifact, Some("others")).await, Outcome::NotFound);
    assert_eq!(site.files().len(), 1);
    assert_eq!(site.artifacts.sweep().await.unwrap(), 1);
    assert_eq!(site.files().len(), 0);
    assert_eq!(read(&site.artifacts, &artifact, None).await, Outcome::Gone);
}

#[tokio::test]
async fn request_without_retention_stores_nothing() {
    let site = Site::new();
    let artifacts = site.artifacts.for_team("default", Retention::Nothing);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"content"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::NothingStored), "{error}");
    assert_eq!(site.files().len(), 0);
    assert_eq!(site.totals().0, 0);
}

#[tokio::test]
async fn urls_of_artifacts_differ() {
    let site = Site::new();
    let mut urls = std::collections::BTreeSet::new();
    for _ in 0..32 {
        urls.insert(site.put(b"").await.url(""));
    }
    assert_eq!(urls.len(), 32);
}

#[tokio::test]
async fn lifetime_is_limited_by_the_configuration() {
    let site = Site::with(|config| ArtifactsConfig { max_age: Duration::from_secs(60), ..config });
    let now_s = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let artifact = put(&site.artifacts, b"").await;
    assert!((now_s + 60..=now_s + 90).contains(&artifact.expires_at_s), "{now_s} {}", artifact.expires_at_s);
}

#[tokio::test]
async fn url_is_below_the_base_url() {
    let artifact = Site::new().put(b"").await;
    let path = artifact.url("");
    assert!(path.starts_with("/artifacts/"), "{path}");
    assert_eq!(artifact.url("https://websvc.test"), format!("https://websvc.test{path}"));
    assert_eq!(artifact.url("https://websvc.test/api/"), format!("https://websvc.test/api{path}"));
    assert_eq!(artifact.to_string(), artifact.id, "logs must not contain the signed URL");
}
