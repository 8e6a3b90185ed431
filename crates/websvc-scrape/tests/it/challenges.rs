//! Tests of challenges, which are errors and never content.

use serde_json::json;
use websvc_scrape::ScrapeError;
use websvc_testkit::{ForwardProxy, Page, Rules, TestWeb};
use websvc_types::{ErrorCode, ProxyUsed};

use crate::support::{Fixture, pools, proxy};

const URL: &str = "http://a.test/";
const CHALLENGE: &str =
    "<title>Just a moment...</title><script src='/cdn-cgi/challenge-platform/x.js'></script>";

fn challenge() -> Page {
    Page::html(CHALLENGE).status(403)
}

fn article() -> Page {
    Page::html("<main><h1>Tea</h1><p>Three minutes.</p></main>")
}

#[tokio::test]
async fn challenge_is_an_error_with_its_vendor_and_is_not_stored() {
    let fixture = Fixture::new(TestWeb::builder().page(URL, challenge()).start().await);
    for _ in 0..2 {
        let error = fixture.scrape(URL, json!({})).await.unwrap_err();
        let text = "the site responded 403 Forbidden with a challenge or block page of Cloudflare instead of the page";
        assert_eq!((error.to_string().as_str(), error.code()), (text, ErrorCode::ScrapeSiteError));
    }
    assert_eq!(fixture.web.requests().len(), 2);
    assert_eq!(fixture.store.cache_size().unwrap().pages, 0);
}

#[tokio::test]
async fn challenge_is_not_stored_by_a_crawl() {
    let fixture = Fixture::new(TestWeb::builder().page(URL, challenge().status(200)).start().await);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let crawl_page = fixture
        .scraper
        .scrape_for_crawl(&URL.parse().unwrap(), std::time::Duration::ZERO, deadline)
        .await
        .unwrap();
    assert!(crawl_page.index_copy.is_none() && crawl_page.links.is_empty());
    assert_eq!(fixture.store.cache_size().unwrap().pages, 0);
}

/// Starts a host that serves one page through the basic proxy and another through the enhanced one.
async fn with_both_tiers(basic: Page, enhanced: Page) -> (Fixture, ForwardProxy, ForwardProxy, TestWeb) {
    let first = TestWeb::builder().page(URL, basic).start().await;
    let second = TestWeb::builder().page(URL, enhanced).start().await;
    let (first_addr, second_addr) = (first.http_addr(), second.http_addr());
    let basic = ForwardProxy::start(Rules::new(move |_| Some(first_addr))).await;
    let enhanced = ForwardProxy::start(Rules::new(move |_| Some(second_addr))).await;
    let proxies = pools(vec![proxy(basic.addr)], vec![proxy(enhanced.addr)]);
    (Fixture::with_config(first, |config| config.proxies = proxies), basic, enhanced, second)
}

#[tokio::test]
async fn auto_uses_the_enhanced_tier_if_the_basic_one_is_rejected() {
    for rejection in [
        challenge(),
        challenge().status(200),
        Page::text("no").status(403),
        Page::text("").status(429),
        Page::text("").status(500),
    ] {
        let (fixture, basic, enhanced, _second) = with_both_tiers(rejection, article()).await;
        let page = fixture.scrape(URL, json!({ "proxy": "auto" })).await.unwrap();
        assert!(page.markdown.unwrap().contains("Three minutes."));
        assert_eq!(page.metadata.proxy_used, Some(ProxyUsed::Stealth));
        assert_eq!((basic.requests().len(), enhanced.requests().len()), (1, 1));
        let cached = fixture.scrape(URL, json!({ "proxy": "auto" })).await.unwrap();
        assert_eq!(cached.metadata.proxy_used, Some(ProxyUsed::Basic), "a cached page used no proxy");
    }
}

#[tokio::test]
async fn auto_keeps_the_basic_response_if_it_works_or_both_are_rejected() {
    let (fixture, _basic, enhanced, _second) = with_both_tiers(article(), challenge()).await;
    let page = fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!((page.metadata.proxy_used, enhanced.requests().len()), (Some(ProxyUsed::Basic), 0));

    let (fixture, _basic, _enhanced, _second) =
        with_both_tiers(Page::html("<p>busy</p>").status(503), challenge()).await;
    let page = fixture.scrape(URL, json!({})).await.unwrap();
    assert_eq!((page.metadata.proxy_used, page.metadata.status_code), (Some(ProxyUsed::Basic), Some(503)));
}

#[tokio::test]
async fn concurrent_requests_for_different_proxy_tiers_do_not_share_a_fetch() {
    let slow = || Page::text("no").status(403).delay(std::time::Duration::from_millis(200));
    let (fixture, _basic, _enhanced, _second) = with_both_tiers(slow(), article()).await;
    let get = |proxy| fixture.scrape(URL, json!({ "proxy": proxy, "storeInCache": false }));
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
async fn basic_and_enhanced_use_only_their_own_tier() {
    let (fixture, basic, enhanced, _second) = with_both_tiers(challenge(), article()).await;
    let error = fixture.scrape(URL, json!({ "proxy": "basic" })).await.unwrap_err();
    assert!(matches!(error, ScrapeError::Blocked { .. }), "{error}");
    assert!(enhanced.requests().is_empty());
    let page = fixture.scrape(URL, json!({ "proxy": "enhanced" })).await.unwrap();
    assert_eq!(page.metadata.proxy_used, Some(ProxyUsed::Stealth));
    assert_eq!(basic.requests().len(), 1, "only the first request uses the basic proxy");
}
