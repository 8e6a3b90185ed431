//! Fetches through forward proxies: forwarded requests, tunnels, credentials, and the address guard.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchError, FetchRequest, Proxy};

use crate::support::{get, url};
use websvc_testkit::{ForwardProxy, Rules, SocksProxy};

async fn world() -> TestWeb {
    TestWeb::builder()
        .page("http://a.test/x", Page::text("plain"))
        .page("https://a.test/y", Page::text("secret"))
        .page("http://proxy.test/", Page::text("only for its certificate"))
        .start()
        .await
}

/// Returns the rules of a proxy that resolves the names of the test web.
fn rules(world: &TestWeb) -> Rules {
    let (http, https) = (world.http_addr(), world.https_addr());
    Rules::new(move |host| match host {
        "a.test" | "a.test:80" => Some(http),
        "a.test:443" => Some(https),
        other => other.parse().ok().filter(|addr: &SocketAddr| addr.ip().is_loopback()),
    })
}

fn open(world: &TestWeb) -> Client {
    client(world, AddressGuard::open())
}

fn client(world: &TestWeb, guard: AddressGuard) -> Client {
    Client::new(ClientConfig { ca_file: Some(world.ca_file()), ..ClientConfig::new(guard) }).unwrap()
}

fn through(proxy: &str, text: &str) -> FetchRequest {
    FetchRequest { proxy: Some(Proxy::new(&url(proxy)).unwrap()), ..get(text) }
}

#[tokio::test]
async fn http_request_is_forwarded_by_the_proxy() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let client = open(&world);
    for _ in 0..2 {
        let fetched = client.fetch(through(&address, "http://a.test/x?q=1")).await.unwrap();
        assert_eq!(fetched.body, "plain");
        assert_eq!(fetched.remote_addr, proxy.addr);
    }
    assert_eq!(proxy.requests(), ["GET http://a.test/x?q=1 HTTP/1.1"], "the connection is reused");
    assert_eq!(world.requests().len(), 2);
}

#[tokio::test]
async fn https_request_uses_a_tunnel() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let client = open(&world);
    for _ in 0..2 {
        let fetched = client.fetch(through(&address, "https://a.test/y")).await.unwrap();
        assert_eq!(fetched.body, "secret");
    }
    assert_eq!(proxy.requests(), ["CONNECT a.test:443 HTTP/1.1"], "the tunnel is reused");
}

#[tokio::test]
async fn proxy_connection_is_not_reused_for_a_direct_fetch() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let client = open(&world);
    let page = format!("http://{}/", world.http_addr());
    client.fetch(through(&format!("http://{}", proxy.addr), &page)).await.unwrap();
    let direct = client.fetch(get(&page)).await.unwrap();
    assert_eq!(direct.remote_addr, world.http_addr());
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn proxy_credentials_are_not_sent_to_the_host() {
    let world = world().await;
    // RFC 7617, section 2: the example of the user Aladdin.
    let rules = rules(&world).require_authorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    let proxy = ForwardProxy::start(rules).await;
    let address = format!("http://Aladdin:open%20sesame@{}", proxy.addr);
    let client = open(&world);
    client.fetch(through(&address, "http://a.test/x")).await.unwrap();
    client.fetch(through(&address, "https://a.test/y")).await.unwrap();
    let secure = &world.requests()[1];
    assert_eq!((secure.header("proxy-authorization"), secure.header("authorization")), (None, None));
    let debug = format!("{:?}", Proxy::new(&url(&address)).unwrap());
    assert!(!debug.contains("sesame") && !debug.contains("QWxh"), "{debug}");
}

