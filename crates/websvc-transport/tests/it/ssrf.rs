//! The client never connects to internal addresses: literals, names, redirects and DNS rebinding. A canary counts
//! connections.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderName, HeaderValue};
use websvc_testkit::{Canary, Page, TestWeb};
use websvc_transport::{
    AddressGuard, Client, ClientConfig, FetchError, FetchRequest, Resolve, ResolveFuture, is_forbidden_header,
};

use crate::support::{client_of, get, url};

/// A resolver that returns for each name the next of its results, and then the last one again.
#[derive(Default)]
pub(crate) struct ScriptedResolver {
    results: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    lookups: Mutex<HashMap<String, usize>>,
    total: AtomicUsize,
}

impl ScriptedResolver {
    pub(crate) fn with(mut self, name: &'static str, results: &[&[&str]]) -> Self {
        let parse = |addresses: &&[&str]| addresses.iter().map(|ip| ip.parse().unwrap()).collect();
        self.results.insert(name, results.iter().map(parse).collect());
        self
    }
}

impl Resolve for ScriptedResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        self.total.fetch_add(1, Ordering::SeqCst);
        let addresses = self.results.get(host).map(|results| {
            let mut lookups = self.lookups.lock().unwrap();
            let count = lookups.entry(host.to_owned()).or_default();
            *count += 1;
            results[(*count - 1).min(results.len() - 1)].clone()
        });
        Box::pin(async move { addresses.ok_or_else(|| io::Error::other("no such host")) })
    }
}

fn client_with(resolver: Arc<ScriptedResolver>, guard: AddressGuard) -> Client {
    Client::new(ClientConfig { resolver, ..ClientConfig::new(guard) }).unwrap()
}

pub(crate) fn assert_forbidden(error: &FetchError, what: &str) {
    assert!(matches!(error, FetchError::Forbidden), "{what}: {error:?}");
    assert_eq!(error.to_string(), websvc_transport::REFUSED_ADDRESS);
}

