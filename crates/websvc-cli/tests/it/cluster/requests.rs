//! Requests of one client to different replicas.

use std::time::Duration;

use serde_json::json;
use websvc_artifacts::{ArtifactKind, Artifacts, ArtifactsConfig, Retention, S3Config, StorageLocation};
use websvc_store::{DatabaseUrl, Store};
use websvc_testkit::FakeS3;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, RedirectPolicy};

use super::{Cluster, delete, numbered_pages, start_job, urls};
use crate::batch::{poll_until, read_all, source_counts, wait_for_end};

const BATCH: &str = "/v2/batch/scrape";

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_read_extended_and_cancelled_on_any_replica() {
    let world = numbered_pages(150, Duration::from_millis(5)).await;
    let Some(cluster) = Cluster::start(&world).await else { return };
    let (first, second, third) = (cluster.replica(0), cluster.replica(1), cluster.replica(2));

    let path = start_job(first, BATCH, json!({ "urls": urls(0..120) })).await;
    let id = path.rsplit('/').next().unwrap();
    let more = json!({ "urls": urls(120..150), "appendToId": id });
    assert_eq!(second.post(BATCH, more.to_string()).await.status, 200);
    let status = wait_for_end(third, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(150)), "{status}");
    // `next` is a URL of the balancer, which may send each request to another replica.
    let (documents, requests) = read_all(&cluster.client(), &path).await;
    assert!(requests > 1);
    assert_eq!((documents.len(), source_counts(&documents).len()), (150, 150));

    let path = start_job(second, "/v2/crawl", json!({ "url": "http://list.test/", "delay": 0.2 })).await;
    poll_until(third, &path, |body| body["completed"].as_u64() > Some(1)).await;
    assert_eq!(delete(first, &path).await.body["status"], "cancelled");
    assert_eq!(third.get(&path).await.body["status"], "cancelled");
    let is_listed = |body: &serde_json::Value| body["crawls"].as_array().is_some_and(Vec::is_empty);
    poll_until(third, "/v2/crawl/active", is_listed).await;
    // The replica that works on it stops within seconds.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = world.requests().len();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.requests().len(), before, "the cancelled crawl continues");
    cluster.database.check_jobs_and_budgets().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_teams_and_cached_pages_are_those_of_all_replicas() {
    let world = numbered_pages(3, Duration::ZERO).await;
    let Some(cluster) = Cluster::start(&world).await else { return };
    let body = json!({ "url": "http://list.test/1", "formats": ["markdown"] }).to_string();
    for number in 0..3 {
        let response = cluster.replica(number).post("/v2/scrape", body.clone()).await;
        assert_eq!(response.body["data"]["markdown"], "# Page 1\n\nText 1.\n", "{}", response.body);
    }
    let fetches = world.requests().iter().filter(|request| request.url == "http://list.test/1").count();
    assert_eq!(fetches, 1, "the page is cached for all replicas");

    let key = cluster.succeed(&["keys", "create", "--team", "red"]);
    for number in 0..3 {
        let mut replica = super::Service::at(&cluster.replica(number).address);
        replica.key = key.trim().to_owned();
        assert_eq!(replica.post("/v2/scrape", body.clone()).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn artifact_in_the_bucket_is_served_by_every_replica() {
    let world = numbered_pages(1, Duration::ZERO).await;
    let Some(cluster) = Cluster::start(&world).await else { return };
    let url = DatabaseUrl::parse(&cluster.url).unwrap();
    let client = || Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let config = S3Config {
        client: client(),
        endpoint: cluster.bucket.endpoint().parse().unwrap(),
        region: FakeS3::REGION.to_owned(),
        bucket: FakeS3::BUCKET.to_owned(),
        prefix: String::new(),
        access_key_id: FakeS3::ACCESS_KEY_ID.to_owned(),
        secret_access_key: FakeS3::SECRET.to_owned(),
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let store_client = client();
    let store = tokio::task::spawn_blocking(move || Store::connect(&url, store_client, path).unwrap());
    let location = StorageLocation::S3(Box::new(config));
    let config = ArtifactsConfig { location, ..ArtifactsConfig::in_directory("unused") };
    let artifacts = Artifacts::open(store.await.unwrap(), config).unwrap();
    let team = artifacts.for_team("default", Retention::Stored);
    let image = bytes::Bytes::from_static(b"image");
    let artifact = team.put(ArtifactKind::Png, image, Duration::from_secs(3600)).await.unwrap();
    for number in 0..3 {
        let url = artifact.url(&cluster.replica(number).address);
        let request =
            FetchRequest { redirects: RedirectPolicy::Follow(1), ..FetchRequest::get(url.parse().unwrap()) };
        assert_eq!(&*client().fetch(request).await.unwrap().body, b"image");
    }
    tokio::task::spawn_blocking(move || drop(artifacts)).await.unwrap();
}
