//! Contents in a bucket of s3s-fs, an independent implementation of S3 signatures.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use url::Url;
use websvc_artifacts::{
    Artifact, ArtifactError, ArtifactKind, ArtifactSource, ArtifactsConfig, Retention, S3Config,
    StorageLocation,
};
use websvc_testkit::{FakeS3, S3Fs};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

use crate::support::{DAY, Site, signed_url};

fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

fn site(service: &S3Fs, secret: &str, prefix: &str) -> Site {
    let location = StorageLocation::S3(Box::new(S3Config {
        client: client(),
        endpoint: service.endpoint().parse().unwrap(),
        region: FakeS3::REGION.to_owned(),
        bucket: FakeS3::BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        access_key_id: FakeS3::ACCESS_KEY_ID.to_owned(),
        secret_access_key: secret.to_owned(),
    }));
    Site::with(|config| ArtifactsConfig { location, ..config })
}

async fn remote_url(site: &Site, artifact: &Artifact, method: &Method) -> Url {
    match site.artifacts.get(&signed_url(artifact), method, None).await {
        Ok(ArtifactSource::Remote(url)) => url,
        other => panic!("{other:?}"),
    }
}

async fn fetch(method: Method, url: Url) -> FetchResponse {
    client().fetch(FetchRequest { method, ..FetchRequest::get(url) }).await.unwrap()
}

#[tokio::test]
async fn object_is_written_and_readable_with_its_remote_url() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "websvc/shots");
    let artifact = site.put(b"content").await;
    let name = format!("websvc/shots/{}.png", artifact.id);
    assert_eq!(
        service.objects().iter().find(|(found, _)| *found == name).map(|(_, content)| content.as_slice()),
        Some(&b"content"[..])
    );
    let url = remote_url(&site, &artifact, &Method::GET).await;
    let read = fetch(Method::GET, url.clone()).await;
    assert_eq!((read.status, &*read.body), (StatusCode::OK, &b"content"[..]));
    assert_eq!(read.headers["content-type"], "image/png");
    // The signature is only valid for this object and this method.
    let other: Url = url.as_str().replace(&artifact.id, &"0".repeat(32)).parse().unwrap();
    assert_eq!(fetch(Method::GET, other).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::DELETE, url).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn expired_artifact_is_removed_from_the_bucket() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let team = site.artifacts.for_team("default", Retention::Stored);
    let artifact = team.put(ArtifactKind::Pdf, Bytes::from_static(b"print"), Duration::ZERO).await.unwrap();
    let name = format!("{}.pdf", artifact.id);
    let exists = || service.objects().iter().any(|(found, _)| *found == name);
    assert!(exists());
    while site.artifacts.sweep().await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!exists(), "{:?}", service.objects());
}

#[tokio::test]
async fn service_rejects_an_expired_remote_url() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let artifact = site.put(b"content").await;
    let url = remote_url(&site, &artifact, &Method::GET).await;
    // The signature covers its time, so a URL with an earlier time is invalid.
    let now = url.query_pairs().find(|(name, _)| name == "X-Amz-Date").unwrap().1.into_owned();
    let earlier = format!("2020{}", &now[4..]);
    let old: Url = url.as_str().replace(&now, &earlier).parse().unwrap();
    assert_eq!(fetch(Method::GET, old).await.status, StatusCode::FORBIDDEN);
    let expires = url.query_pairs().find(|(name, _)| name == "X-Amz-Expires").unwrap().1.into_owned();
    assert!((1..=300).contains(&expires.parse::<u64>().unwrap()), "{expires}");
    let longer: Url = url.as_str().replace(&format!("Expires={expires}"), "Expires=86400").parse().unwrap();
    assert_eq!(fetch(Method::GET, longer).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::GET, url).await.status, StatusCode::OK);
}

#[tokio::test]
async fn service_rejects_a_wrong_secret() {
    let service = S3Fs::start().await;
    let site = site(&service, "wrong", "");
    let team = site.artifacts.for_team("default", Retention::Stored);
    let error = team.put(ArtifactKind::Png, Bytes::from_static(b"content"), DAY).await.unwrap_err();
    assert!(matches!(&error, ArtifactError::Bucket { bucket, .. } if bucket == FakeS3::BUCKET), "{error}");
    assert_eq!(service.objects(), []);
}

#[tokio::test]
async fn large_object_is_stored_completely() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let content: Vec<u8> = (0..20_000_000_u32).map(|index| (index * 7 % 251) as u8).collect();
    let artifact = site.put(&content).await;
    let url = remote_url(&site, &artifact, &Method::GET).await;
    let request =
        FetchRequest { max_body_bytes: 1 << 30, max_decoded_bytes: 1 << 30, ..FetchRequest::get(url) };
    let read = client().fetch(request).await.unwrap();
    assert!(read.status == StatusCode::OK && read.body == content);
}
