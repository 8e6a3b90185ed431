//! How the service is reached: proxies, certificates, and what happens when it is not there.

use std::time::Duration;

use tokio::net::TcpListener;
use websvc::ClientError;
use websvc::transport::FetchError;
use websvc_testkit::{Authority, TestWeb};

use crate::support::{builder, found};
use websvc_testkit::{ForwardProxy, Rules};

async fn world() -> TestWeb {
    TestWeb::builder().page("http://service.test/v2/search", found()).start().await
}

/// Leads the service's name to the world, which the system's resolver could not.
fn rules(world: &TestWeb) -> Rules {
    let (http, https) = (world.http_addr(), world.https_addr());
    Rules::new(move |host| match host {
        "service.test" => Some(http),
        "service.test:443" => Some(https),
        _ => None,
    })
}

#[tokio::test]
async fn an_http_service_is_asked_through_a_proxy() {
    let world = world().await;
    let proxy = ForwardProxy::start(rules(&world)).await;
    let address = format!("http://{}", proxy.addr);
    let client = builder("http://service.test").proxy(address.parse().unwrap()).build().unwrap();
    client.search("q").send().await.unwrap();
    assert_eq!(proxy.requests(), ["POST http://service.test/v2/search HTTP/1.1"]);
    assert_eq!(world.requests()[0].body, r#"{"query":"q"}"#);
}

#[tokio::test]
async fn an_https_service_is_reached_by_a_tunnel_with_the_password_of_the_proxy() {
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
async fn a_proxy_that_refuses_for_good_is_asked_once_and_one_that_is_out_of_order_again() {
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
async fn a_certificate_of_ones_own_authority_is_trusted_when_told() {
    let world = TestWeb::builder().page("https://127.0.0.1/v2/search", found()).start().await;
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
async fn a_service_that_is_not_trusted_is_asked_once() {
    let world = TestWeb::builder().start().await;
    let https = world.https_addr();
    let proxy = ForwardProxy::start(Rules::new(move |_| Some(https))).await;
    let address = format!("http://{}", proxy.addr);
    let client = builder("https://localhost").proxy(address.parse().unwrap()).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    assert_eq!(proxy.requests().len(), 1, "each attempt would be a tunnel");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_told_from_one_that_refuses() {
    let address = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = builder(&format!("http://{address}")).build().unwrap();
    let error = client.search("q").send().await.unwrap_err();
    assert!(error.is_connect() && !error.is_timeout() && error.status().is_none(), "{error:?}");
    assert_eq!(error.to_string(), format!("the service at http://{address}/ gave no usable answer"));
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_given_up_and_tried_again() {
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
