//! Graceful shutdown, panics, and clients that disconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use http::{Request, Response};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::timeout;
use websvc_transport::{Body, Server, ServerBody, ServerConfig, ServerError, ShutdownReport};

use crate::support::{converse, get, hello, loopback, open_client, read_until, serve};

const SOON: Duration = Duration::from_secs(3);

#[derive(Default)]
struct Gate {
    entered: Notify,
    open: Notify,
}

/// Returns a handler that reports each call and responds when the gate opens.
fn gated_handler(
    gate: &Arc<Gate>,
) -> impl Fn(Request<ServerBody>) -> BoxedResponse + Clone + Send + Sync + 'static + use<> {
    let gate = Arc::clone(gate);
    move |_| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.entered.notify_one();
            gate.open.notified().await;
            Response::new(Body::from("late"))
        })
    }
}

type BoxedResponse = std::pin::Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

#[tokio::test]
async fn shutdown_finishes_requests_in_flight_and_accepts_no_more() {
    let gate = Arc::new(Gate::default());
    let server = serve(loopback(), gated_handler(&gate)).await;
    let (addr, address) = (server.addr, server.url("/"));
    let mut idle = TcpStream::connect(addr).await.unwrap();
    let in_flight = tokio::spawn(async move { open_client().fetch(get(address.as_str())).await });
    gate.entered.notified().await;

    let stopped = server.stop();
    // The idle connection and the listener are closed at once.
    let mut end = Vec::new();
    timeout(SOON, tokio::io::AsyncReadExt::read_to_end(&mut idle, &mut end)).await.unwrap().unwrap();
    assert!(TcpStream::connect(addr).await.is_err());
    assert!(!stopped.is_finished());

    gate.open.notify_one();
    assert_eq!(in_flight.await.unwrap().unwrap().body, "late");
    let report = timeout(SOON, stopped).await.unwrap().unwrap();
    assert_eq!(report.aborted, 0);
    assert!(report.finished >= 1);
}

#[tokio::test]
async fn shutdown_ends_at_the_drain_timeout() {
    let gate = Arc::new(Gate::default());
    let config = ServerConfig { drain_timeout: Duration::from_millis(100), ..loopback() };
    let server = serve(config, gated_handler(&gate)).await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    gate.entered.notified().await;
    let report = timeout(SOON, server.stop()).await.unwrap().unwrap();
    assert_eq!(report, ShutdownReport { finished: 0, aborted: 1 });
}

