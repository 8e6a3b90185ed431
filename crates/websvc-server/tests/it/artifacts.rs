//! Artifacts over HTTP, from a service of its own on loopback.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderName};
use http::{HeaderValue, Method, StatusCode};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_artifacts::{ArtifactKind, Artifacts, ArtifactsConfig, Retention};
use websvc_server::{EmbeddedServer, EmbeddedServerConfig};
use websvc_store::Store;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest, FetchResponse};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// More than one piece of what is read while it is sent.
const LARGE: usize = 200_001;

struct Site {
    directory: TempDir,
    address: String,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Site {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let service = EmbeddedServer::bind(EmbeddedServerConfig::new(directory.path())).await.unwrap();
        let address = service.url();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let stopped = async move { stopped.await.unwrap_or_default() };
            service.run(stopped).await.unwrap();
        });
        Self { directory, address, stop, running }
    }

    fn store(&self) -> Store {
        Store::open(self.directory.path()).unwrap()
    }

    /// Puts something on the shelf of the running service, as another process would.
    async fn put(&self, kind: ArtifactKind, content: Vec<u8>, max_age: Duration) -> String {
        let config = ArtifactsConfig::in_directory(self.directory.path().join("artifacts"));
        let artifacts = Artifacts::open(self.store(), ArtifactsConfig { max_age, ..config }).unwrap();
        let team = artifacts.for_team("default", Retention::Stored);
        team.put(kind, Bytes::from(content), DAY).await.unwrap().url(&self.address)
    }

    async fn ask(&self, method: Method, url: &str, headers: &[(HeaderName, &str)]) -> FetchResponse {
        let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
        let mut request = FetchRequest { method, ..FetchRequest::get(url.parse().unwrap()) };
        for (name, value) in headers {
            request.headers.insert(name, HeaderValue::from_str(value).unwrap());
        }
        client.fetch(request).await.unwrap()
    }

    async fn get(&self, url: &str) -> FetchResponse {
        self.ask(Method::GET, url, &[]).await
    }

    async fn end(self) {
        self.stop.send(()).unwrap();
        self.running.await.unwrap();
    }
}

fn header<'a>(answer: &'a FetchResponse, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn picture() -> Vec<u8> {
    (0..LARGE).map(|at| (at % 251) as u8).collect()
}

#[tokio::test]
async fn an_artifact_comes_with_its_type_and_may_be_kept_until_it_expires() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Png, picture(), DAY).await;
    let answer = site.get(&url).await;
    assert_eq!((answer.status, answer.headers[CONTENT_TYPE].as_bytes()), (StatusCode::OK, &b"image/png"[..]));
    assert_eq!(answer.body, picture());
    assert_eq!(header(&answer, "content-length"), LARGE.to_string());
    let cache = header(&answer, "cache-control");
    assert!(cache.starts_with("private, max-age=86") && cache.ends_with(", immutable"), "{cache}");
    assert_eq!(header(&answer, "x-content-type-options"), "nosniff");
    assert_eq!(header(&answer, "referrer-policy"), "no-referrer");
    assert_eq!(header(&answer, "x-robots-tag"), "noindex");
    assert!(header(&answer, "content-disposition").starts_with("inline; filename=\""));
    let tag = header(&answer, "etag").to_owned();
    let again = site.ask(Method::GET, &url, &[(http::header::IF_NONE_MATCH, &tag)]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(again.headers[ETAG], tag);
    site.end().await;
}

#[tokio::test]
async fn head_and_ranges_are_answered() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Mp4, picture(), DAY).await;
    let head = site.ask(Method::HEAD, &url, &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(header(&head, "content-length"), LARGE.to_string());
    assert_eq!(header(&head, "accept-ranges"), "bytes");
    let part = site.ask(Method::GET, &url, &[(http::header::RANGE, "bytes=100000-100009")]).await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.body, picture()[100_000..100_010]);
    assert_eq!(header(&part, "content-range"), format!("bytes 100000-100009/{LARGE}"));
    let behind = site.ask(Method::GET, &url, &[(http::header::RANGE, "bytes=200001-")]).await;
    assert_eq!(behind.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(header(&behind, "content-range"), format!("bytes */{LARGE}"));
    assert!(behind.body.starts_with(b"{\"success\":false"));
    site.end().await;
}

#[tokio::test]
async fn markup_is_saved_and_runs_nothing() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Html, b"<script>alert(1)</script>".to_vec(), DAY).await;
    let answer = site.get(&url).await;
    assert!(header(&answer, "content-security-policy").contains("sandbox"));
    assert!(header(&answer, "content-disposition").starts_with("attachment;"));
    site.end().await;
}

#[tokio::test]
async fn a_key_opens_what_is_of_its_team_alone() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Png, picture(), DAY).await;
    let (store, ask) = (site.store(), |key: String| {
        let (site, url) = (&site, &url);
        async move { site.ask(Method::GET, url, &[(AUTHORIZATION, &format!("Bearer {key}"))]).await.status }
    });
    let key = |team: &str| store.create_key(team, "").unwrap().secret.expose().to_owned();
    assert_eq!(ask(key("default")).await, StatusCode::OK);
    assert_eq!(ask(key("others")).await, StatusCode::NOT_FOUND);
    assert_eq!(ask("fc-unknown".to_owned()).await, StatusCode::UNAUTHORIZED);
    site.end().await;
}

#[tokio::test]
async fn what_expired_is_gone() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Png, picture(), Duration::ZERO).await;
    let mut answer = site.get(&url).await;
    while answer.status == StatusCode::OK {
        answer = site.get(&url).await;
    }
    assert_eq!(answer.status, StatusCode::GONE);
    let body = String::from_utf8_lossy(&answer.body);
    assert!(body.contains("\"code\":\"GONE\""), "{body}");
    site.end().await;
}

#[tokio::test]
async fn nothing_else_can_be_read() {
    let site = Site::start().await;
    let url = site.put(ArtifactKind::Png, picture(), DAY).await;
    let (path, query) = url.split_once('?').unwrap();
    let (base, file) = path.rsplit_once('/').unwrap();
    let id = file.strip_suffix(".png").unwrap();
    for wrong in [
        path.to_owned(),
        format!("{path}?{}", query.replace("signature=", "signature=0")),
        format!("{path}?{}", query.replacen("expires=1", "expires=2", 1)),
        format!("{base}/{id}.pdf?{query}"),
        format!("{base}/{id}.png.part?{query}"),
        format!("{base}/..%2fwebsvc.db?{query}"),
        format!("{base}/%2e%2e%2f%2e%2e%2fetc%2fpasswd?{query}"),
        format!("{base}/..%5cwebsvc.db?{query}"),
        format!("{base}/%00?{query}"),
        format!("{base}/?{query}"),
        base.to_owned(),
    ] {
        let answer = site.get(&wrong).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{wrong}");
    }
    assert_eq!(site.ask(Method::DELETE, &url, &[]).await.status, StatusCode::METHOD_NOT_ALLOWED);
    site.end().await;
}
