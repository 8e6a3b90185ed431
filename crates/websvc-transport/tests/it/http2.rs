//! HTTP/2: by ALPN, by prior knowledge, and its known attacks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;
use websvc_testkit::Authority;
use websvc_transport::{
    AddressGuard, Body, Client, ClientConfig, FetchRequest, ServerBody, ServerConfig, TlsFiles,
};

use crate::support::{echo, get, hello, loopback, serve, url};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const SOON: Duration = Duration::from_secs(5);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Returns the frame of a `GET /` that ends its stream, with headers of the static table only.
fn get_root(stream: u32) -> Vec<u8> {
    frame(1, 0x5, stream, &[0x82, 0x86, 0x84, 0x41, 0x01, b'a'])
}

/// Reads frames until one has the kind `wanted`. `None` when the connection ends first.
async fn find_frame(stream: &mut TcpStream, wanted: u8) -> Option<Vec<u8>> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await.ok()?;
        if head[3] == wanted {
            return Some(payload);
        }
    }
}

#[tokio::test]
async fn prior_knowledge_is_recognized_in_chunks_of_any_size() {
    let server = serve(loopback(), hello).await;
    for size in [1, 3, 24, 100] {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let bytes = [PREFACE, &frame(SETTINGS, 0, 0, &[]), &get_root(1)].concat();
        for piece in bytes.chunks(size) {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        let data = timeout(SOON, find_frame(&mut stream, 0)).await.unwrap();
        assert_eq!(data.as_deref(), Some(&b"hello"[..]), "in chunks of {size}");
    }
}

#[tokio::test]
async fn prefix_of_the_http2_preface_is_http1() {
    let server = serve(loopback(), hello).await;
    for method in ["P", "PR", "PRI", "POST"] {
        let request = format!("{method} / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        let response = crate::support::converse(server.addr, request.as_bytes()).await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{method}: {response}");
    }
}

#[tokio::test]
async fn rapid_resets_close_the_connection() {
    let server = serve(loopback(), hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    let mut flood = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    for i in 0..2000_u32 {
        flood.extend(get_root(2 * i + 1));
        flood.extend(frame(3, 0, 2 * i + 1, &8_u32.to_be_bytes()));
    }
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(&flood).await;
    let goaway = timeout(SOON, find_frame(&mut stream, GOAWAY)).await.unwrap();
    if let Some(goaway) = goaway {
        assert_eq!(goaway[4..8], 11_u32.to_be_bytes(), "ENHANCE_YOUR_CALM");
    }
    let fetched = crate::support::open_client().fetch(get(server.url("/").as_str())).await.unwrap();
    assert_eq!(fetched.status, 200);
}

#[tokio::test]
async fn idle_connection_gets_goaway() {
    let server = serve(ServerConfig { idle_timeout: Duration::from_millis(150), ..loopback() }, hello).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[]), &get_root(1)].concat()).await.unwrap();
    assert!(timeout(SOON, find_frame(&mut stream, GOAWAY)).await.unwrap().is_some());
}

/// Starts a TLS server for `a.test` and returns it with a client that trusts it and connects to it.
async fn secure<H, F>(handler: H) -> (crate::support::Running, Client, tempfile::TempDir)
where
    H: Fn(Request<ServerBody>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.issue_into(dir.path(), &["a.test".to_owned()]);
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, authority.pem()).unwrap();
    let tls = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    let server = serve(ServerConfig { tls: Some(tls), ..loopback() }, handler).await;
    let guard = AddressGuard::public().connect_to("a.test:443", &server.addr.to_string()).unwrap();
    let client = Client::new(ClientConfig { ca_file: Some(ca_file), ..ClientConfig::new(guard) }).unwrap();
    (server, client, dir)
}

#[tokio::test]
async fn alpn_selects_http2_and_requests_share_the_connection() {
    let peers = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&peers);
    let (_server, client, _dir) = secure(move |request: Request<ServerBody>| {
        let peer = request.body().peer_addr();
        seen.lock().unwrap().push((peer, request.version()));
        async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Response::new(Body::from("ok"))
        }
    })
    .await;
    client.fetch(get("https://a.test/")).await.unwrap();
    let mut fetches = JoinSet::new();
    for _ in 0..10 {
        let client = client.clone();
        fetches.spawn(async move { client.fetch(get("https://a.test/x")).await.unwrap().body });
    }
    fetches.join_all().await;
    let peers = peers.lock().unwrap();
    assert_eq!(peers.len(), 11);
    assert!(peers.iter().all(|seen| *seen == (peers[0].0, Version::HTTP_2)), "{peers:?}");
}

#[tokio::test]
async fn http2_bodies_have_limits() {
    let (_server, client, _dir) = secure(echo).await;
    let body = vec![b'x'; 900_000];
    let fetched = client.fetch(FetchRequest::post(url("https://a.test/"), body.clone())).await.unwrap();
    assert_eq!((fetched.status.as_u16(), fetched.body), (200, body.into()));
    let large = vec![b'x'; 15 * 1024 * 1024];
    let fetched = client.fetch(FetchRequest::post(url("https://a.test/"), large)).await.unwrap();
    assert_eq!(fetched.status, 413);
    assert_eq!(
        client.fetch(FetchRequest::post(url("https://a.test/"), "again")).await.unwrap().body,
        "again"
    );
}

#[tokio::test]
async fn http2_large_headers_get_431() {
    let (_server, client, _dir) = secure(hello).await;
    let mut request = get("https://a.test/");
    request.headers.insert("x-large", "x".repeat(100_000).parse().unwrap());
    assert_eq!(client.fetch(request).await.unwrap().status, 431);
}

#[tokio::test]
async fn http2_shutdown_finishes_streams() {
    let arrived = Arc::new(Notify::new());
    let notify = Arc::clone(&arrived);
    let (server, client, _dir) = secure(move |_| {
        notify.notify_one();
        async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Response::new(Body::from("late"))
        }
    })
    .await;
    let in_flight = tokio::spawn(async move { client.fetch(get("https://a.test/")).await });
    timeout(SOON, arrived.notified()).await.unwrap();
    let report = timeout(SOON, server.stop()).await.unwrap().unwrap();
    assert_eq!(in_flight.await.unwrap().unwrap().body, "late");
    assert_eq!(report.aborted, 0);
}
