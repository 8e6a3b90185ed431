//! Tests of artifacts over HTTP, with a service on loopback.

use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG};
use http::{Method, StatusCode};
use websvc_artifacts::{ArtifactKind, Artifacts, ArtifactsConfig, Retention};
use websvc_transport::FetchResponse;

use crate::server::TestServer;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The size of a file that is sent in more than one chunk.
const LARGE: usize = 200_001;

impl TestServer {
    /// Stores an artifact of the running service as another process would, and returns its signed URL.
    async fn put(&self, kind: ArtifactKind, content: Vec<u8>, max_age: Duration) -> String {
        let config = ArtifactsConfig::in_directory(self.directory.path().join("artifacts"));
        let artifacts = Artifacts::open(self.store(), ArtifactsConfig { max_age, ..config }).unwrap();
        let team = artifacts.for_team("default", Retention::Stored);
        team.put(kind, Bytes::from(content), DAY).await.unwrap().url(&self.address)
    }

    async fn get(&self, url: &str) -> FetchResponse {
        self.request(Method::GET, url, &[]).await
    }
}

fn header<'a>(response: &'a FetchResponse, name: &str) -> &'a str {
    response.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn image() -> Vec<u8> {
    (0..LARGE).map(|index| (index % 251) as u8).collect()
}

#[tokio::test]
async fn artifact_has_its_media_type_and_may_be_cached_until_it_expires() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Png, image(), DAY).await;
    let response = server.get(&url).await;
    assert_eq!(
        (response.status, response.headers[CONTENT_TYPE].as_bytes()),
        (StatusCode::OK, &b"image/png"[..])
    );
    assert_eq!(response.body, image());
    assert_eq!(header(&response, "content-length"), LARGE.to_string());
    let cache = header(&response, "cache-control");
    assert!(cache.starts_with("private, max-age=86") && cache.ends_with(", immutable"), "{cache}");
    assert_eq!(header(&response, "x-content-type-options"), "nosniff");
    assert_eq!(header(&response, "referrer-policy"), "no-referrer");
    assert_eq!(header(&response, "x-robots-tag"), "noindex");
    assert!(header(&response, "content-disposition").starts_with("inline; filename=\""));
    let tag = header(&response, "etag").to_owned();
    let again = server.request(Method::GET, &url, &[(http::header::IF_NONE_MATCH, &tag)]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(again.headers[ETAG], tag);
    server.shut_down().await;
}

#[tokio::test]
async fn head_and_range_requests_are_supported() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Mp4, image(), DAY).await;
    let head = server.request(Method::HEAD, &url, &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(header(&head, "content-length"), LARGE.to_string());
    assert_eq!(header(&head, "accept-ranges"), "bytes");
    let part = server.request(Method::GET, &url, &[(http::header::RANGE, "bytes=100000-100009")]).await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.body, image()[100_000..100_010]);
    assert_eq!(header(&part, "content-range"), format!("bytes 100000-100009/{LARGE}"));
    let after_end = server.request(Method::GET, &url, &[(http::header::RANGE, "bytes=200001-")]).await;
    assert_eq!(after_end.status, StatusCode::RANGE_NOT_SATISFIABLE);
    assert_eq!(header(&after_end, "content-range"), format!("bytes */{LARGE}"));
    assert!(after_end.body.starts_with(b"{\"success\":false"));
    server.shut_down().await;
}

#[tokio::test]
async fn markup_is_downloaded_and_sandboxed() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Html, b"<script>alert(1)</script>".to_vec(), DAY).await;
    let response = server.get(&url).await;
    assert!(header(&response, "content-security-policy").contains("sandbox"));
    assert!(header(&response, "content-disposition").starts_with("attachment;"));
    server.shut_down().await;
}

#[tokio::test]
async fn request_with_a_key_gets_only_artifacts_of_its_team() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Png, image(), DAY).await;
    let (store, request) = (server.store(), |key: String| {
        let (server, url) = (&server, &url);
        async move { server.request(Method::GET, url, &[(AUTHORIZATION, &format!("Bearer {key}"))]).await.status }
    });
    let key = |team: &str| store.create_key(team, "").unwrap().secret.expose().to_owned();
    assert_eq!(request(key("default")).await, StatusCode::OK);
    assert_eq!(request(key("others")).await, StatusCode::NOT_FOUND);
    assert_eq!(request("fc-unknown".to_owned()).await, StatusCode::UNAUTHORIZED);
    server.shut_down().await;
}

#[tokio::test]
async fn expired_artifact_is_gone() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Png, image(), Duration::ZERO).await;
    let mut response = server.get(&url).await;
    while response.status == StatusCode::OK {
        response = server.get(&url).await;
    }
    assert_eq!(response.status, StatusCode::GONE);
    let body = String::from_utf8_lossy(&response.body);
    assert!(body.contains("\"code\":\"GONE\""), "{body}");
    server.shut_down().await;
}

#[tokio::test]
async fn invalid_urls_are_not_found() {
    let server = TestServer::start().await;
    let url = server.put(ArtifactKind::Png, image(), DAY).await;
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
        let response = server.get(&wrong).await;
        assert_eq!(response.status, StatusCode::NOT_FOUND, "{wrong}");
    }
    assert_eq!(server.request(Method::DELETE, &url, &[]).await.status, StatusCode::METHOD_NOT_ALLOWED);
    server.shut_down().await;
}