#[tokio::test]
async fn proxy_status_407_is_an_error_for_tunnels_and_a_response_otherwise() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world).require_authorization("Basic none")).await;
    let address = format!("http://{}", proxy.addr);
    let client = open(&world);
    assert_eq!(client.fetch(through(&address, "http://a.test/x")).await.unwrap().status, 407);
    let error = client.fetch(through(&address, "https://a.test/y")).await.unwrap_err();
    assert!(matches!(&error, FetchError::Proxy { status: Some(status), .. } if *status == 407), "{error:?}");
    let text = "could not connect through the proxy: it responded with 407 Proxy Authentication Required";
    assert_eq!(error.to_string(), text);
    assert!(world.requests().is_empty());
}

#[tokio::test]
async fn unreachable_proxy_is_an_error() {
    let world = world().await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let request = through(&format!("http://{free}"), "http://a.test/x");
    let error = open(&world).fetch(request).await.unwrap_err();
    assert!(matches!(error, FetchError::Proxy { status: None, .. }), "{error:?}");
    assert_eq!(error.to_string(), "could not connect through the proxy: it cannot be reached");
}

#[tokio::test]
async fn guard_that_checks_addresses_tunnels_to_the_checked_address() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let guarded = client(&world, world.guard());
    guarded.fetch(through(&address, "http://a.test/x")).await.unwrap();
    guarded.fetch(through(&address, "https://a.test/y")).await.unwrap();
    let expected = [world.http_addr(), world.https_addr()].map(|addr| format!("CONNECT {addr} HTTP/1.1"));
    assert_eq!(proxy.requests(), expected);
}

#[tokio::test]
async fn http_proxy_does_not_bypass_the_guard() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let public = client(&world, AddressGuard::public());
    for page in [format!("http://{}/", world.http_addr()), format!("https://{}/", world.https_addr())] {
        let error = public.fetch(through(&address, &page)).await.unwrap_err();
        assert!(matches!(error, FetchError::Forbidden), "{error:?}");
    }
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
async fn https_proxy_is_supported() {
    let world = world().await;
    let (cert, key) = world.authority().issue(&["localhost".to_owned()]);
    let chain =
        rustls::pki_types::CertificateDer::pem_slice_iter(cert.as_bytes()).map(Result::unwrap).collect();
    let key = rustls::pki_types::PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let rules = rules(&world);
    let serving = rules.clone();
    let task = tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (acceptor, serving) = (acceptor.clone(), serving.clone());
            tokio::spawn(async move { serving.serve(acceptor.accept(client).await.unwrap()).await });
        }
    });
    let address = format!("https://localhost:{port}");
    let client = open(&world);
    assert_eq!(client.fetch(through(&address, "http://a.test/x")).await.unwrap().body, "plain");
    assert_eq!(client.fetch(through(&address, "https://a.test/y")).await.unwrap().body, "secret");
    assert_eq!(rules.requests(), ["GET http://a.test/x HTTP/1.1", "CONNECT a.test:443 HTTP/1.1"]);
    task.abort();
}

#[test]
fn invalid_proxy_url_is_rejected() {
    let long = format!("socks5://{}:x@p.test", "u".repeat(256));
    for text in [
        "socks4://127.0.0.1:1080",
        "ftp://p.test",
        "http://p.test:3128/path",
        "http://p.test/?q",
        "http://p.test:0",
        "socks5://p.test:0",
        "socks5://p.test/path",
        "socks5://user@p.test",
        "socks5://p q.test",
        &long,
    ] {
        let Ok(address) = text.parse() else { continue };
        Proxy::new(&address).expect_err(text);
    }
    Proxy::new(&url("http://user:pass@p.test:3128/")).unwrap();
    Proxy::new(&url("socks5h://user:pass@[::1]")).unwrap();
}

fn socks_routes(world: &TestWeb) -> impl Fn(&str) -> Option<SocketAddr> + Send + Sync + use<> {
    let (http, https) = (world.http_addr(), world.https_addr());
    move |target| match target {
        "a.test:80" => Some(http),
        "a.test:443" => Some(https),
        other => other.parse().ok().filter(|addr: &SocketAddr| addr.ip().is_loopback()),
    }
}

