//! Tests of emulated devices and locations as pages see them.

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use super::{BrowserTest, path_or_skip, start, start_with_tea_page};

#[tokio::test]
async fn location_emulates_time_zone_and_language() {
    let Some(browser) = start_with_tea_page("location_emulates_time_zone_and_language").await else { return };
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
    let test = "mobile_and_block_ads_options_apply";
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM", test) else { return };
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

/// A script that returns what a page can learn about its visitor.
const VISITOR: &str = "return await new Promise((resolve) => navigator.geolocation.getCurrentPosition(
    (position) => resolve([navigator.language, navigator.languages, Intl.DateTimeFormat().resolvedOptions().timeZone,
        (1234.5).toLocaleString(), Math.round(position.coords.latitude), Math.round(position.coords.longitude)]),
    (error) => resolve(error.message)))";

#[tokio::test]
async fn location_emulates_languages_formats_and_coordinates() {
    let test = "location_emulates_languages_formats_and_coordinates";
    let Some(browser) = start(test, &[("https://place.test/", "<title>Place</title>")]).await else { return };
    for (location, accept_language, expected) in [
        (
            json!({"country": "DE"}),
            "de-DE,de;q=0.9",
            json!(["de-DE", ["de-DE", "de"], "Europe/Berlin", "1.234,5", 53, 13]),
        ),
        (
            json!({"country": "JP", "languages": ["fr-FR", "en"]}),
            "fr-FR,en;q=0.9",
            json!(["fr-FR", ["fr-FR", "en"], "Asia/Tokyo", "1\u{202f}234,5", 36, 140]),
        ),
        (
            json!({"country": "BR"}),
            "pt-BR,pt;q=0.9",
            json!(["pt-BR", ["pt-BR", "pt"], "America/Sao_Paulo", "1.234,5", -16, -48]),
        ),
    ] {
        browser.world.clear_requests();
        let actions = json!([{"type": "executeJavascript", "script": VISITOR}]);
        let options = json!({"formats": ["markdown"], "skipTlsVerification": true, "location": location, "actions": actions});
        let (page, _) = browser.scrape("place.test", options).await;
        assert_eq!(page["actions"]["javascriptReturns"][0]["value"], expected, "{page}");
        let requests = browser.world.requests();
        assert_eq!(requests[0].header("accept-language"), Some(accept_language), "{location}");
    }
}

#[tokio::test]
async fn mobile_emulates_touch_and_user_agent() {
    let html = "<meta name=viewport content='width=device-width'><title>Screens</title><p>words</p>";
    let pages = [("http://screens.test/", html)];
    let Some(browser) = start("mobile_emulates_touch_and_user_agent", &pages).await else { return };
    let script = "[innerWidth, innerHeight, devicePixelRatio, 'ontouchstart' in window,
        matchMedia('(pointer: coarse)').matches, / Mobile /.test(navigator.userAgent)]";
    let actions = json!([{"type": "executeJavascript", "script": script},
                         {"type": "executeJavascript", "script": "navigator.userAgent"}]);
    for (mobile, expected) in
        [(false, json!([1280, 800, 1, false, false, false])), (true, json!([390, 844, 3, true, true, true]))]
    {
        browser.world.clear_requests();
        let options = json!({"formats": ["markdown"], "mobile": mobile, "actions": actions});
        let (page, _) = browser.scrape("screens.test", options).await;
        let returns = &page["actions"]["javascriptReturns"];
        assert_eq!(returns[0]["value"], expected, "{page}");
        let agent = returns[1]["value"].as_str().unwrap();
        assert!(agent.contains(" Chrome/") && !agent.contains("Headless"), "{agent}");
        assert_eq!(browser.world.requests()[0].header("user-agent"), Some(agent));
    }
}

#[tokio::test]
async fn request_headers_and_cookies_are_sent_to_the_page_origin_only() {
    let test = "request_headers_and_cookies_are_sent_to_the_page_origin_only";
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM", test) else { return };
    let html = "<title>Headers</title><p>words<script src=/own.js></script><script src=http://other.test/other.js></script>";
    let world = TestWeb::builder()
        .page("http://headers.test/", Page::html(html))
        .page("http://headers.test/own.js", Page::new("text/javascript", ""))
        .page("http://other.test/other.js", Page::new("text/javascript", ""));
    let browser = BrowserTest::start(world, chromium, &["http://headers.test/"]).await;
    let options = json!({
        "formats": ["markdown"],
        "headers": {"X-Tea": "green", "Cookie": "cup=2", "User-Agent": "tea-drinker/1"},
        "actions": [{"type": "executeJavascript", "script": "[navigator.userAgent, document.cookie]"}],
    });
    let (page, _) = browser.scrape("headers.test", options).await;
    let value = &page["actions"]["javascriptReturns"][0]["value"];
    assert_eq!(*value, json!(["tea-drinker/1", "cup=2"]), "{page}");
    let sent = |path: &str, name: &str| {
        let requests = browser.world.requests();
        let request = requests.iter().find(|request| request.url == path).unwrap();
        request.header(name).map(str::to_owned)
    };
    for (path, tea, cookie) in [
        ("http://headers.test/", Some("green"), Some("cup=2")),
        ("http://headers.test/own.js", Some("green"), Some("cup=2")),
        ("http://other.test/other.js", None, None),
    ] {
        assert_eq!(sent(path, "x-tea").as_deref(), tea, "{path}");
        assert_eq!(sent(path, "cookie").as_deref(), cookie, "{path}");
        assert_eq!(sent(path, "user-agent").as_deref(), Some("tea-drinker/1"), "{path}");
    }
}
