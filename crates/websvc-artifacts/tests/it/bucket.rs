//! Contents in a bucket of a service that verifies every signature.

use bytes::Bytes;
use http::{Method, StatusCode};
use url::Url;
use websvc_artifacts::{
    Artifact, ArtifactError, ArtifactKind, ArtifactSource, Artifacts, ArtifactsConfig, FindError, Retention,
    S3Config, StorageLocation,
};
use websvc_testkit::FakeS3;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

use crate::support::{DAY, Site, signed_url};

fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

fn s3(service: &FakeS3, secret: &str) -> StorageLocation {
    StorageLocation::S3(Box::new(S3Config {
        client: client(),
        endpoint: service.endpoint().parse().unwrap(),
        region: FakeS3::REGION.to_owned(),
        bucket: FakeS3::BUCKET.to_owned(),
        prefix: "websvc/shots".to_owned(),
        access_key_id: FakeS3::ACCESS_KEY_ID.to_owned(),
        secret_access_key: secret.to_owned(),
    }))
}

fn site(service: &FakeS3) -> Site {
    Site::with(|config| ArtifactsConfig { location: s3(service, FakeS3::SECRET), max_bytes: 100, ..config })
}

async fn remote_url(artifacts: &Artifacts, artifact: &Artifact, method: &Method) -> Url {
    match artifacts.get(&signed_url(artifact), method, None).await {
        Ok(ArtifactSource::Remote(url)) => url,
        other => panic!("{other:?}"),
    }
}

async fn fetch(method: Method, url: Url) -> FetchResponse {
    client().fetch(FetchRequest { method, ..FetchRequest::get(url) }).await.unwrap()
}

#[tokio::test]
async fn artifact_is_stored_and_readable_with_its_remote_url() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let artifact = site.put(b"content").await;
    let objects = service.objects();
    let (name, object) = objects.first_key_value().unwrap();
    assert_eq!(*name, format!("websvc/shots/{}.png", artifact.id));
    assert_eq!(object.headers["content-type"], "image/png");
    assert_eq!(object.headers["content-disposition"], format!("inline; filename=\"{}.png\"", artifact.id));
    let read = fetch(Method::GET, remote_url(&site.artifacts, &artifact, &Method::GET).await).await;
    assert_eq!((read.status, &*read.body), (StatusCode::OK, &b"content"[..]));
    let head = fetch(Method::HEAD, remote_url(&site.artifacts, &artifact, &Method::HEAD).await).await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(service.rejections(), Vec::<String>::new());
}

#[tokio::test]
async fn remote_url_is_valid_for_one_object_and_one_method() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let (first, second) = (site.put(b"first").await, site.put(b"second").await);
    let url = remote_url(&site.artifacts, &first, &Method::GET).await;
    let other: Url = url.as_str().replace(&first.id, &second.id).parse().unwrap();
    assert_eq!(fetch(Method::GET, other).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::DELETE, url.clone()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::GET, url).await.status, StatusCode::OK);
}

#[tokio::test]
async fn evicted_artifact_is_removed_from_the_bucket() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let first = site.put(&[1; 60]).await;
    site.put(&[2; 60]).await;
    assert_eq!(service.objects().len(), 1);
    let error = site.artifacts.get(&signed_url(&first), &Method::GET, None).await.unwrap_err();
    assert!(matches!(error, FindError::Gone), "{error}");
}

#[tokio::test]
async fn wrong_secret_is_an_error_with_the_bucket_name_and_without_a_record() {
    let service = FakeS3::start().await;
    let site = Site::with(|config| ArtifactsConfig { location: s3(&service, "wrong"), ..config });
    let artifacts = site.artifacts.for_team("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"content"), DAY).await.unwrap_err();
    assert!(matches!(&error, ArtifactError::Bucket { bucket, .. } if bucket == FakeS3::BUCKET), "{error}");
    assert!(!format!("{error:?}").contains("wrong"), "{error:?}");
    assert_eq!(service.objects().len(), 0);
    assert!(!service.rejections().is_empty());
}

#[tokio::test]
async fn full_bucket_is_an_error() {
    let service = FakeS3::start().await;
    let site = site(&service);
    site.put(b"first").await;
    service.set_full();
    let artifacts = site.artifacts.for_team("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"second"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::Bucket { .. }), "{error}");
    assert_eq!(service.objects().len(), 1);
    assert_eq!(site.totals().0, 1);
}

#[tokio::test]
async fn request_to_a_busy_service_is_retried() {
    let service = FakeS3::start().await;
    let site = site(&service);
    service.fail_next_requests(2);
    site.put(b"content").await;
    assert_eq!(service.objects().len(), 1);
}

#[tokio::test]
async fn error_contains_the_message_of_the_service() {
    let service = FakeS3::start().await;
    let site = site(&service);
    service.set_full();
    let artifacts = site.artifacts.for_team("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"content"), DAY).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("507") && source.contains("XMinioStorageFull"), "{source}");
}

#[tokio::test]
async fn debug_output_does_not_contain_the_secret() {
    let service = FakeS3::start().await;
    let debug = format!("{:?} {:?}", s3(&service, FakeS3::SECRET), site(&service).artifacts);
    assert!(!debug.contains(FakeS3::SECRET), "{debug}");
}
