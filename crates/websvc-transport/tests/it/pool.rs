//! Connections are reused, bounded, and replaced when dead.

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

/// A server that remembers who connected and how many were served at a time.
struct Counting {
    server: Running,
    peers: Arc<Mutex<HashSet<SocketAddr>>>,
    most: Arc<AtomicUsize>,
}

async fn counting(config: ServerConfig, work: Duration) -> Counting {
    let peers = Arc::new(Mutex::new(HashSet::new()));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen, peak) = (Arc::clone(&peers), Arc::clone(&most));
    let server = serve(config, move |request: Request<ServerBody>| {
        seen.lock().unwrap().insert(request.body().peer_addr());
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(work).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Response::new(Body::from("ok"))
        }
    })
    .await;
    Counting { server, peers, most }
}

impl Counting {
    fn connections(&self) -> usize {
        self.peers.lock().unwrap().len()
    }
}

#[tokio::test]
async fn requests_in_turn_use_one_connection() {
    let counting = counting(loopback(), Duration::ZERO).await;
    let client = open_client();
    for _ in 0..20 {
        client.fetch(get(counting.server.url("/").as_str())).await.unwrap();
    }
    assert_eq!(counting.connections(), 1);
}

#[tokio::test]
async fn requests_at_a_time_to_one_host_are_bounded() {
    let counting = counting(loopback(), Duration::from_millis(20)).await;
    let client =
        Client::new(ClientConfig { connections_per_host: 3, ..ClientConfig::new(AddressGuard::open()) })
            .unwrap();
    let mut fetches = JoinSet::new();
    for _ in 0..12 {
        let (client, url) = (client.clone(), counting.server.url("/"));
        fetches.spawn(async move { client.fetch(get(url.as_str())).await.unwrap().status });
    }
    assert_eq!(fetches.join_all().await.len(), 12);
    assert_eq!(counting.most.load(Ordering::SeqCst), 3);
    assert_eq!(counting.connections(), 3);
}

#[tokio::test]
async fn a_connection_the_server_closed_is_replaced() {
    let config = ServerConfig { idle_timeout: Duration::from_millis(50), ..loopback() };
    let counting = counting(config, Duration::ZERO).await;
    let client = open_client();
    for pause in [0, 30, 48, 50, 52, 60, 100] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        assert_eq!(client.fetch(get(counting.server.url("/").as_str())).await.unwrap().body, "ok");
    }
    assert!(counting.connections() > 1);
}

#[tokio::test]
async fn an_unused_connection_is_closed_by_the_client() {
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

/// Serves one request per connection properly, and closes the connection upon the second without an answer.
async fn rude_server() -> (url::Url, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = url(&format!("http://{}/", listener.local_addr().unwrap()));
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 1024];
            for answer in [&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"[..], b""] {
                if stream.read(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(answer).await;
            }
        }
    });
    (address, requests)
}

#[tokio::test]
async fn a_safe_request_lost_with_its_connection_is_repeated() {
    let (address, requests) = rude_server().await;
    let client = open_client();
    for _ in 0..3 {
        assert_eq!(client.fetch(get(address.as_str())).await.unwrap().body, "ok");
    }
    assert_eq!(requests.load(Ordering::SeqCst), 5, "two of them were lost once");
}

#[tokio::test]
async fn a_request_that_may_have_had_an_effect_is_not_repeated() {
    let (address, requests) = rude_server().await;
    let client = open_client();
    client.fetch(get(address.as_str())).await.unwrap();
    let error = client.fetch(FetchRequest::post(address, "pay")).await.unwrap_err();
    assert!(matches!(error, FetchError::Protocol { .. }), "{error:?}");
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_body_that_was_given_up_does_not_spoil_the_next_answer() {
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