#[tokio::test]
async fn socks_proxy_resolves_names_and_its_tunnels_are_reused() {
    let world = world().await;
    let proxy = SocksProxy::start(None, socks_routes(&world)).await;
    let address = format!("socks5://{}", proxy.addr);
    let client = open(&world);
    for _ in 0..2 {
        let fetched = client.fetch(through(&address, "http://a.test/x?q=1")).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.remote_addr), (&b"plain"[..], proxy.addr));
        let fetched = client.fetch(through(&address, "https://a.test/y")).await.unwrap();
        assert_eq!(fetched.body, "secret");
    }
    assert_eq!(proxy.requests(), ["a.test:80", "a.test:443"], "the tunnels are reused");
}

#[tokio::test]
async fn socks_credentials_are_sent_to_the_proxy_only() {
    let world = world().await;
    let proxy = SocksProxy::start(Some(("Aladdin", "open sesame")), socks_routes(&world)).await;
    let client = open(&world);
    let address = format!("socks5h://Aladdin:open%20sesame@{}", proxy.addr);
    client.fetch(through(&address, "http://a.test/x")).await.unwrap();
    let page = &world.requests()[0];
    assert_eq!((page.header("proxy-authorization"), page.header("authorization")), (None, None));
    let debug = format!("{:?}", Proxy::new(&url(&address)).unwrap());
    assert!(!debug.contains("sesame"), "{debug}");

    for wrong in [format!("socks5://{}", proxy.addr), format!("socks5://Aladdin:wrong@{}", proxy.addr)] {
        let error = client.fetch(through(&wrong, "http://a.test/x")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "could not connect through the proxy: it refused the user and password"
        );
    }
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn socks_proxy_does_not_bypass_the_guard() {
    let world = world().await;
    let proxy = SocksProxy::start(None, socks_routes(&world)).await;
    let address = format!("socks5://{}", proxy.addr);
    let public = client(&world, AddressGuard::public());
    for page in [format!("http://{}/", world.http_addr()), format!("https://{}/", world.https_addr())] {
        let error = public.fetch(through(&address, &page)).await.unwrap_err();
        assert!(matches!(error, FetchError::Forbidden), "{error:?}");
    }
    assert!(proxy.requests().is_empty());

    let guarded = client(&world, world.guard());
    guarded.fetch(through(&address, "http://a.test/x")).await.unwrap();
    assert_eq!(proxy.requests(), [world.http_addr().to_string()], "the address that was checked");
}

#[tokio::test]
async fn socks_proxy_error_has_its_reason() {
    let world = world().await;
    let proxy = SocksProxy::start(None, |_| None).await;
    let address = format!("socks5://{}", proxy.addr);
    let error = open(&world).fetch(through(&address, "http://a.test/x")).await.unwrap_err();
    assert_eq!(error.to_string(), "could not connect through the proxy: it could not reach the host");
}

#[tokio::test]
async fn proxy_probe_sends_no_request() {
    let world = world().await;
    let client = client(&world, AddressGuard::public());
    let limit = std::time::Duration::from_secs(5);
    let proxy = ForwardProxy::start(rules(&world)).await;
    let probe = async |text: String| client.probe_proxy(&Proxy::new(&url(&text)).unwrap(), limit).await;
    probe(format!("http://{}", proxy.addr)).await.unwrap();
    probe(format!("socks5://{}", proxy.addr)).await.unwrap();
    assert!(proxy.requests().is_empty());

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = silent.local_addr().unwrap();
    drop(silent);
    let error = probe(format!("http://{gone}")).await.unwrap_err();
    assert_eq!(error.to_string(), "could not connect through the proxy: it cannot be reached");

    let plain = format!("https://{}", world.http_addr());
    let error = probe(plain).await.unwrap_err();
    assert!(matches!(error, FetchError::Proxy { .. }), "{error:?}");
}
