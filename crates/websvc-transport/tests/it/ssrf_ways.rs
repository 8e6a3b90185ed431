//! Internal addresses through proxies, pooled and shared connections, and hints of servers.

use std::net::SocketAddr;
use std::sync::Arc;

use http::{Request, Response};
use websvc_testkit::{Authority, Canary, ForwardProxy, Page, Rules, SocksProxy, TestWeb};
use websvc_transport::{
    AddressGuard, Body, Client, ClientConfig, FetchError, FetchRequest, Proxy, ServerBody, ServerConfig,
    TlsFiles,
};

use crate::ssrf::{ScriptedResolver, assert_forbidden};
use crate::support::{get, loopback, serve, url};

/// Returns URLs of internal addresses as redirects name them.
fn internal(canary: &Canary) -> [String; 5] {
    [
        format!("http://{}/", canary.addr()),
        format!("http://[::ffff:127.0.0.1]:{}/", canary.addr().port()),
        "http://10.0.0.1/".to_owned(),
        "https://10.255.255.255/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ]
}

/// A proxy of either kind that connects to any loopback address and records the requested targets.
enum ProxyKind {
    Http(ForwardProxy),
    Socks(SocksProxy),
}

impl ProxyKind {
    async fn both() -> [ProxyKind; 2] {
        let anywhere = |target: &str| target.parse().ok().filter(|addr: &SocketAddr| addr.ip().is_loopback());
        let http = ForwardProxy::start(Rules::new(anywhere)).await;
        [ProxyKind::Http(http), ProxyKind::Socks(SocksProxy::start(None, anywhere).await)]
    }

    fn request(&self, text: &str) -> FetchRequest {
        let address = match self {
            ProxyKind::Http(proxy) => format!("http://{}", proxy.addr),
            ProxyKind::Socks(proxy) => format!("socks5://{}", proxy.addr),
        };
        FetchRequest { proxy: Some(Proxy::new(&url(&address)).unwrap()), ..get(text) }
    }

    /// Returns the `host:port` of each tunnel.
    fn tunnels(&self) -> Vec<String> {
        match self {
            ProxyKind::Http(proxy) => {
                let tunnel = |line: &String| line.split(' ').nth(1).unwrap_or_default().to_owned();
                proxy.requests().iter().map(tunnel).collect()
            }
            ProxyKind::Socks(proxy) => proxy.requests(),
        }
    }
}

#[tokio::test]
async fn redirects_to_internal_addresses_are_refused_through_proxies() {
    let canary = Canary::start().await;
    for proxy_kind in ProxyKind::both().await {
        for status in [301, 302, 303, 307, 308] {
            for target in internal(&canary) {
                let redirect = Page::redirect(status, &target);
                let world = TestWeb::builder().page("http://site.test/", redirect).start().await;
                let client = Client::new(ClientConfig::new(world.guard())).unwrap();
                let error = client.fetch(proxy_kind.request("http://site.test/")).await.unwrap_err();
                assert_forbidden(&error, &target);
                let last = proxy_kind.tunnels().pop().unwrap();
                assert_eq!(last, world.http_addr().to_string(), "the proxy got no other request");
            }
        }
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn names_are_resolved_by_the_client_and_not_by_the_proxy() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let guard = AddressGuard::public().allow("127.9.9.9".parse().unwrap());
    for proxy_kind in ProxyKind::both().await {
        let resolver = ScriptedResolver::default()
            .with("inside.test", &[&["127.0.0.1"]])
            .with("mixed.test", &[&["127.0.0.1", "127.9.9.9", "10.0.0.1"]])
            .with("rebind.test", &[&["127.9.9.9"], &["127.0.0.1"]]);
        let config = ClientConfig { resolver: Arc::new(resolver), ..ClientConfig::new(guard.clone()) };
        let client = Client::new(config).unwrap();
        let fetch =
            async |name: &str| client.fetch(proxy_kind.request(&format!("http://{name}:{port}/"))).await;
        assert_forbidden(&fetch("inside.test").await.unwrap_err(), "a name of an internal address");
        assert!(proxy_kind.tunnels().is_empty(), "the proxy gets no request");
        for name in ["mixed.test", "rebind.test"] {
            let error = fetch(name).await.unwrap_err();
            assert!(matches!(error, FetchError::Proxy { .. }), "{name}: {error:?}");
            assert_eq!(
                proxy_kind.tunnels().pop().unwrap(),
                format!("127.9.9.9:{port}"),
                "the address that was checked"
            );
        }
        assert_forbidden(&fetch("rebind.test").await.unwrap_err(), "the second result");
        assert_eq!(proxy_kind.tunnels().len(), 2);
    }
    assert_eq!(canary.connections(), 0);
}

// Other systems have only one loopback address.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn new_connection_after_pooled_ones_is_checked_again() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let hello = |request: Request<ServerBody>| async move {
        let mut response = Response::new(Body::from("hello"));
        if request.uri().path() == "/last" {
            response.headers_mut().insert("connection", http::HeaderValue::from_static("close"));
        }
        response
    };
    // The same port as the canary's, at an allowed address.
    let server = serve(ServerConfig::new(format!("127.9.9.9:{port}")), hello).await;
    let guard = AddressGuard::public().allow("127.9.9.9".parse().unwrap());
    let resolver =
        Arc::new(ScriptedResolver::default().with("rebind.test", &[&["127.9.9.9"], &["127.0.0.1"]]));
    let client = Client::new(ClientConfig { resolver, ..ClientConfig::new(guard) }).unwrap();
    for path in ["/", "/", "/last"] {
        let fetched = client.fetch(get(&format!("http://rebind.test:{port}{path}"))).await.unwrap();
        assert_eq!((&fetched.body[..], fetched.remote_addr), (&b"hello"[..], server.addr));
    }
    let error = client.fetch(get(&format!("http://rebind.test:{port}/"))).await.unwrap_err();
    assert_forbidden(&error, "the next connection is checked again");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn hosts_of_one_certificate_do_not_share_a_connection() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    authority.issue_into(dir.path(), &["one.test".to_owned(), "two.test".to_owned()]);
    let ca_file = dir.path().join("ca.pem");
    std::fs::write(&ca_file, authority.pem()).unwrap();
    let tls = TlsFiles { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    let server =
        serve(ServerConfig { tls: Some(tls), ..loopback() }, |request: Request<ServerBody>| async move {
            Response::new(Body::from(format!("{:?}", request.version())))
        })
        .await;
    let guard = AddressGuard::public().allow("127.0.0.1".parse().unwrap());
    let resolver =
        ScriptedResolver::default().with("one.test", &[&["127.0.0.1"]]).with("two.test", &[&["10.0.0.1"]]);
    let config =
        ClientConfig { resolver: Arc::new(resolver), ca_file: Some(ca_file), ..ClientConfig::new(guard) };
    let client = Client::new(config).unwrap();
    let port = server.addr.port();
    let first = client.fetch(get(&format!("https://one.test:{port}/"))).await.unwrap();
    assert_eq!(first.body, "HTTP/2.0", "a connection that browsers would share");
    let error = client.fetch(get(&format!("https://two.test:{port}/"))).await.unwrap_err();
    assert_forbidden(&error, "a name of the same certificate at another address");
}

#[tokio::test]
async fn alt_svc_does_not_redirect_the_client() {
    let canary = Canary::start().await;
    let hint = format!("http/1.1=\"{0}\"; ma=3600, h2=\"{0}\"; persist=1, h2=\":1\"", canary.addr());
    let page = Page::text("fine")
        .header("alt-svc", &hint)
        .header("link", &format!("<http://{}/>; rel=preload", canary.addr()));
    let world =
        TestWeb::builder().page("http://a.test/", page.clone()).page("https://a.test/", page).start().await;
    let client = crate::support::client_of(&world);
    for address in ["http://a.test/", "https://a.test/", "http://a.test/", "https://a.test/"] {
        assert_eq!(client.fetch(get(address)).await.unwrap().body, "fine");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn each_refusal_has_the_same_text() {
    let canary = Canary::start().await;
    let mut texts = std::collections::BTreeSet::new();
    let refused = [
        format!("http://{}/", canary.addr()),
        "http://127.0.0.1:1/".to_owned(),
        "https://10.0.0.1/x".to_owned(),
        "http://[fd00::1]/".to_owned(),
        "http://inside.test/".to_owned(),
        "http://169.254.169.254/".to_owned(),
    ];
    for target in &refused {
        let world = TestWeb::builder().page("http://a.test/", Page::redirect(302, target)).start().await;
        let resolver = Arc::new(ScriptedResolver::default().with("inside.test", &[&["10.1.2.3"]]));
        let public =
            Client::new(ClientConfig { resolver, ..ClientConfig::new(AddressGuard::public()) }).unwrap();
        texts.insert(public.fetch(get(target)).await.unwrap_err().to_string());
        if !target.contains("inside.test") {
            let client = crate::support::client_of(&world);
            texts.insert(client.fetch(get("http://a.test/")).await.unwrap_err().to_string());
        }
    }
    assert_eq!(texts.into_iter().collect::<Vec<_>>(), [websvc_transport::REFUSED_ADDRESS]);
    assert!(
        websvc_transport::REFUSED_ADDRESS.contains("fetch.allow_networks"),
        "the text says what the operator can do"
    );
    assert_eq!(canary.connections(), 0);
}
