//! Tunnels for protocols other than HTTP: the address guard, and proxies.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Host;
use websvc_testkit::{Canary, ForwardProxy, Page, Rules, SocksProxy, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchError, Proxy, Tunnel};

use crate::support::url;

const LIMIT: Duration = Duration::from_secs(10);

async fn world() -> TestWeb {
    TestWeb::builder().page("http://a.test/x", Page::text("plain")).start().await
}

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

async fn request(mut tunnel: Tunnel) -> String {
    tunnel.write_all(b"GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    tunnel.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn tunnel_follows_the_rules_of_the_guard() {
    let world = world().await;
    let tunnel = world.client().tunnel(&host("a.test"), 80, None, LIMIT).await.unwrap();
    assert!(request(tunnel).await.ends_with("plain"));
}

#[tokio::test]
async fn tunnel_to_a_forbidden_address_makes_no_connection() {
    let canary = Canary::start().await;
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    for text in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
        let refused = client.tunnel(&host(text), canary.addr().port(), None, LIMIT).await;
        assert!(matches!(refused, Err(FetchError::Forbidden)), "{text}: {refused:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn proxy_makes_a_tunnel_even_for_plain_http() {
    let world = world().await;
    let http = world.http_addr();
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let route = move |name: &str| (name == "a.test:80" || name == "a.test").then_some(http);

    let forward = ForwardProxy::start(Rules::new(route)).await;
    let proxy = Proxy::new(&url(&format!("http://{}", forward.addr))).unwrap();
    let tunnel = client.tunnel(&host("a.test"), 80, Some(&proxy), LIMIT).await.unwrap();
    assert!(request(tunnel).await.ends_with("plain"));
    assert_eq!(forward.requests(), ["CONNECT a.test:80 HTTP/1.1"]);

    let socks = SocksProxy::start(None, route).await;
    let proxy = Proxy::new(&url(&format!("socks5://{}", socks.addr))).unwrap();
    let tunnel = client.tunnel(&host("a.test"), 80, Some(&proxy), LIMIT).await.unwrap();
    assert!(request(tunnel).await.ends_with("plain"));
    assert_eq!(socks.requests(), ["a.test:80"]);
}

#[tokio::test]
async fn guard_refuses_an_address_before_the_proxy_gets_a_request() {
    let socks = SocksProxy::start(None, |_| None).await;
    let proxy = Proxy::new(&url(&format!("socks5://{}", socks.addr))).unwrap();
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    let refused = client.tunnel(&host("169.254.169.254"), 80, Some(&proxy), LIMIT).await;
    assert!(matches!(refused, Err(FetchError::Forbidden)), "{refused:?}");
    assert_eq!(socks.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn udp_socket_is_checked_by_the_guard() {
    let receiver = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = receiver.local_addr().unwrap();
    let client = |guard| Client::new(ClientConfig::new(guard)).unwrap();
    for text in ["127.0.0.1", "localhost", "[::1]"] {
        let refused = client(AddressGuard::public()).connect_udp(&host(text), address.port(), LIMIT).await;
        assert!(matches!(refused, Err(FetchError::Forbidden)), "{text}: {refused:?}");
    }
    let mapped = AddressGuard::public().connect_to("a.test:514", &address.to_string()).unwrap();
    let socket = client(mapped).connect_udp(&host("a.test"), 514, LIMIT).await.unwrap();
    socket.send(b"hello").await.unwrap();
    let mut buffer = [0; 16];
    let received = tokio::time::timeout(LIMIT, receiver.recv(&mut buffer)).await.unwrap().unwrap();
    assert_eq!(&buffer[..received], b"hello");
}

#[tokio::test]
async fn secure_tunnel_verifies_the_certificate() {
    let world = TestWeb::builder().page("https://a.test/x", Page::text("secret")).start().await;
    let mut config = ClientConfig::new(world.guard());
    let strict = Client::new(config.clone()).unwrap();
    let refused = strict.secure_tunnel(&host("a.test"), 443, LIMIT).await;
    assert!(matches!(refused, Err(FetchError::Tls { .. })), "{refused:?}");
    config.ca_file = Some(world.ca_file());
    let client = Client::new(config).unwrap();
    let tunnel = client.secure_tunnel(&host("a.test"), 443, LIMIT).await.unwrap();
    assert!(request(tunnel).await.ends_with("secret"));
    let other_host = client.secure_tunnel(&host("other.test"), 443, LIMIT).await;
    assert!(matches!(other_host, Err(FetchError::Tls { .. })), "{other_host:?}");
}

#[tokio::test]
async fn port_zero_is_rejected() {
    let world = world().await;
    let refused = world.client().tunnel(&host("a.test"), 0, None, LIMIT).await;
    assert!(matches!(refused, Err(FetchError::BadUrl { .. })), "{refused:?}");
}
