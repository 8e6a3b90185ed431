//! Tests of artifacts of a running service: their storage, their download and invalid settings.

use std::time::Duration;

use http::StatusCode;
use websvc_artifacts::{ArtifactKind, Artifacts, ArtifactsConfig, Retention, S3Config, StorageLocation};
use websvc_store::Store;
use websvc_testkit::{FakeS3, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse, RedirectPolicy};

use crate::harness::{Service, Site};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

/// Stores an image as the service does, and returns its URL.
async fn put(site: &Site, service: &Service, config: ArtifactsConfig) -> String {
    let artifacts = Artifacts::open(Store::open(site.data_dir()).unwrap(), config).unwrap();
    let image = bytes::Bytes::from_static(b"image");
    let team = artifacts.for_team("default", Retention::Stored);
    team.put(ArtifactKind::Png, image, DAY).await.unwrap().url(&service.address)
}

async fn get(url: &str, redirects: RedirectPolicy) -> FetchResponse {
    client().fetch(FetchRequest { redirects, ..FetchRequest::get(url.parse().unwrap()) }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn artifact_in_the_data_directory_is_served() {
    let site = Site::new(&TestWeb::builder().start().await);
    let service = site.serve();
    let config = ArtifactsConfig::in_directory(site.data_dir().join("artifacts"));
    let url = put(&site, &service, config).await;
    let response = get(&url, RedirectPolicy::None).await;
    assert_eq!((response.status, &*response.body), (StatusCode::OK, &b"image"[..]));
}

#[tokio::test(flavor = "multi_thread")]
async fn artifact_in_a_bucket_is_redirected_to() {
    let site = Site::new(&TestWeb::builder().start().await);
    let bucket = FakeS3::start().await;
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    for (name, value) in [
        ("ENDPOINT", bucket.endpoint().as_str()),
        ("REGION", FakeS3::REGION),
        ("BUCKET", FakeS3::BUCKET),
        ("ACCESS_KEY_ID", FakeS3::ACCESS_KEY_ID),
        ("SECRET_ACCESS_KEY", FakeS3::SECRET),
    ] {
        command.env(format!("WEBSVC__ARTIFACTS__S3__{name}"), value);
    }
    let service = Service::start(&mut command);
    let place = StorageLocation::S3(Box::new(S3Config {
        client: client(),
        endpoint: bucket.endpoint().parse().unwrap(),
        region: FakeS3::REGION.to_owned(),
        bucket: FakeS3::BUCKET.to_owned(),
        prefix: String::new(),
        access_key_id: FakeS3::ACCESS_KEY_ID.to_owned(),
        secret_access_key: FakeS3::SECRET.to_owned(),
    }));
    let config = ArtifactsConfig { location: place, ..ArtifactsConfig::in_directory("unused") };
    let url = put(&site, &service, config).await;
    let redirect = get(&url, RedirectPolicy::None).await;
    assert_eq!(redirect.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(redirect.headers["cache-control"], "no-store");
    let response = get(&url, RedirectPolicy::Follow(1)).await;
    assert_eq!((response.status, &*response.body), (StatusCode::OK, &b"image"[..]));
    assert_eq!(bucket.rejections(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_artifact_and_server_settings_end_the_start() {
    let site = Site::new(&TestWeb::builder().start().await);
    for (name, value, expected) in [
        ("SERVER__PUBLIC_URL", "ftp://a.test/", "server.public_url"),
        ("SERVER__TRUSTED_PROXIES", "[\"10.0.0.0/99\"]", "server.trusted_proxies"),
        ("ARTIFACTS__MAX_BITES", "1", "max_bytes"),
        ("ARTIFACTS__S3__BUCKET", "b", "endpoint"),
    ] {
        let output = site
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .env(format!("WEBSVC__{name}"), value)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains(expected), "{name}: {errors}");
    }
}
