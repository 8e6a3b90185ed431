//! Tests of the client with the real service, embedded.

use std::path::Path;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc::Client;
use websvc::server::{Authentication, EmbedError, EmbeddedServer, EmbeddedServerConfig};
use websvc::transport::ShutdownReport;
use websvc::types::index::{IndexDocument, IndexUploadRequest};
use websvc::types::{ErrorCode, ScrapeRequest, ViolationCode};

use crate::support::fast_retries;

struct Running {
    client: Client,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<ShutdownReport, EmbedError>>,
}

impl Running {
    async fn start(data_dir: &Path) -> Self {
        let service = EmbeddedServer::bind(EmbeddedServerConfig::new(data_dir)).await.unwrap();
        let key = service.create_key("default", "tests").await.unwrap();
        let client =
            Client::builder(service.url().parse().unwrap()).key(key).retry(fast_retries()).build().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(service.run(async {
            let _ = stopped.await;
        }));
        Self { client, stop, task }
    }

    async fn stop(self) {
        drop(self.stop);
        self.task.await.unwrap().unwrap();
    }
}

fn upload() -> IndexUploadRequest {
    let document = IndexDocument {
        url: "https://docs.example/asyncio".to_owned(),
        title: "asyncio".to_owned(),
        body: "gather runs awaitables together".to_owned(),
        ..IndexDocument::default()
    };
    IndexUploadRequest { documents: vec![document] }
}

#[tokio::test]
async fn added_documents_are_found_after_a_restart() {
    let data_dir = tempfile::tempdir().unwrap();
    let first = Running::start(data_dir.path()).await;
    assert_eq!(first.client.health().await.unwrap().status, "ok");
    assert!(first.client.readiness().await.unwrap().is_ready());
    assert_eq!(first.client.add_documents(&upload()).await.unwrap().accepted, 1);
    // The shutdown commits the accepted documents.
    first.stop().await;

    let second = Running::start(data_dir.path()).await;
    assert_eq!(second.client.index_stats().await.unwrap().documents, 1);
    let search = second.client.search("awaitables").limit(5).timeout(Duration::from_secs(5));
    let response = search.send().await.unwrap();
    let pages = response.data.web.unwrap();
    assert_eq!(pages.len(), 1);
    assert_eq!((pages[0].url.as_str(), pages[0].title.as_str()), ("https://docs.example/asyncio", "asyncio"));
    assert!(response.data.images.is_none());
    second.stop().await;
}

#[tokio::test]
async fn errors_of_the_real_service_are_typed() {
    let data_dir = tempfile::tempdir().unwrap();
    let running = Running::start(data_dir.path()).await;
    let error = running.client.search("").limit(101).send().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::BadRequest));
    let violations: Vec<_> = error.details().iter().map(|v| (v.path.as_str(), v.code)).collect();
    assert_eq!(violations, [("/limit", ViolationCode::TooBig), ("/query", ViolationCode::TooShort)]);
    assert!(error.api_error().unwrap().request_id.is_some());
    running.stop().await;
}

#[tokio::test]
async fn service_requires_a_key_unless_it_is_open() {
    let data_dir = tempfile::tempdir().unwrap();
    for (authentication, code) in
        [(Authentication::Required, Some(ErrorCode::Unauthorized)), (Authentication::Open, None)]
    {
        let config = EmbeddedServerConfig { authentication, ..EmbeddedServerConfig::new(data_dir.path()) };
        let service = EmbeddedServer::bind(config).await.unwrap();
        let client = Client::builder(service.url().parse().unwrap()).key("fc-wrong").build().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(service.run(async {
            let _ = stopped.await;
        }));
        let result = client.search("q").send().await;
        assert_eq!(result.err().and_then(|error| error.code()), code);
        drop(stop);
        task.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn data_directory_in_use_is_an_error() {
    let data_dir = tempfile::tempdir().unwrap();
    let first = EmbeddedServer::bind(EmbeddedServerConfig::new(data_dir.path())).await.unwrap();
    let error = EmbeddedServer::bind(EmbeddedServerConfig::new(data_dir.path())).await.unwrap_err();
    assert!(matches!(error, EmbedError::InUse { .. }), "{error:?}");
    drop(first);
    EmbeddedServer::bind(EmbeddedServerConfig::new(data_dir.path())).await.unwrap();
}

#[tokio::test]
async fn failed_scrapes_have_their_error_codes() {
    let data_dir = tempfile::tempdir().unwrap();
    let service = Running::start(data_dir.path()).await;
    for (url, status, code) in [
        ("http://nowhere.invalid/", 200, ErrorCode::ScrapeDnsResolutionError),
        ("http://127.0.0.1:9/", 403, ErrorCode::ScrapeForbiddenUrl),
        ("ftp://a.test/", 400, ErrorCode::BadRequest),
    ] {
        let request = ScrapeRequest::new(url);
        let error = service.client.scrape(&request).await.unwrap_err();
        assert_eq!(
            (error.status().map(|status| status.as_u16()), error.code()),
            (Some(status), Some(code)),
            "{url}"
        );
    }
    service.stop().await;
}
