//! Responses with status 101: another protocol on a connection of the server, within the limits of connections.

use std::time::Duration;

use http::header::{CONNECTION, UPGRADE};
use http::{HeaderMap, Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use websvc_transport::{
    AddressGuard, Body, Client, ClientConfig, ServerBody, ServerConfig, ShutdownSignal, Tunnel, Upgrade,
    UpgradeRequest,
};

use crate::support::{Running, converse, loopback, read_until, serve};

const UPGRADE_REQUEST: &str =
    "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";

/// Echoes until the client closes, or until the server shuts down, which it reports with "bye".
async fn echo(mut tunnel: Tunnel, mut draining: ShutdownSignal) {
    let mut buffer = [0; 1024];
    loop {
        tokio::select! {
            () = draining.wait() => {
                tunnel.write_all(b"bye").await.unwrap();
                break;
            }
            read = tunnel.read(&mut buffer) => match read.unwrap() {
                0 => break,
                read => tunnel.write_all(&buffer[..read]).await.unwrap(),
            },
        }
    }
    tunnel.shutdown().await.unwrap();
}

fn switching_protocols(body: Body) -> Response<Body> {
    let response = Response::builder().status(101).header(CONNECTION, "upgrade").header(UPGRADE, "echo");
    response.body(body).unwrap()
}

async fn serve_echo(config: ServerConfig) -> Running {
    serve(config, |_request: Request<ServerBody>| async { switching_protocols(Body::upgrade(echo)) }).await
}

async fn upgraded(running: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    stream.write_all(UPGRADE_REQUEST.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    stream
}

async fn read_rest(mut stream: TcpStream) -> String {
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    rest
}

#[tokio::test]
async fn bytes_sent_with_the_request_reach_the_new_protocol() {
    let running = serve_echo(loopback()).await;
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    stream.write_all(format!("{UPGRADE_REQUEST}early").as_bytes()).await.unwrap();
    read_until(&mut stream, "early").await;
    stream.write_all(b"late").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(read_rest(stream).await, "late");
}

#[tokio::test]
async fn own_client_can_upgrade_at_own_server() {
    let running = serve_echo(loopback()).await;
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let request = UpgradeRequest {
        url: running.url("/"),
        protocol: "echo",
        headers: HeaderMap::new(),
        timeout: Duration::from_secs(10),
    };
    let Upgrade::Switched { mut tunnel, .. } = client.upgrade(request).await.unwrap() else { panic!() };
    tunnel.write_all(b"hello").await.unwrap();
    let mut echoed = [0; 5];
    tunnel.read_exact(&mut echoed).await.unwrap();
    assert_eq!(&echoed, b"hello");
}

#[tokio::test]
async fn request_without_upgrade_gets_500() {
    let running = serve_echo(loopback()).await;
    let plain = "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n";
    let old = "GET / HTTP/1.0\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    for request in [plain, old] {
        let response = converse(running.addr, request.as_bytes()).await;
        assert!(response.contains(" 500 "), "{request}: {response}");
    }
    // Another response than 101 leaves the connection to HTTP.
    let refusing =
        serve(loopback(), |_request: Request<ServerBody>| async { Response::new(Body::from("no")) }).await;
    let mut stream = TcpStream::connect(refusing.addr).await.unwrap();
    for _ in 0..2 {
        stream.write_all(UPGRADE_REQUEST.as_bytes()).await.unwrap();
        let response = read_until(&mut stream, "no").await;
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    }
}

#[tokio::test]
async fn idle_timeout_does_not_apply_after_an_upgrade() {
    let config = ServerConfig {
        idle_timeout: Duration::from_millis(50),
        header_timeout: Duration::from_millis(50),
        ..loopback()
    };
    let running = serve_echo(config).await;
    let mut stream = upgraded(&running).await;
    assert!(timeout(Duration::from_millis(300), stream.read_u8()).await.is_err());
    stream.write_all(b"still").await.unwrap();
    read_until(&mut stream, "still").await;
}

#[tokio::test]
async fn upgraded_connection_is_notified_of_the_shutdown() {
    let running = serve_echo(loopback()).await;
    let stream = upgraded(&running).await;
    let shutdown = running.stop();
    assert_eq!(read_rest(stream).await, "bye");
    let report = shutdown.await.unwrap();
    assert_eq!((report.finished, report.aborted), (1, 0));
}

#[tokio::test]
async fn upgraded_connection_that_ignores_the_shutdown_is_closed() {
    let ignore_shutdown = |_request: Request<ServerBody>| async {
        switching_protocols(Body::upgrade(|tunnel, _draining| async move {
            let _open = tunnel;
            std::future::pending::<()>().await;
        }))
    };
    let running = serve(loopback(), ignore_shutdown).await;
    let stream = upgraded(&running).await;
    let started = Instant::now();
    let shutdown = running.stop();
    assert_eq!(read_rest(stream).await, "");
    shutdown.await.unwrap();
    assert!(started.elapsed() < loopback().drain_timeout, "{:?}", started.elapsed());
}

#[tokio::test]
async fn upgraded_connection_is_closed_when_the_client_stops_reading() {
    let (sender, dropped) = oneshot::channel::<()>();
    let sender = std::sync::Arc::new(std::sync::Mutex::new(Some(sender)));
    let config = ServerConfig { write_stall_timeout: Duration::from_millis(100), ..loopback() };
    let running = serve(config, move |_request: Request<ServerBody>| {
        let sender = sender.lock().unwrap().take();
        async {
            switching_protocols(Body::upgrade(|mut tunnel, _draining| async move {
                // The protocol is dropped while it waits, which drops the sender.
                let _sender = sender;
                while tunnel.write_all(&[0; 65536]).await.is_ok() {}
                std::future::pending::<()>().await;
            }))
        }
    })
    .await;
    let _stream = upgraded(&running).await;
    assert!(timeout(Duration::from_secs(30), dropped).await.expect("the protocol ends").is_err());
}

#[tokio::test]
async fn upgraded_connection_counts_until_it_ends() {
    let running = serve_echo(ServerConfig { max_connections: 1, ..loopback() }).await;
    let first = upgraded(&running).await;
    let mut second = TcpStream::connect(running.addr).await.unwrap();
    second.write_all(UPGRADE_REQUEST.as_bytes()).await.unwrap();
    assert!(timeout(Duration::from_millis(200), second.read_u8()).await.is_err());
    drop(first);
    read_until(&mut second, "\r\n\r\n").await;
}

#[tokio::test]
async fn panic_of_protocol_closes_only_its_connection() {
    let running = serve(loopback(), |request: Request<ServerBody>| async move {
        match request.uri().path() {
            "/ok" => Response::new(Body::from("fine")),
            _ => switching_protocols(Body::upgrade(|_tunnel, _draining| async { panic!("on purpose") })),
        }
    })
    .await;
    assert_eq!(read_rest(upgraded(&running).await).await, "");
    let response = converse(running.addr, b"GET /ok HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(response.ends_with("fine"), "{response}");
    let report = running.stop().await.unwrap();
    assert_eq!(report.aborted, 0);
}