#[tokio::test]
async fn address_literals_are_refused_in_each_spelling() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let client = Client::new(ClientConfig::new(AddressGuard::public())).unwrap();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.1",
        "0177.0.0.01",
        "017700000001",
        "0",
        "0.0.0.0",
        "0x0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:7f00:0001]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[::ffff:0:127.0.0.1]",
        "127.0.0.1.",
        "１２７.０.０.１",
        "127。0。0。1",
        "%31%32%37.0.0.1",
    ];
    for host in hosts {
        let error = client.fetch(get(&format!("http://{host}:{port}/"))).await.unwrap_err();
        assert_forbidden(&error, host);
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn names_of_internal_addresses_are_refused() {
    let canary = Canary::start().await;
    let resolver = ScriptedResolver::default()
        .with("127.0.0.1.nip.test", &[&["127.0.0.1"]])
        .with("localtest.test", &[&["::1", "127.0.0.1"]])
        .with("metadata.test", &[&["169.254.169.254"]])
        .with("mapped.test", &[&["::ffff:127.0.0.1"]])
        .with("lan.test", &[&["10.0.0.1", "192.168.0.1", "172.20.0.1", "fd00::1"]]);
    let names: Vec<_> = resolver.results.keys().copied().collect();
    let client = client_with(Arc::new(resolver), AddressGuard::public());
    for name in names {
        let error = client.fetch(get(&format!("http://{name}:{}/", canary.addr().port()))).await.unwrap_err();
        assert_forbidden(&error, name);
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn only_allowed_addresses_of_a_name_are_tried() {
    let canary = Canary::start().await;
    let world = TestWeb::builder().page("http://mixed.test/", Page::text("fine")).start().await;
    // The canary listens on 127.0.0.1. The guard allows another loopback address, where no server listens.
    let guard = AddressGuard::public().allow("127.9.9.9".parse().unwrap());
    let resolver = Arc::new(ScriptedResolver::default().with("mixed.test", &[&["127.0.0.1", "127.9.9.9"]]));
    let client = client_with(resolver, guard);
    let error = client.fetch(get(&format!("http://mixed.test:{}/", canary.addr().port()))).await.unwrap_err();
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
    assert_eq!(canary.connections(), 0);
    drop(world);
}

#[tokio::test]
async fn rebinding_name_is_connected_to_the_checked_address() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    // The first address is allowed and refuses connections. The second is that of the canary.
    let guard = AddressGuard::public().allow("127.9.9.9".parse().unwrap());
    let resolver =
        Arc::new(ScriptedResolver::default().with("rebind.test", &[&["127.9.9.9"], &["127.0.0.1"]]));
    let client = client_with(Arc::clone(&resolver), guard);
    let address = format!("http://rebind.test:{port}/");

    let first = client.fetch(get(&address)).await.unwrap_err();
    assert!(matches!(first, FetchError::Connect { .. }), "{first:?}");
    assert_eq!(resolver.total.load(Ordering::SeqCst), 1, "the name is resolved once per connection");

    let second = client.fetch(get(&address)).await.unwrap_err();
    assert_forbidden(&second, "the second result");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn pooled_connection_is_not_reused_for_another_name() {
    let world = TestWeb::builder()
        .page("http://one.test/", Page::text("one"))
        .page("http://two.test/", Page::text("two"))
        .start()
        .await;
    let port = world.http_addr().port();
    let guard = AddressGuard::public().allow("127.0.0.1".parse().unwrap());
    let resolver = Arc::new(
        ScriptedResolver::default().with("one.test", &[&["127.0.0.1"]]).with("two.test", &[&["10.0.0.1"]]),
    );
    let client = client_with(resolver, guard);
    assert_eq!(client.fetch(get(&format!("http://one.test:{port}/"))).await.unwrap().body, "one");
    let error = client.fetch(get(&format!("http://two.test:{port}/"))).await.unwrap_err();
    assert_forbidden(&error, "another name at the same port");
}

#[tokio::test]
async fn redirects_to_internal_addresses_are_refused_for_each_status() {
    let canary = Canary::start().await;
    let port = canary.addr().port();
    let targets = [
        format!("http://127.0.0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http:\\\\0x7f.1:{port}\\"),
        format!("https://localhost:{port}/"),
        "http://10.0.0.1/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ];
    for status in [301, 302, 303, 307, 308] {
        for target in &targets {
            let world = TestWeb::builder()
                .page("http://site.test/", Page::redirect(302, "/again"))
                .page("http://site.test/again", Page::redirect(status, target))
                .start()
                .await;
            let error = client_of(&world).fetch(get("http://site.test/")).await.unwrap_err();
            assert_forbidden(&error, target);
        }
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn schemes_other_than_http_and_https_are_refused() {
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    for text in [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://a.test/",
        "gopher://a.test/",
        "data:text/html,x",
        "blob:x",
        "about:blank",
        "view-source:http://a.test/",
        "javascript:alert(1)",
        "jar:http://a.test!/",
        "ws://a.test/",
        " file:///etc/passwd",
    ] {
        let error = client.fetch(FetchRequest::get(url(text))).await.unwrap_err();
        assert!(matches!(error, FetchError::ForbiddenScheme { .. }), "{text}: {error:?}");
    }
}

#[tokio::test]
async fn redirects_to_other_schemes_are_refused() {
    for target in ["file:///etc/passwd", "ftp://a.test/", "data:text/plain,x", "javascript:alert(1)"] {
        let world = TestWeb::builder().page("http://a.test/", Page::redirect(302, target)).start().await;
        let error = client_of(&world).fetch(get("http://a.test/")).await.unwrap_err();
        assert!(matches!(error, FetchError::ForbiddenScheme { .. }), "{target}: {error:?}");
    }
}

#[test]
fn url_with_zone_id_is_invalid() {
    assert!(url::Url::parse("http://[fe80::1%25eth0]/").is_err());
    assert!(url::Url::parse("http://[fe80::1%eth0]/").is_err());
}

#[tokio::test]
async fn framing_and_metadata_headers_are_refused() {
    let world = TestWeb::builder().page("http://a.test/", Page::text("x")).start().await;
    let client = client_of(&world);
    for name in [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "metadata",
        "metadata-flavor",
        "x-aws-ec2-metadata-token",
        "x-aws-ec2-metadata-token-ttl-seconds",
        "x-google-metadata-request",
    ] {
        let name = HeaderName::from_static(name);
        assert!(is_forbidden_header(&name));
        let headers = HeaderMap::from_iter([(name.clone(), HeaderValue::from_static("1"))]);
        let error = client.fetch(FetchRequest { headers, ..get("http://a.test/") }).await.unwrap_err();
        assert!(
            matches!(&error, FetchError::ForbiddenHeader { name: refused } if *refused == name),
            "{error:?}"
        );
    }
    assert!(world.requests().is_empty());
    for name in ["accept", "cookie", "authorization", "user-agent", "x-forwarded-for", "referer"] {
        assert!(!is_forbidden_header(&HeaderName::from_static(name)), "{name}");
    }
}

#[tokio::test]
async fn errors_do_not_contain_addresses() {
    let guard = AddressGuard::public().allow("127.9.9.9".parse().unwrap());
    let resolver = Arc::new(ScriptedResolver::default().with("dead.test", &[&["127.9.9.9"]]));
    let client = client_with(resolver, guard);
    let error = client.fetch(get("http://dead.test:9/")).await.unwrap_err();
    assert_eq!(error.to_string(), "could not connect to dead.test");
    let error = client.fetch(get("http://missing.test/")).await.unwrap_err();
    assert_eq!(error.to_string(), "the host missing.test was not found");
}
