//! Tunnels for somebody else's protocol: the guard's word, and the way through proxies.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Host;
use websvc_testkit::{Canary, ForwardProxy, Page, Rules, SocksProxy, World};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchError, Proxy, Tunnel};

use crate::support::url;

const LIMIT: Duration = Duration::from_secs(10);

async fn world() -> World {
    World::builder().page("http://a.test/x", Page::text("plain")).start().await
}

fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

async fn ask(mut tunnel: Tunnel) -> String {
    tunnel.write_all(b"GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    tunnel.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_tunnel_leads_where_the_rules_of_the_guard_lead() {
    let world = world().await;
    let tunnel = world.client().tunnel(&host("a.test"), 80, None, LIMIT).await.unwrap();
    assert!(ask(tunnel).await.ends_with("plain"));
}

#[tokio::test]
async fn a_tunnel_to_a_forbidden_address_is_refused_before_a_connection_is_made() {
    let canary = Canary::start().await;
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    for text in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"] {
        let refused = client.tunnel(&host(text), canary.addr().port(), None, LIMIT).await;
        assert!(matches!(refused, Err(FetchError::Forbidden)), "{text}: {refused:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_proxy_is_asked_for_a_tunnel_even_to_plain_http() {
    let world = world().await;
    let http = world.http_addr();
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let lead = move |name: &str| (name == "a.test:80" || name == "a.test").then_some(http);

    let forward = ForwardProxy::start(Rules::new(lead)).await;
    let proxy = Proxy::new(&url(&format!("http://{}", forward.addr))).unwrap();
    let tunnel = client.tunnel(&host("a.test"), 80, Some(&proxy), LIMIT).await.unwrap();
    assert!(ask(tunnel).await.ends_with("plain"));
    assert_eq!(forward.asked(), ["CONNECT a.test:80 HTTP/1.1"]);

    let socks = SocksProxy::start(None, lead).await;
    let proxy = Proxy::new(&url(&format!("socks5://{}", socks.addr))).unwrap();
    let tunnel = client.tunnel(&host("a.test"), 80, Some(&proxy), LIMIT).await.unwrap();
    assert!(ask(tunnel).await.ends_with("plain"));
    assert_eq!(socks.asked(), ["a.test:80"]);
}

#[tokio::test]
async fn the_guard_has_its_word_before_a_proxy_is_asked() {
    let socks = SocksProxy::start(None, |_| None).await;
    let proxy = Proxy::new(&url(&format!("socks5://{}", socks.addr))).unwrap();
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    let refused = client.tunnel(&host("169.254.169.254"), 80, Some(&proxy), LIMIT).await;
    assert!(matches!(refused, Err(FetchError::Forbidden)), "{refused:?}");
    assert_eq!(socks.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn port_zero_is_refused() {
    let world = world().await;
    let refused = world.client().tunnel(&host("a.test"), 0, None, LIMIT).await;
    assert!(matches!(refused, Err(FetchError::BadUrl { .. })), "{refused:?}");
}
