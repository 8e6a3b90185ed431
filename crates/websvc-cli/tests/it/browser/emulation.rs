//! Tests of emulated devices and locations as pages see them.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use super::{BrowserTest, path_or_skip, start_with_tea_page};

#[tokio::test]
async fn location_emulates_time_zone_and_language() {
    let Some(browser) = start_with_tea_page().await else { return };
    for (location, expected) in [
        (json!({"country": "DE"}), "A script wrote this in Europe/Berlin for de-DE."),
        (
            json!({"country": "JP", "languages": ["fr-FR", "en"]}),
            "A script wrote this in Asia/Tokyo for fr-FR.",
        ),
    ] {
        let (page, _) =
            browser.scrape("tea.test", json!({"formats": ["markdown"], "location": location})).await;
        assert!(page["markdown"].as_str().unwrap_or_default().contains(expected), "{page}");
    }
}

#[tokio::test]
async fn mobile_and_block_ads_options_apply() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let advert = "http://securepubads.g.doubleclick.net/tag/js/gpt.js";
    let html = format!(
        "<meta name=viewport content='width=device-width'><h1>News of the day</h1><p id=ad>quiet</p>
         <div id=onetrust-banner-sdk>We value your privacy</div><script src={advert}></script>"
    );
    let world = TestWeb::builder()
        .page("http://news.test/", Page::html(html))
        .page(advert, Page::new("text/javascript", "document.querySelector('#ad').textContent = 'loud'"));
    let browser = BrowserTest::start(world, chromium, &["http://news.test/"]).await;
    let script = "return [innerWidth, navigator.maxTouchPoints, document.querySelector('#ad').textContent,
                getComputedStyle(document.querySelector('#onetrust-banner-sdk')).display]";
    let actions = json!([{"type": "executeJavascript", "script": script}]);
    for (options, expected) in [
        (json!({}), json!([1280, 0, "quiet", "none"])),
        (json!({"blockAds": false}), json!([1280, 0, "loud", "block"])),
        (json!({"mobile": true}), json!([390, 5, "quiet", "none"])),
    ] {
        let mut options = options;
        options["actions"] = actions.clone();
        options["formats"] = json!(["markdown"]);
        let (page, warning) = browser.scrape("news.test", options.clone()).await;
        let returned = &page["actions"]["javascriptReturns"][0]["value"];
        assert_eq!(*returned, expected, "{options} {page} {warning}");
        let is_blocked = expected[2] == "quiet";
        assert_eq!(browser.world.count(advert), usize::from(!is_blocked));
        browser.world.clear_requests();
    }
}
