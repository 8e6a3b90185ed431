//! Which proxy a page comes through.

use std::collections::BTreeMap;

use serde_json::json;
use tokio::net::TcpListener;
use websvc_scrape::ProxyConfig;
use websvc_testkit::{ForwardProxy, Page, Rules, TestWeb};
use websvc_types::ErrorCode;

use crate::support::{Bench, pools, proxy};

async fn world() -> TestWeb {
    let mut world = TestWeb::builder();
    for number in 0..20 {
        world = world.page(&format!("http://{number}.test/"), Page::html("<p>Three minutes.</p>"));
    }
    world.start().await
}

async fn forward(world: &TestWeb) -> ForwardProxy {
    let addr = world.http_addr();
    ForwardProxy::start(Rules::new(move |_| Some(addr))).await
}

#[tokio::test]
async fn hosts_are_spread_over_the_pool_and_each_keeps_its_proxy() {
    let world = world().await;
    let (first, second) = (forward(&world).await, forward(&world).await);
    let proxies = pools(vec![proxy(first.addr), proxy(second.addr)], Vec::new());
    let bench = Bench::with(world, |config| config.proxies = proxies);
    for number in 0..20 {
        bench.get(&format!("http://{number}.test/"), json!({ "maxAge": 0 })).await.unwrap();
    }
    let before = (first.asked().len(), second.asked().len());
    assert!(before.0 > 0 && before.1 > 0 && before.0 + before.1 == 20, "{before:?}");
    for number in 0..20 {
        bench.get(&format!("http://{number}.test/"), json!({ "maxAge": 0 })).await.unwrap();
    }
    assert_eq!((first.asked().len(), second.asked().len()), before, "the connections were used again");
}

#[tokio::test]
async fn a_proxy_that_is_gone_is_passed_over() {
    let world = world().await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let there = forward(&world).await;
    let proxies = pools(vec![proxy(gone), proxy(there.addr)], Vec::new());
    let bench = Bench::with(world, |config| config.proxies = proxies);
    for number in 0..20 {
        bench.get(&format!("http://{number}.test/"), json!({})).await.unwrap();
    }
    assert_eq!(there.asked().len(), 20);
}

#[tokio::test]
async fn when_no_proxy_works_the_page_fails_and_is_not_fetched_directly() {
    let world = world().await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let bench = Bench::with(world, |config| config.proxies = pools(vec![proxy(gone)], Vec::new()));
    let error = bench.get("http://1.test/", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSiteError);
    assert_eq!(error.to_string(), "could not connect through the proxy: it cannot be reached");
    assert!(bench.world.requests().is_empty());
}

#[tokio::test]
async fn a_country_has_its_own_proxies_and_its_own_copies() {
    let world = world().await;
    let (everywhere, germany) = (forward(&world).await, forward(&world).await);
    let by_country = BTreeMap::from([("DE".to_owned(), vec![proxy(germany.addr)])]);
    let basic = vec![proxy(everywhere.addr)];
    let proxies = ProxyConfig { basic, by_country, ..ProxyConfig::default() };
    let bench = Bench::with(world, |config| config.proxies = proxies);
    for options in
        [json!({}), json!({ "location": { "country": "DE" } }), json!({ "location": { "country": "FR" } })]
    {
        bench.get("http://1.test/", options).await.unwrap();
    }
    assert_eq!(
        (everywhere.asked().len(), germany.asked().len()),
        (1, 1),
        "France is as everywhere, and cached"
    );
}
