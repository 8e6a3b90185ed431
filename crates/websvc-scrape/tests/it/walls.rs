//! Answers that are not the page are failures, never content.

use serde_json::json;
use websvc_scrape::ScrapeError;
use websvc_testkit::{ForwardProxy, Page, Rules, TestWeb};
use websvc_types::{ErrorCode, ProxyUsed};

use crate::support::{Bench, pools, proxy};

const URL: &str = "http://a.test/";
const WALL: &str = "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/x.js'></script>";

fn wall() -> Page {
    Page::html(WALL).status(403)
}

fn article() -> Page {
    Page::html("<main><h1>Tea</h1><p>Three minutes.</p></main>")
}

#[tokio::test]
async fn a_wall_is_an_error_that_names_it_and_is_not_stored() {
    let bench = Bench::new(TestWeb::builder().page(URL, wall()).start().await);
    for _ in 0..2 {
        let error = bench.get(URL, json!({})).await.unwrap_err();
        let text = "the site responded 403 Forbidden with a challenge or block page of Cloudflare instead of the page";
        assert_eq!((error.to_string().as_str(), error.code()), (text, ErrorCode::ScrapeSiteError));
    }
    assert_eq!(bench.world.requests().len(), 2);
    assert_eq!(bench.store.cache_size().unwrap().pages, 0);
}

#[tokio::test]
async fn a_crawl_keeps_no_wall() {
    let bench = Bench::new(TestWeb::builder().page(URL, wall().status(200)).start().await);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let survey = bench
        .scraper
        .scrape_for_crawl(&URL.parse().unwrap(), std::time::Duration::ZERO, deadline)
        .await
        .unwrap();
    assert!(survey.index_copy.is_none() && survey.links.is_empty());
    assert_eq!(bench.store.cache_size().unwrap().pages, 0);
}

/// A host that answers the basic proxy so, and the enhanced one so.
async fn two_ways(basic: Page, enhanced: Page) -> (Bench, ForwardProxy, ForwardProxy, TestWeb) {
    let first = TestWeb::builder().page(URL, basic).start().await;
    let second = TestWeb::builder().page(URL, enhanced).start().await;
    let (near, far) = (first.http_addr(), second.http_addr());
    let basic = ForwardProxy::start(Rules::new(move |_| Some(near))).await;
    let enhanced = ForwardProxy::start(Rules::new(move |_| Some(far))).await;
    let proxies = pools(vec![proxy(basic.addr)], vec![proxy(enhanced.addr)]);
    (Bench::with(first, |config| config.proxies = proxies), basic, enhanced, second)
}

#[tokio::test]
async fn auto_goes_the_enhanced_way_when_the_basic_one_is_turned_away() {
    for turned_away in [
        wall(),
        wall().status(200),
        Page::text("no").status(403),
        Page::text("").status(429),
        Page::text("").status(500),
    ] {
        let (bench, basic, enhanced, _far) = two_ways(turned_away, article()).await;
        let page = bench.get(URL, json!({ "proxy": "auto" })).await.unwrap();
        assert!(page.markdown.unwrap().contains("Three minutes."));
        assert_eq!(page.metadata.proxy_used, Some(ProxyUsed::Stealth));
        assert_eq!((basic.asked().len(), enhanced.asked().len()), (1, 1));
        let cached = bench.get(URL, json!({ "proxy": "auto" })).await.unwrap();
        assert_eq!(cached.metadata.proxy_used, Some(ProxyUsed::Basic), "the cache needs no proxy");
    }
}

#[tokio::test]
async fn auto_stays_with_the_basic_way_when_it_works_and_when_nothing_is_better() {
    let (bench, _basic, enhanced, _far) = two_ways(article(), wall()).await;
    let page = bench.get(URL, json!({})).await.unwrap();
    assert_eq!((page.metadata.proxy_used, enhanced.asked().len()), (Some(ProxyUsed::Basic), 0));

    let (bench, _basic, _enhanced, _far) = two_ways(Page::html("<p>busy</p>").status(503), wall()).await;
    let page = bench.get(URL, json!({})).await.unwrap();
    assert_eq!((page.metadata.proxy_used, page.metadata.status_code), (Some(ProxyUsed::Basic), Some(503)));
}

#[tokio::test]
async fn concurrent_requests_for_different_proxy_tiers_do_not_share_a_fetch() {
    let slow = || Page::text("no").status(403).delay(std::time::Duration::from_millis(200));
    let (bench, _basic, _enhanced, _far) = two_ways(slow(), article()).await;
    let get = |proxy| bench.get(URL, json!({ "proxy": proxy, "storeInCache": false }));
    for is_auto_first in [true, false] {
        let (auto, basic) = if is_auto_first {
            tokio::join!(get("auto"), get("basic"))
        } else {
            let (basic, auto) = tokio::join!(get("basic"), get("auto"));
            (auto, basic)
        };
        let tiers = (auto.unwrap().metadata.proxy_used, basic.unwrap().metadata.proxy_used);
        assert_eq!(tiers, (Some(ProxyUsed::Stealth), Some(ProxyUsed::Basic)));
    }
}

#[tokio::test]
async fn basic_never_goes_the_enhanced_way_and_enhanced_goes_no_other() {
    let (bench, basic, enhanced, _far) = two_ways(wall(), article()).await;
    let error = bench.get(URL, json!({ "proxy": "basic" })).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Blocked { .. }), "{error}");
    assert!(enhanced.asked().is_empty());
    let page = bench.get(URL, json!({ "proxy": "enhanced" })).await.unwrap();
    assert_eq!(page.metadata.proxy_used, Some(ProxyUsed::Stealth));
    assert_eq!(basic.asked().len(), 1, "only by the first");
}
