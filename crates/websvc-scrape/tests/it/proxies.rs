//! Tests of the choice of a proxy.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::net::TcpListener;
use websvc_scrape::ProxyConfig;
use websvc_testkit::{ForwardProxy, Page, Rules, TestWeb};
use websvc_types::ErrorCode;

use crate::support::{Fixture, pools, proxy};

async fn web() -> TestWeb {
    let mut web = TestWeb::builder();
    for number in 0..20 {
        web = web.page(&format!("http://{number}.test/"), Page::html("<p>Three minutes.</p>"));
    }
    web.start().await
}

async fn start_proxy(web: &TestWeb) -> ForwardProxy {
    let addr = web.http_addr();
    ForwardProxy::start(Rules::new(move |_| Some(addr))).await
}

#[tokio::test]
async fn hosts_are_spread_over_the_pool_and_keep_their_proxy() {
    let web = web().await;
    let (first, second) = (start_proxy(&web).await, start_proxy(&web).await);
    let proxies = pools(vec![proxy(first.addr), proxy(second.addr)], Vec::new());
    let fixture = Fixture::with_config(web, |config| config.proxies = proxies);
    for number in 0..20 {
        fixture.scrape(&format!("http://{number}.test/"), json!({ "maxAge": 0 })).await.unwrap();
    }
    let before = (first.requests().len(), second.requests().len());
    assert!(before.0 > 0 && before.1 > 0 && before.0 + before.1 == 20, "{before:?}");
    for number in 0..20 {
        fixture.scrape(&format!("http://{number}.test/"), json!({ "maxAge": 0 })).await.unwrap();
    }
    assert_eq!((first.requests().len(), second.requests().len()), before, "the connections are reused");
}

#[tokio::test]
async fn unreachable_proxy_is_skipped() {
    let web = web().await;
    let unreachable = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let working = start_proxy(&web).await;
    let proxies = pools(vec![proxy(unreachable), proxy(working.addr)], Vec::new());
    let fixture = Fixture::with_config(web, |config| config.proxies = proxies);
    for number in 0..20 {
        fixture.scrape(&format!("http://{number}.test/"), json!({})).await.unwrap();
    }
    assert_eq!(working.requests().len(), 20);
}

#[tokio::test]
async fn page_fails_if_no_proxy_works() {
    let web = web().await;
    let unreachable = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let fixture =
        Fixture::with_config(web, |config| config.proxies = pools(vec![proxy(unreachable)], Vec::new()));
    let error = fixture.scrape("http://1.test/", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSiteError);
    assert_eq!(error.to_string(), "could not connect through the proxy: it cannot be reached");
    assert!(fixture.web.requests().is_empty());
}

#[tokio::test]
async fn country_has_its_own_proxies_and_cached_copies() {
    let web = web().await;
    let (default, germany) = (start_proxy(&web).await, start_proxy(&web).await);
    let by_country = BTreeMap::from([("DE".to_owned(), vec![proxy(germany.addr)])]);
    let basic = vec![proxy(default.addr)];
    let proxies = ProxyConfig { basic, by_country, ..ProxyConfig::default() };
    let fixture = Fixture::with_config(web, |config| config.proxies = proxies);
    for options in
        [json!({}), json!({ "location": { "country": "DE" } }), json!({ "location": { "country": "FR" } })]
    {
        fixture.scrape("http://1.test/", options).await.unwrap();
    }
    assert_eq!(
        (default.requests().len(), germany.requests().len()),
        (1, 1),
        "the page for France comes from the cache of the default proxy"
    );
}
