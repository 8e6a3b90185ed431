//! Answers 101: another protocol on a connection of the server, within the limits of connections.

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

const ASK: &str = "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";

/// Echoes until the client is done or the server stops, of which it tells.
async fn echo(mut tunnel: Tunnel, mut draining: ShutdownSignal) {
    let mut buffer = [0; 1024];
    loop {
        tokio::select! {
            () = draining.begun() => {
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

fn answer(body: Body) -> Response<Body> {
    let answer = Response::builder().status(101).header(CONNECTION, "upgrade").header(UPGRADE, "echo");
    answer.body(body).unwrap()
}

async fn echoing(config: ServerConfig) -> Running {
    serve(config, |_request: Request<ServerBody>| async { answer(Body::upgrade(echo)) }).await
}

async fn switched(running: &Running) -> TcpStream {
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    stream.write_all(ASK.as_bytes()).await.unwrap();
    let head = read_until(&mut stream, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    stream
}

async fn rest(mut stream: TcpStream) -> String {
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.unwrap();
    rest
}

#[tokio::test]
async fn bytes_go_both_ways_those_that_came_with_the_request_too() {
    let running = echoing(loopback()).await;
    let mut stream = TcpStream::connect(running.addr).await.unwrap();
    stream.write_all(format!("{ASK}early").as_bytes()).await.unwrap();
    read_until(&mut stream, "early").await;
    stream.write_all(b"late").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(stream).await, "late");
}

#[tokio::test]
async fn the_own_client_speaks_with_the_own_server() {
    let running = echoing(loopback()).await;
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
async fn who_did_not_ask_for_it_gets_no_other_protocol() {
    let running = echoing(loopback()).await;
    let plain = "GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n";
    let old = "GET / HTTP/1.0\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    for request in [plain, old] {
        let answer = converse(running.addr, request.as_bytes()).await;
        assert!(answer.contains(" 500 "), "{request}: {answer}");
    }
    // A refusal is an answer like any other, and the connection goes on.
    let refusing =
        serve(loopback(), |_request: Request<ServerBody>| async { Response::new(Body::from("no")) }).await;
    let mut stream = TcpStream::connect(refusing.addr).await.unwrap();
    for _ in 0..2 {
        stream.write_all(ASK.as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, "no").await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[tokio::test]
async fn silence_is_the_affair_of_the_protocol_and_not_of_the_idle_timeout() {
    let config = ServerConfig {
        idle_timeout: Duration::from_millis(50),
        header_timeout: Duration::from_millis(50),
        ..loopback()
    };
    let running = echoing(config).await;
    let mut stream = switched(&running).await;
    assert!(timeout(Duration::from_millis(300), stream.read_u8()).await.is_err());
    stream.write_all(b"still").await.unwrap();
    read_until(&mut stream, "still").await;
}

#[tokio::test]
async fn a_stop_is_told_and_waited_for_a_little_while() {
    let running = echoing(loopback()).await;
    let stream = switched(&running).await;
    let ended = running.stop();
    assert_eq!(rest(stream).await, "bye");
    let report = ended.await.unwrap();
    assert_eq!((report.finished, report.aborted), (1, 0));
}

#[tokio::test]
async fn who_does_not_hear_of_a_stop_is_cut() {
    let deaf = |_request: Request<ServerBody>| async {
        answer(Body::upgrade(|tunnel, _draining| async move {
            let _open = tunnel;
            std::future::pending::<()>().await;
        }))
    };
    let running = serve(loopback(), deaf).await;
    let stream = switched(&running).await;
    let started = Instant::now();
    let ended = running.stop();
    assert_eq!(rest(stream).await, "");
    ended.await.unwrap();
    assert!(started.elapsed() < loopback().drain_timeout, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut() {
    let (told, failed) = oneshot::channel::<()>();
    let told = std::sync::Arc::new(std::sync::Mutex::new(Some(told)));
    let config = ServerConfig { write_stall_timeout: Duration::from_millis(100), ..loopback() };
    let running = serve(config, move |_request: Request<ServerBody>| {
        let told = told.lock().unwrap().take();
        async {
            answer(Body::upgrade(|mut tunnel, _draining| async move {
                // It is dropped where it waits, which drops the sender.
                let _told = told;
                while tunnel.write_all(&[0; 65536]).await.is_ok() {}
                std::future::pending::<()>().await;
            }))
        }
    })
    .await;
    let _stream = switched(&running).await;
    assert!(timeout(Duration::from_secs(30), failed).await.expect("the protocol ends").is_err());
}

#[tokio::test]
async fn it_counts_as_a_connection_until_it_ends() {
    let running = echoing(ServerConfig { max_connections: 1, ..loopback() }).await;
    let first = switched(&running).await;
    let mut second = TcpStream::connect(running.addr).await.unwrap();
    second.write_all(ASK.as_bytes()).await.unwrap();
    assert!(timeout(Duration::from_millis(200), second.read_u8()).await.is_err());
    drop(first);
    read_until(&mut second, "\r\n\r\n").await;
}

#[tokio::test]
async fn a_panic_ends_its_connection_alone() {
    let running = serve(loopback(), |request: Request<ServerBody>| async move {
        match request.uri().path() {
            "/ok" => Response::new(Body::from("fine")),
            _ => answer(Body::upgrade(|_tunnel, _draining| async { panic!("on purpose") })),
        }
    })
    .await;
    assert_eq!(rest(switched(&running).await).await, "");
    let answer = converse(running.addr, b"GET /ok HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    assert!(answer.ends_with("fine"), "{answer}");
    let report = running.stop().await.unwrap();
    assert_eq!(report.aborted, 0);
}