#[tokio::test]
async fn shutdown_of_unused_server_is_immediate() {
    let server = serve(loopback(), hello).await;
    let started = Instant::now();
    assert_eq!(server.stop().await.unwrap(), ShutdownReport { finished: 0, aborted: 0 });
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn handler_panic_gets_500_and_the_server_continues() {
    let config = loopback().with_error_reply(|status| {
        Response::builder()
            .header("x-made-by", "fallback")
            .body(Body::from(format!("oops {}", status.as_u16())))
            .unwrap()
    });
    let server = serve(config, |request: Request<ServerBody>| {
        assert!(request.uri().path() != "/early", "before the first await");
        async move {
            tokio::task::yield_now().await;
            assert!(request.uri().path() != "/late", "after an await");
            Response::new(Body::from("fine"))
        }
    })
    .await;
    let client = open_client();
    for path in ["/early", "/late"] {
        let fetched = client.fetch(get(server.url(path).as_str())).await.unwrap();
        assert_eq!((fetched.status.as_u16(), &fetched.body[..]), (500, &b"oops 500"[..]), "{path}");
        assert_eq!(fetched.headers["x-made-by"], "fallback");
    }
    assert_eq!(client.fetch(get(server.url("/").as_str())).await.unwrap().body, "fine");
}

#[tokio::test]
async fn client_disconnect_drops_the_handler() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (entered, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (enter, drops) = (Arc::clone(&entered), Arc::clone(&dropped));
    let server = serve(loopback(), move |_| {
        let (enter, guard) = (Arc::clone(&enter), Dropped(Arc::clone(&drops)));
        async move {
            let _guard = guard;
            enter.notify_one();
            std::future::pending().await
        }
    })
    .await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    entered.notified().await;
    drop(stream);
    timeout(SOON, dropped.notified()).await.expect("the handler is dropped");
}

#[tokio::test]
async fn aborted_body_is_truncated_at_the_client() {
    let server = serve(loopback(), |_| async {
        let (sender, body) = Body::channel(1);
        tokio::spawn(async move {
            sender.send("part").await.unwrap();
            sender.abort().await;
        });
        Response::new(body)
    })
    .await;
    let fetched = open_client().fetch(get(server.url("/").as_str())).await.unwrap();
    assert_eq!(fetched.body, "part");
    assert!(fetched.truncated);
}

#[tokio::test]
async fn reader_body_has_its_declared_length() {
    static FILE: [u8; 200_000] = [7; 200_000];
    let server = serve(loopback(), |request| async move {
        let length: u64 = request.uri().path()[1..].parse().unwrap();
        Response::new(Body::reader(&FILE[..], length))
    })
    .await;
    let client = open_client();
    let fetch = |path: &str| client.fetch(get(server.url(path).as_str()));
    for length in [0, 1, 65_536, 65_537, 200_000] {
        let fetched = fetch(&format!("/{length}")).await.unwrap();
        assert_eq!((fetched.body.len(), fetched.truncated), (length, false));
        assert_eq!(fetched.headers["content-length"], length.to_string());
    }
    let short = fetch("/200001").await.unwrap();
    // The last chunk may be lost with the connection.
    assert!(
        short.truncated && short.body.len() <= 200_000,
        "a body that is too short must not look complete"
    );
}

#[tokio::test]
async fn bind_to_an_address_in_use_fails_with_the_address() {
    let server = serve(loopback(), hello).await;
    let listen = server.addr.to_string();
    let error = Server::bind(ServerConfig::new(listen.clone())).await.unwrap_err();
    assert!(matches!(&error, ServerError::Bind { listen: named, .. } if *named == listen), "{error:?}");
    assert_eq!(error.to_string(), format!("cannot listen on {listen}"));
}

#[tokio::test]
async fn streamed_body_arrives_chunk_by_chunk() {
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let server = serve(loopback(), move |_| {
        let opened = Arc::clone(&opened);
        async move {
            let (sender, body) = Body::channel(1);
            tokio::spawn(async move {
                sender.send("first").await.unwrap();
                opened.notified().await;
                sender.send("second").await.unwrap();
            });
            Response::new(body)
        }
    })
    .await;
    let mut stream = TcpStream::connect(server.addr).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    timeout(SOON, read_until(&mut stream, "first")).await.unwrap();
    gate.notify_one();
    timeout(SOON, read_until(&mut stream, "second\r\n0\r\n\r\n")).await.unwrap();
}

#[tokio::test]
async fn date_follows_the_clock_ahead_and_back() {
    static NOW_S: AtomicU64 = AtomicU64::new(0);
    let clock = || UNIX_EPOCH + Duration::from_secs(NOW_S.load(Ordering::Relaxed));
    let server = serve(ServerConfig { clock, ..loopback() }, hello).await;
    for (now_s, expected) in [
        (1_796_000_000, "Mon, 30 Nov 2026 00:53:20 GMT"),
        (1_796_172_800, "Wed, 02 Dec 2026 00:53:20 GMT"),
        (1_796_000_003, "Mon, 30 Nov 2026 00:53:23 GMT"),
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (u64::from(u32::MAX) * 100, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] {
        NOW_S.store(now_s, Ordering::Relaxed);
        let reply = converse(server.addr, b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
        let dates: Vec<&str> = reply.lines().filter_map(|line| line.strip_prefix("date: ")).collect();
        assert_eq!(dates, [expected], "{reply}");
    }
}
