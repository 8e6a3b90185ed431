//! Relays: responses and upgrades that one server passes on from another.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, UPGRADE};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};
use websvc_transport::{
    AddressGuard, Body, BodySender, BodyTimeout, Client, ClientConfig, FetchError, FetchRequest,
    RelayRequest, ServerBody, ShutdownSignal, Tunnel, Upgrade, UpgradeRequest,
};

use crate::support::{Running, loopback, read_until, serve, url};

const LONG: Duration = Duration::from_secs(60);

/// A server that passes all requests on to another one.
struct Edge {
    running: Running,
    permits: Arc<Semaphore>,
}

impl Edge {
    /// Starts a server that passes requests on to `owner`, which may be silent for `silence`.
    async fn start(owner: &Running, silence: Duration) -> Self {
        let permits = Arc::new(Semaphore::new(1));
        let (client, owner, available) = (client(), owner.url("/"), Arc::clone(&permits));
        let running = serve(loopback(), move |request: Request<ServerBody>| {
            let (client, available, mut url) = (client.clone(), Arc::clone(&available), owner.clone());
            async move {
                url.set_path(request.uri().path());
                let is_upgrade = request.headers().contains_key(UPGRADE);
                let method = request.method().clone();
                let body = request.into_body().read(1 << 20, BodyTimeout::default()).await.unwrap();
                let relay = RelayRequest {
                    method,
                    url,
                    headers: HeaderMap::new(),
                    body,
                    upgrade: is_upgrade.then_some("echo"),
                    connect_timeout: LONG,
                    timeout: LONG,
                    silence_timeout: silence,
                    permit: available.acquire_owned().await.unwrap(),
                };
                client.relay(relay).await.unwrap()
            }
        });
        Self { running: running.await, permits }
    }

    /// Waits until the only permit is free again.
    async fn wait_until_released(&self) {
        drop(self.permits.acquire().await.unwrap());
    }
}

fn client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}

#[tokio::test]
async fn response_is_passed_on_while_it_arrives() {
    let (senders, bodies) = std::sync::mpsc::channel::<BodySender>();
    let owner = serve(loopback(), move |request: Request<ServerBody>| {
        let senders = senders.clone();
        async move {
            let method = request.method().clone();
            let text = request.into_body().read(1 << 20, BodyTimeout::default()).await.unwrap();
            assert_eq!((method, &*text), (Method::POST, b"question".as_slice()));
            let (sender, body) = Body::channel(1);
            senders.send(sender).unwrap();
            let response = Response::builder().status(StatusCode::CONFLICT).header("x-said", "1");
            response.header("keep-alive", "timeout=5").body(body).unwrap()
        }
    })
    .await;
    let edge = Edge::start(&owner, LONG).await;
    for _ in 0..2 {
        let mut stream = TcpStream::connect(edge.running.addr).await.unwrap();
        let request =
            "POST /a HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\ncontent-length: 8\r\n\r\nquestion";
        stream.write_all(request.as_bytes()).await.unwrap();
        let head = read_until(&mut stream, "\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 409 ") && head.contains("x-said: 1"), "{head}");
        assert!(!head.contains("keep-alive"), "{head}");
        let sender = bodies.recv().unwrap();
        sender.send("first").await.unwrap();
        // The rest is not sent before the client has this part.
        read_until(&mut stream, "first").await;
        sender.send("second").await.unwrap();
        drop(sender);
        read_until(&mut stream, "second").await;
        edge.wait_until_released().await;
    }
}

#[tokio::test]
async fn body_that_breaks_off_or_stops_is_not_passed_on_as_complete() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeping = Arc::clone(&kept);
    let owner = serve(loopback(), move |request: Request<ServerBody>| {
        let keeping = Arc::clone(&keeping);
        async move {
            let (sender, body) = Body::channel(2);
            sender.send("begin").await.unwrap();
            if request.uri().path() == "/broken" {
                tokio::spawn(sender.abort());
            } else {
                keeping.lock().push(sender);
            }
            Response::new(body)
        }
    })
    .await;
    let edge = Edge::start(&owner, Duration::from_millis(200)).await;
    for path in ["/broken", "/silent"] {
        let response = client().fetch(FetchRequest::get(edge.running.url(path))).await.unwrap();
        assert!(response.truncated, "{path}: {:?}", response.body);
        edge.wait_until_released().await;
    }
    drop(kept);
}

