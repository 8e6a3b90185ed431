//! Tests of connections: proxies, certificates, and services that are not reachable.

use std::time::Duration;

use tokio::net::TcpListener;
use websvc::ClientError;
use websvc::transport::FetchError;
use websvc_testkit::{Authority, TestWeb};

use crate::support::{builder, empty_response};
use websvc_testkit::{ForwardProxy, Rules};

async fn world() -> TestWeb {
    TestWeb::builder().page("http://service.test/v2/search", empty_response()).start().await
}

/// Returns proxy rules that map the host name of the service to the test web.
fn rules(world: &TestWeb) -> Rules {
    let (http, https) = (world.http_addr(), world.https_addr());
    Rules::new(move |host| match host {
        "service.test" => Some(http),
        "service.test:443" => Some(https),
        _ => None,
    })
}

#[tokio::test]
async fn http_service_is_requested_through_a_proxy() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let client = builder("http://service.test").proxy(address.parse().unwrap()).build().unwrap();
    client.search("q").send().await.unwrap();
    assert_eq!(proxy.requests(), ["POST http://service.test/v2/search HTTP/1.1"]);
    assert_eq!(world.requests()[0].body, r#"{"query":"q"}"#);
}

#[tokio::test]
async fn https_service_is_reached_through_a_tunnel_with_proxy_authentication() {
    let world = world().await;
    // RFC 7617, section 2.
    let rules = rules(&world).require_authorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    let proxy = ForwardProxy::start(rules).await;
    let address = format!("http://Aladdin:open%20sesame@{}", proxy.addr);
    let client = builder("https://service.test").proxy(address.parse().unwrap()).ca_file(world.ca_file());
    client.build().unwrap().search("q").send().await.unwrap();
    assert_eq!(proxy.requests(), ["CONNECT service.test:443 HTTP/1.1"]);
    let [seen] = &world.requests()[..] else { panic!("one request") };
    assert_eq!(seen.url, "https://service.test/v2/search");
    assert_eq!(seen.header("proxy-authorization"), None);
}

#[tokio::test]
async fn proxy_407_is_not_retried_and_proxy_failure_is() {
    for (rules, connections) in
        [(rules(&world().await).require_authorization("Basic none"), 1), (Rules::new(|_| None), 4)]
    {
        let proxy = ForwardProxy::start(rules).await;
        let address = format!("http://{}", proxy.addr);
        let client = builder("https://service.test").proxy(address.parse().unwrap()).build().unwrap();
        let error = client.search("q").send().await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        assert_eq!(proxy.requests().len(), connections, "{error:?}");
    }
}

#[tokio::test]
async fn private_authority_is_trusted_only_with_its_ca_file() {
    let world = TestWeb::builder().page("https://127.0.0.1/v2/search", empty_response()).start().await;
    let base = format!("https://{}", world.https_addr());
    builder(&base).ca_file(world.ca_file()).build().unwrap().search("q").send().await.unwrap();

    let error = builder(&base).build().unwrap().search("q").send().await.unwrap_err();
    let ClientError::Unreachable { source, .. } = &error else { panic!("{error:?}") };
    assert!(matches!(**source, FetchError::Tls { .. }), "{source:?}");

    let other = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(other.path(), Authority::new().pem()).unwrap();
    let client = builder(&base).ca_file(other.path()).build().unwrap();
    client.search("q").send().await.unwrap_err();
    assert_eq!(world.requests().len(), 1);
}

#[tokio::test]
async fn untrusted_certificate_is_not_retried() {
    let world = TestWeb::builder().start().await;
    let https = world.https_addr();
    let proxy = ForwardProxy::start(Rules::new(move |_| Some(https))).await;
    let address = format!("http://{}", proxy.addr);
    let client = builder("https://localhost").proxy(address.parse().unwrap()).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    assert_eq!(proxy.requests().len(), 1, "each attempt would open a tunnel");
}

#[tokio::test]
async fn unreachable_service_is_a_connect_error() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = builder(&format!("http://{address}")).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_connect() && !error.is_timeout() && error.status().is_none(), "{error:?}");
    assert_eq!(error.to_string(), format!("the request to http://{address}/ failed"));
}

#[tokio::test]
async fn stalled_handshake_times_out_and_is_retried() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let accepting = tokio::spawn(async move {
        let mut streams = Vec::new();
        while streams.len() < 4 {
            streams.push(listener.accept().await.unwrap());
        }
        streams
    });
    let client = builder(&base).connect_timeout(Duration::from_millis(100)).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_connect() && error.is_timeout(), "{error:?}");
    let attempts = tokio::time::timeout(Duration::from_secs(5), accepting).await.unwrap().unwrap();
    assert_eq!(attempts.len(), 4);
}
