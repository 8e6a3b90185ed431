//! Tests of a full disk and of a damaged database, over HTTP.

use std::future::pending;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use websvc_store::{CacheLimits, CachedPage, PageKey, Store};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, ServerConfig};

use crate::embedded::{EmbeddedServer, EmbeddedServerConfig};

/// How long a test waits for the service to be ready again.
const TIMEOUT: Duration = Duration::from_secs(60);

struct TestServer {
    _directory: TempDir,
    address: String,
    authorization: HeaderValue,
    store: Store,
    client: Client,
    running: JoinHandle<()>,
}

impl TestServer {
    async fn start(directory: TempDir) -> Self {
        let config = EmbeddedServerConfig {
            server: ServerConfig::new("127.0.0.1:0"),
            ..EmbeddedServerConfig::new(directory.path())
        };
        let service = EmbeddedServer::bind(config).await.unwrap();
        let key = service.create_key("default", "").await.unwrap();
        let authorization = HeaderValue::from_str(&format!("Bearer {key}")).unwrap();
        let (address, store) = (service.url(), service.store().clone());
        let running = tokio::spawn(async move { drop(service.run(pending()).await) });
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        Self { _directory: directory, address, authorization, store, client, running }
    }

    async fn request(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = FetchRequest::get(format!("{}{path}", self.address).parse().unwrap());
        request.method = method;
        request.headers.insert(AUTHORIZATION, self.authorization.clone());
        request.body = body.map(|body| body.to_string().into());
        let response = self.client.fetch(request).await.unwrap();
        (response.status.as_u16(), serde_json::from_slice(&response.body).unwrap())
    }

    async fn ready(&self) -> (u16, Value) {
        self.request(Method::GET, "/ready", None).await
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_said_by_every_operation_and_by_ready_until_there_is_space() {
    let server = TestServer::start(tempfile::tempdir().unwrap()).await;
    let (status, ready) = server.ready().await;
    assert_eq!(
        (status, &ready["checks"]["store"], ready.get("reason")),
        (200, &json!("ok"), None),
        "{ready}"
    );
    // Less than the file has, so it cannot grow.
    server.store.limit_file_size(4096).unwrap();
    let long = "tea".repeat(600);
    let urls: Vec<String> = (0..400).map(|number| format!("http://a.test/{long}/{number}")).collect();
    let target = json!({ "type": "scrape", "urls": urls[..100] });
    let options = json!({ "headers": { "x": long.repeat(20) } });
    for (path, body) in [
        ("/v2/batch/scrape", json!({ "urls": urls })),
        ("/v2/crawl", json!({ "url": urls[0], "scrapeOptions": options })),
        ("/v2/monitor", json!({ "name": "Tea", "schedule": { "text": "daily" }, "targets": [target] })),
    ] {
        let (status, body) = server.request(Method::POST, path, Some(body)).await;
        assert_eq!((status, &body["code"]), (503, &json!("STORAGE_FULL")), "{path}: {body}");
        assert!(body["error"].as_str().unwrap().starts_with("The disk of the service is full"), "{body}");
    }
    let (status, ready) = server.ready().await;
    assert_eq!((status, &ready["status"]), (503, &json!("not ready")), "{ready}");
    assert_eq!((&ready["checks"]["store"], &ready["degraded"][0]), (&json!("unavailable"), &json!("store")));
    assert!(ready["reason"].as_str().unwrap().contains("disk of the database is full"), "{ready}");
    server.store.limit_file_size(1 << 30).unwrap();
    let is_ready = async { while server.ready().await.0 != 200 {} };
    tokio::time::timeout(TIMEOUT, is_ready).await.expect("the service is ready again");
    let (status, body) =
        server.request(Method::POST, "/v2/batch/scrape", Some(json!({ "urls": urls }))).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn database_that_is_damaged_at_the_start_is_not_ready() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).unwrap();
    for number in 0..50 {
        let url = format!("http://a.test/{number}");
        let page = CachedPage {
            key: PageKey::new(&url, ""),
            final_url: url,
            status: 200,
            headers: Vec::new(),
            body: "Green tea. ".repeat(20).into(),
            fetched_at_ms: 1,
            truncated: false,
        };
        store.put_page(&page, &CacheLimits::default()).unwrap();
    }
    drop(store);
    let path = directory.path().join(Store::FILE_NAME);
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = b"http://a.test/25";
    let at = bytes.windows(needle.len()).rposition(|window| window == needle).unwrap() / 4096 * 4096;
    bytes[at..at + 4096].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let server = TestServer::start(directory).await;
    let (status, ready) = server.ready().await;
    assert_eq!((status, &ready["status"]), (503, &json!("not ready")), "{ready}");
    assert!(ready["reason"].as_str().unwrap().starts_with("the database is damaged"), "{ready}");
    assert_eq!(server.request(Method::GET, "/health", None).await.0, 200);
}
