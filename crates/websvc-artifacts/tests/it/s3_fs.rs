//! Contents in a bucket of s3s-fs, whose code for signatures is not ours.

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

use crate::support::{DAY, Site, link};

fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

fn site(service: &S3Fs, secret: &str, prefix: &str) -> Site {
    let place = StorageLocation::S3(Box::new(S3Config {
        client: client(),
        endpoint: service.endpoint().parse().unwrap(),
        region: FakeS3::REGION.to_owned(),
        bucket: FakeS3::BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        access_key_id: FakeS3::ACCESS_KEY_ID.to_owned(),
        secret_access_key: secret.to_owned(),
    }));
    Site::with(|config| ArtifactsConfig { place, ..config })
}

async fn way(site: &Site, artifact: &Artifact, method: &Method) -> Url {
    match site.artifacts.get(&link(artifact), method, None).await {
        Ok(ArtifactSource::Elsewhere(url)) => url,
        other => panic!("{other:?}"),
    }
}

async fn fetch(method: Method, url: Url) -> FetchResponse {
    client().fetch(FetchRequest { method, ..FetchRequest::get(url) }).await.unwrap()
}

#[tokio::test]
async fn an_object_is_put_read_by_its_signed_url_and_removed() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "websvc/shots");
    let artifact = site.put(b"picture").await;
    let name = format!("websvc/shots/{}.png", artifact.id);
    assert_eq!(
        service.objects().iter().find(|(found, _)| *found == name).map(|(_, content)| content.as_slice()),
        Some(&b"picture"[..])
    );
    let url = way(&site, &artifact, &Method::GET).await;
    let read = fetch(Method::GET, url.clone()).await;
    assert_eq!((read.status, &*read.body), (StatusCode::OK, &b"picture"[..]));
    assert_eq!(read.headers["content-type"], "image/png");
    // The signature is of this object and this method.
    let other: Url = url.as_str().replace(&artifact.id, &"0".repeat(32)).parse().unwrap();
    assert_eq!(fetch(Method::GET, other).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::DELETE, url).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn what_expired_is_removed_from_the_bucket() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let team = site.artifacts.of("default", Retention::Stored);
    let artifact = team.put(ArtifactKind::Pdf, Bytes::from_static(b"print"), Duration::ZERO).await.unwrap();
    let name = format!("{}.pdf", artifact.id);
    let is_there = || service.objects().iter().any(|(found, _)| *found == name);
    assert!(is_there());
    while site.artifacts.sweep().await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!is_there(), "{:?}", service.objects());
}

#[tokio::test]
async fn a_way_that_is_over_is_refused_by_the_service() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let artifact = site.put(b"picture").await;
    let url = way(&site, &artifact, &Method::GET).await;
    // The time of the signature is part of what is signed: an older one fails by that alone.
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
async fn a_wrong_secret_is_refused_by_the_service() {
    let service = S3Fs::start().await;
    let site = site(&service, "wrong", "");
    let team = site.artifacts.of("default", Retention::Stored);
    let error = team.put(ArtifactKind::Png, Bytes::from_static(b"picture"), DAY).await.unwrap_err();
    assert!(matches!(&error, ArtifactError::Bucket { bucket, .. } if bucket == FakeS3::BUCKET), "{error}");
    assert_eq!(service.objects(), []);
}

#[tokio::test]
async fn a_large_object_arrives_whole() {
    let service = S3Fs::start().await;
    let site = site(&service, FakeS3::SECRET, "");
    let content: Vec<u8> = (0..20_000_000_u32).map(|at| (at * 7 % 251) as u8).collect();
    let artifact = site.put(&content).await;
    let url = way(&site, &artifact, &Method::GET).await;
    let request =
        FetchRequest { max_body_bytes: 1 << 30, max_decoded_bytes: 1 << 30, ..FetchRequest::get(url) };
    let read = client().fetch(request).await.unwrap();
    assert!(read.status == StatusCode::OK && read.body == content);
}
