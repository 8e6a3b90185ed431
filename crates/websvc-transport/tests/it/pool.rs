//! The connection pool: reuse, limits, and replacement of closed connections.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use websvc_transport::{
    AddressGuard, Body, Client, ClientConfig, FetchError, FetchRequest, ServerBody, ServerConfig,
};

use crate::support::{Running, get, loopback, open_client, serve, url};

/// A server that records its clients and the maximum of concurrent requests.
struct CountingServer {
    server: Running,
    peers: Arc<Mutex<HashSet<SocketAddr>>>,
    max_in_flight: Arc<AtomicUsize>,
}

async fn counting_server(config: ServerConfig, work: Duration) -> CountingServer {
    let peers = Arc::new(Mutex::new(HashSet::new()));
    let (in_flight, max_in_flight) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen, peak) = (Arc::clone(&peers), Arc::clone(&max_in_flight));
    let server = serve(config, move |request: Request<ServerBody>| {
        seen.lock().unwrap().insert(request.body().peer_addr());
        let (in_flight, peak) = (Arc::clone(&in_flight), Arc::clone(&peak));
        async move {
            peak.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(work).await;
            in_flight.fetch_sub(1, Ordering::SeqCst);
            Response::new(Body::from("ok"))
        }
    })
    .await;
    CountingServer { server, peers, max_in_flight }
}

impl CountingServer {
    fn connections(&self) -> usize {
        self.peers.lock().unwrap().len()
    }
}

#[tokio::test]
async fn sequential_requests_share_one_connection() {
    let counting = counting_server(loopback(), Duration::ZERO).await;
    let client = open_client();
    for _ in 0..20 {
        client.fetch(get(counting.server.url("/").as_str())).await.unwrap();
    }
    assert_eq!(counting.connections(), 1);
}

#[tokio::test]
async fn concurrent_requests_per_host_are_limited() {
    let counting = counting_server(loopback(), Duration::from_millis(20)).await;
    let client =
        Client::new(ClientConfig { connections_per_host: 3, ..ClientConfig::new(AddressGuard::open()) })
            .unwrap();
    let mut fetches = JoinSet::new();
    for _ in 0..12 {
        let (client, url) = (client.clone(), counting.server.url("/"));
        fetches.spawn(async move { client.fetch(get(url.as_str())).await.unwrap().status });
    }
    assert_eq!(fetches.join_all().await.len(), 12);
    assert_eq!(counting.max_in_flight.load(Ordering::SeqCst), 3);
    assert_eq!(counting.connections(), 3);
}

#[tokio::test]
async fn connection_closed_by_the_server_is_replaced() {
    let config = ServerConfig { idle_timeout: Duration::from_millis(50), ..loopback() };
    let counting = counting_server(config, Duration::ZERO).await;
    let client = open_client();
    for delay_ms in [0, 30, 48, 50, 52, 60, 100] {
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        assert_eq!(client.fetch(get(counting.server.url("/").as_str())).await.unwrap().body, "ok");
    }
    assert!(counting.connections() > 1);
}

#[tokio::test]
async fn idle_connection_is_closed_by_the_client() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let idle_timeout = Duration::from_millis(100);
    let client =
        Client::new(ClientConfig { idle_timeout, ..ClientConfig::new(AddressGuard::open()) }).unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 1024];
        let _ = stream.read(&mut request).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
        stream.read(&mut request).await.unwrap()
    });
    client.fetch(get(&address)).await.unwrap();
    let read =
        tokio::time::timeout(Duration::from_secs(3), server).await.expect("the client closes").unwrap();
    assert_eq!(read, 0);
}

/// Starts a server that responds to the first request of each connection, and closes the connection upon the second one
/// without a response.
async fn server_that_drops_second_requests() -> (url::Url, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = url(&format!("http://{}/", listener.local_addr().unwrap()));
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 1024];
            for response in [&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"[..], b""] {
                if stream.read(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(response).await;
            }
        }
    });
    (address, requests)
}

#[tokio::test]
async fn safe_request_is_retried_when_its_connection_closes() {
    let (address, requests) = server_that_drops_second_requests().await;
    let client = open_client();
    for _ in 0..3 {
        assert_eq!(client.fetch(get(address.as_str())).await.unwrap().body, "ok");
    }
    assert_eq!(requests.load(Ordering::SeqCst), 5, "two of three requests were sent twice");
}

#[tokio::test]
async fn unsafe_request_is_not_retried() {
    let (address, requests) = server_that_drops_second_requests().await;
    let client = open_client();
    client.fetch(get(address.as_str())).await.unwrap();
    let error = client.fetch(FetchRequest::post(address, "pay")).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn abandoned_body_does_not_corrupt_the_next_response() {
    let server = serve(loopback(), |request: Request<ServerBody>| async move {
        let size = if request.uri().path() == "/large" { 5_000_000 } else { 2 };
        Response::new(Body::from(vec![b'x'; size]))
    })
    .await;
    let client = open_client();
    for _ in 0..3 {
        let request = FetchRequest { max_body_bytes: 1000, ..get(server.url("/large").as_str()) };
        assert!(matches!(client.fetch(request).await, Err(FetchError::TooLarge { .. })));
        assert_eq!(client.fetch(get(server.url("/small").as_str())).await.unwrap().body, "xx");
    }
}