#[tokio::test]
async fn client_that_leaves_ends_the_relay() {
    let (senders, bodies) = oneshot::channel::<BodySender>();
    let senders = Arc::new(Mutex::new(Some(senders)));
    let owner = serve(loopback(), move |_request: Request<ServerBody>| {
        let senders = Arc::clone(&senders);
        async move {
            let (sender, body) = Body::channel(1);
            senders.lock().take().unwrap().send(sender).unwrap();
            Response::new(body)
        }
    })
    .await;
    let edge = Edge::start(&owner, LONG).await;
    let mut stream = TcpStream::connect(edge.running.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n").await.unwrap();
    read_until(&mut stream, "\r\n\r\n").await;
    let sender = bodies.await.unwrap();
    drop(stream);
    sender.closed().await;
    edge.wait_until_released().await;
}

/// Echoes until the client closes.
async fn echo(mut tunnel: Tunnel, _shutdown: ShutdownSignal) {
    let mut buffer = [0; 64];
    while let Ok(read @ 1..) = tunnel.read(&mut buffer).await {
        tunnel.write_all(&buffer[..read]).await.unwrap();
        if buffer[..read].ends_with(b"end") {
            break;
        }
    }
    tunnel.shutdown().await.unwrap();
}

async fn serve_echo() -> Running {
    serve(loopback(), |request: Request<ServerBody>| async move {
        if request.uri().path() == "/refused" {
            let response = Response::builder().status(StatusCode::GONE).header("x-said", "2");
            return response.body(Body::from("gone")).unwrap();
        }
        let response = Response::builder().status(101).header(CONNECTION, "upgrade").header(UPGRADE, "echo");
        response.header("x-said", "1").body(Body::upgrade(echo)).unwrap()
    })
    .await
}

async fn upgrade(edge: &Edge) -> Upgrade {
    let request = UpgradeRequest {
        url: edge.running.url("/"),
        protocol: "echo",
        headers: HeaderMap::new(),
        timeout: LONG,
    };
    client().upgrade(request).await.unwrap()
}

#[tokio::test]
async fn upgrade_connects_both_sides_until_one_closes() {
    let owner = serve_echo().await;
    let edge = Edge::start(&owner, LONG).await;
    let Upgrade::Switched { headers, mut tunnel, .. } = upgrade(&edge).await else { panic!() };
    assert_eq!(headers["x-said"], "1");
    let large = vec![7; 100_000];
    let (mut reader, mut writer) = tokio::io::split(&mut tunnel);
    let mut received = vec![0; large.len()];
    let (written, read) = tokio::join!(writer.write_all(&large), reader.read_exact(&mut received));
    written.unwrap();
    read.unwrap();
    assert!(received == large);
    tunnel.write_all(b"end").await.unwrap();
    let mut rest = String::new();
    tunnel.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "end");
    edge.wait_until_released().await;
    // Here the client closes.
    let Upgrade::Switched { tunnel, .. } = upgrade(&edge).await else { panic!() };
    drop(tunnel);
    edge.wait_until_released().await;
}

#[tokio::test]
async fn upgraded_connection_of_a_silent_server_is_closed() {
    let owner = serve_echo().await;
    let edge = Edge::start(&owner, Duration::from_millis(200)).await;
    let Upgrade::Switched { mut tunnel, .. } = upgrade(&edge).await else { panic!() };
    let mut rest = Vec::new();
    tunnel.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    edge.wait_until_released().await;
}

#[tokio::test]
async fn upgraded_connection_ends_with_the_shutdown_of_the_edge() {
    let owner = serve_echo().await;
    let edge = Edge::start(&owner, LONG).await;
    let Upgrade::Switched { mut tunnel, .. } = upgrade(&edge).await else { panic!() };
    let stopped = edge.running.stop();
    let mut rest = Vec::new();
    tunnel.read_to_end(&mut rest).await.unwrap();
    assert_eq!(stopped.await.unwrap().aborted, 0);
}

#[tokio::test]
async fn refused_upgrade_is_passed_on_with_its_body() {
    let owner = serve_echo().await;
    let edge = Edge::start(&owner, LONG).await;
    let mut stream = TcpStream::connect(edge.running.addr).await.unwrap();
    let request = "GET /refused HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let response = read_until(&mut stream, "gone").await;
    assert!(response.starts_with("HTTP/1.1 410 ") && response.contains("x-said: 2"), "{response}");
    edge.wait_until_released().await;
}

#[tokio::test]
async fn relay_fails_if_nothing_listens_or_a_header_is_reserved() {
    let permits = Arc::new(Semaphore::new(8));
    let relay = |address: &str, upgrade, headers| RelayRequest {
        method: Method::GET,
        url: url(address),
        headers,
        body: Bytes::new(),
        upgrade,
        connect_timeout: LONG,
        timeout: LONG,
        silence_timeout: LONG,
        permit: Arc::clone(&permits).try_acquire_owned().unwrap(),
    };
    // Nothing listens on the port of a listener that is closed.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for upgrade in [None, Some("echo")] {
        let failed = client().relay(relay(&format!("http://{closed}/"), upgrade, HeaderMap::new())).await;
        assert!(matches!(failed, Err(FetchError::Connect { .. })), "{failed:?}");
        let mut headers = HeaderMap::new();
        headers.insert("transfer-encoding", "chunked".parse().unwrap());
        let failed = client().relay(relay(&format!("http://{closed}/"), upgrade, headers)).await;
        assert!(matches!(failed, Err(FetchError::ForbiddenHeader { .. })), "{failed:?}");
    }
    assert_eq!(permits.available_permits(), 8);
}
