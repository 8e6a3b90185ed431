//! Contents in a bucket, against a service that checks every signature.

use bytes::Bytes;
use http::{Method, StatusCode};
use url::Url;
use websvc_artifacts::{
    Artifact, ArtifactError, ArtifactKind, ArtifactSource, Artifacts, ArtifactsConfig, FindError, Retention,
    S3Config, StorageLocation,
};
use websvc_testkit::FakeS3;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

use crate::support::{DAY, Site, link};

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
    Site::with(|config| ArtifactsConfig { place: s3(service, FakeS3::SECRET), max_bytes: 100, ..config })
}

async fn signed_url(artifacts: &Artifacts, artifact: &Artifact, method: &Method) -> Url {
    match artifacts.get(&link(artifact), method, None).await {
        Ok(ArtifactSource::Elsewhere(url)) => url,
        other => panic!("{other:?}"),
    }
}

async fn fetch(method: Method, url: Url) -> FetchResponse {
    client().fetch(FetchRequest { method, ..FetchRequest::get(url) }).await.unwrap()
}

#[tokio::test]
async fn an_artifact_is_stored_and_read_by_a_url_that_the_service_accepts() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let artifact = site.put(b"picture").await;
    let objects = service.objects();
    let (name, object) = objects.first_key_value().unwrap();
    assert_eq!(*name, format!("websvc/shots/{}.png", artifact.id));
    assert_eq!(object.headers["content-type"], "image/png");
    assert_eq!(object.headers["content-disposition"], format!("inline; filename=\"{}.png\"", artifact.id));
    let read = fetch(Method::GET, signed_url(&site.artifacts, &artifact, &Method::GET).await).await;
    assert_eq!((read.status, &*read.body), (StatusCode::OK, &b"picture"[..]));
    let head = fetch(Method::HEAD, signed_url(&site.artifacts, &artifact, &Method::HEAD).await).await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(service.rejections(), Vec::<String>::new());
}

#[tokio::test]
async fn the_url_opens_one_object_for_one_method() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let (first, second) = (site.put(b"first").await, site.put(b"second").await);
    let url = signed_url(&site.artifacts, &first, &Method::GET).await;
    let other: Url = url.as_str().replace(&first.id, &second.id).parse().unwrap();
    assert_eq!(fetch(Method::GET, other).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::DELETE, url.clone()).await.status, StatusCode::FORBIDDEN);
    assert_eq!(fetch(Method::GET, url).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_made_room_is_removed_from_the_bucket() {
    let service = FakeS3::start().await;
    let site = site(&service);
    let first = site.put(&[1; 60]).await;
    site.put(&[2; 60]).await;
    assert_eq!(service.objects().len(), 1);
    let error = site.artifacts.get(&link(&first), &Method::GET, None).await.unwrap_err();
    assert!(matches!(error, FindError::Gone), "{error}");
}

#[tokio::test]
async fn a_wrong_secret_is_an_error_that_names_the_bucket_and_leaves_no_record() {
    let service = FakeS3::start().await;
    let site = Site::with(|config| ArtifactsConfig { place: s3(&service, "wrong"), ..config });
    let artifacts = site.artifacts.of("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"picture"), DAY).await.unwrap_err();
    assert!(matches!(&error, ArtifactError::Bucket { bucket, .. } if bucket == FakeS3::BUCKET), "{error}");
    assert!(!format!("{error:?}").contains("wrong"), "{error:?}");
    assert_eq!(service.objects().len(), 0);
    assert!(!service.rejections().is_empty());
}

#[tokio::test]
async fn a_bucket_without_room_is_an_error() {
    let service = FakeS3::start().await;
    let site = site(&service);
    site.put(b"first").await;
    service.set_full();
    let artifacts = site.artifacts.of("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"second"), DAY).await.unwrap_err();
    assert!(matches!(error, ArtifactError::Bucket { .. }), "{error}");
    assert_eq!(service.objects().len(), 1);
    assert_eq!(site.totals().0, 1);
}

#[tokio::test]
async fn a_service_that_is_busy_is_asked_again() {
    let service = FakeS3::start().await;
    let site = site(&service);
    service.fail_next_requests(2);
    site.put(b"picture").await;
    assert_eq!(service.objects().len(), 1);
}

#[tokio::test]
async fn an_error_says_what_the_service_said() {
    let service = FakeS3::start().await;
    let site = site(&service);
    service.set_full();
    let artifacts = site.artifacts.of("default", Retention::Stored);
    let error = artifacts.put(ArtifactKind::Png, Bytes::from_static(b"picture"), DAY).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("507") && source.contains("XMinioStorageFull"), "{source}");
}

#[tokio::test]
async fn the_secret_is_not_in_what_is_printed() {
    let service = FakeS3::start().await;
    let printed = format!("{:?} {:?}", s3(&service, FakeS3::SECRET), site(&service).artifacts);
    assert!(!printed.contains(FakeS3::SECRET), "{printed}");
}
