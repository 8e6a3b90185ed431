//! Tests of fetches: requests, responses and timeouts.

use std::time::{Duration, Instant};

use http::header::{ACCEPT_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{Client, ClientConfig, FetchError, FetchPhase, FetchRequest, OversizePolicy};

use crate::support::{client_of, get, open_client, url};

#[tokio::test]
async fn error_status_is_a_response() {
    let world = TestWeb::builder()
        .page("http://a.test/gone", Page::html("gone").status(410).header("x-extra", "1"))
        .start()
        .await;
    let fetched = client_of(&world).fetch(get("http://a.test/gone")).await.unwrap();
    assert_eq!((fetched.status.as_u16(), &fetched.body[..]), (410, &b"gone"[..]));
    assert_eq!(fetched.headers["x-extra"], "1");
    assert_eq!(fetched.wire_bytes, 4);
}

#[tokio::test]
async fn request_has_the_given_method_headers_and_body() {
    let world = TestWeb::builder().page("http://a.test/p", Page::text("ok")).start().await;
    let config = ClientConfig {
        user_agent: Some(HeaderValue::from_static("websvc-test")),
        ..ClientConfig::new(world.guard())
    };
    let client = Client::new(config).unwrap();
    client.fetch(FetchRequest::post(url("http://a.test/p?q=a%20b|c#frag"), "data")).await.unwrap();
    let headers = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static("own"))]);
    client.fetch(FetchRequest { headers, method: Method::HEAD, ..get("http://a.test/p") }).await.unwrap();
    let seen = world.requests();
    assert_eq!((seen[0].method.as_str(), seen[0].url.as_str()), ("POST", "http://a.test/p?q=a%20b|c"));
    assert_eq!(seen[0].body, "data");
    assert_eq!(seen[0].header("user-agent"), Some("websvc-test"));
    assert_eq!(seen[0].header(ACCEPT_ENCODING.as_str()), Some("gzip, deflate, br, zstd"));
    assert_eq!((seen[1].method.as_str(), seen[1].header("user-agent")), ("HEAD", Some("own")));
}

#[tokio::test]
async fn declared_length_above_the_limit_fails() {
    let world = TestWeb::builder().page("http://a.test/", Page::text("x".repeat(5000))).start().await;
    let request = FetchRequest { max_body_bytes: 4999, ..get("http://a.test/") };
    let error = client_of(&world).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 4999 }), "{error:?}");
    let request = FetchRequest { max_body_bytes: 5000, ..get("http://a.test/") };
    assert_eq!(client_of(&world).fetch(request).await.unwrap().body.len(), 5000);
}

#[tokio::test]
async fn endless_body_fails_at_the_limit() {
    let page = Page::endless("text/html", vec![b'x'; 16 * 1024]);
    let world = TestWeb::builder().page("http://a.test/", page).start().await;
    let request = FetchRequest { max_body_bytes: 1_000_000, ..get("http://a.test/") };
    let error = client_of(&world).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit: 1_000_000 }), "{error:?}");
}

#[tokio::test]
async fn oversize_body_is_truncated_if_requested() {
    let world = TestWeb::builder()
        .page("http://a.test/endless", Page::endless("text/html", vec![b'x'; 16 * 1024]))
        .page("http://a.test/announced", Page::text("x".repeat(50_000)))
        .page("http://a.test/exact", Page::text("x".repeat(4999)))
        .start()
        .await;
    let client = client_of(&world);
    for (path, truncated) in [("endless", true), ("announced", true), ("exact", false), ("endless", true)] {
        let mut request = get(&format!("http://a.test/{path}"));
        (request.max_body_bytes, request.oversize) = (4999, OversizePolicy::Truncate);
        let fetched = client.fetch(request).await.unwrap();
        assert_eq!(
            (fetched.body.len(), fetched.wire_bytes, fetched.truncated),
            (4999, 4999, truncated),
            "{path}"
        );
    }
}

#[tokio::test]
async fn slow_body_times_out() {
    let page = Page::html("x".repeat(1000)).slow(1, Duration::from_millis(40));
    let world = TestWeb::builder().page("http://a.test/", page).start().await;
    assert_times_out(&world, "http://a.test/", FetchPhase::Body).await;
}

#[tokio::test]
async fn silent_server_times_out() {
    let world = TestWeb::builder().page("http://a.test/", Page::unresponsive()).start().await;
    assert_times_out(&world, "http://a.test/", FetchPhase::Response).await;
}

async fn assert_times_out(world: &TestWeb, text: &str, expected: FetchPhase) {
    let request = FetchRequest { timeout: Duration::from_millis(300), ..get(text) };
    let started = Instant::now();
    let error = client_of(world).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { phase, .. } if phase == expected), "{error:?}");
    assert!(started.elapsed() < Duration::from_millis(800));
}

#[tokio::test]
async fn endless_tls_handshake_is_a_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    let request = FetchRequest { connect_timeout: Duration::from_millis(200), ..get(&address) };
    let error = open_client().fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { phase: FetchPhase::Connect, .. }), "{error:?}");
}

#[tokio::test]
async fn truncated_body_is_returned_and_marked() {
    let page = Page::html("0123456789".repeat(1000)).truncated_at(5000);
    let world = TestWeb::builder().page("http://a.test/", page).start().await;
    for scheme in ["http", "https"] {
        let fetched = client_of(&world).fetch(get(&format!("{scheme}://a.test/"))).await.unwrap();
        assert_eq!(fetched.body.len(), 5000, "{scheme}");
        assert!(fetched.truncated);
        assert_eq!(fetched.warnings, ["the body broke off after 5000 bytes"]);
    }
}

#[tokio::test]
async fn invalid_http_response_is_an_error() {
    let table: [&[u8]; 4] =
        [b"SSH-2.0-OpenSSH_9.6\r\n", b"", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nhalf"];
    for response in table {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            stream.write_all(response).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let error = open_client().fetch(get(&address)).await.unwrap_err();
        assert!(matches!(error, FetchError::Protocol { .. }), "{response:?}: {error:?}");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn endless_response_headers_are_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream.write_all(b"x-more: of the same, again and again and again\r\n").await.is_ok() {}
    });
    let error = open_client().fetch(get(&address)).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn closed_port_is_a_connect_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = open_client().fetch(get(&address)).await.unwrap_err();
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn directory_is_served_with_types_and_without_traversal() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("site");
    std::fs::create_dir_all(root.join("sub dir")).unwrap();
    std::fs::write(root.join("index.html"), "home").unwrap();
    std::fs::write(root.join("sub dir/index.html"), "sub").unwrap();
    std::fs::write(root.join("style.css"), "css").unwrap();
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    let world = TestWeb::builder().directory("files.test", &root).start().await;
    let client = client_of(&world);
    let home = client.fetch(get("http://files.test/")).await.unwrap();
    assert_eq!(
        (&home.body[..], &home.headers["content-type"]),
        (&b"home"[..], &"text/html; charset=utf-8".parse().unwrap())
    );
    let sub = client.fetch(get("http://files.test/sub%20dir")).await.unwrap();
    assert_eq!((&sub.body[..], sub.url.path()), (&b"sub"[..], "/sub%20dir/"));
    assert_eq!(
        client.fetch(get("http://files.test/style.css")).await.unwrap().headers["content-type"],
        "text/css; charset=utf-8"
    );
    for path in ["/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/sub%20dir/..%2f..%2fsecret.txt", "/missing"] {
        assert_eq!(
            client.fetch(get(&format!("http://files.test{path}"))).await.unwrap().status,
            404,
            "{path}"
        );
    }
}
