//! Tests of rendering with a real Chromium; they are skipped if none is installed.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use websvc_browser::{Browser, BrowserConfig};
use websvc_scrape::CacheState;
use websvc_scrape::blocklist::Blocklist;
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};
use websvc_types::ErrorCode;

use crate::banners::{BANNERS, CONTENT, STORY};
use crate::support::Fixture;

/// Starts a test web and a scraper with a browser; records a skipped test and returns `None` without Chromium.
async fn fixture(web: TestWebBuilder) -> Option<Fixture> {
    fixture_with_lists(web, Blocklist::bundled()).await
}

async fn fixture_with_lists(web: TestWebBuilder, lists: Blocklist) -> Option<Fixture> {
    let web = web.start().await;
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    let browser = Browser::new(BrowserConfig { path, ..BrowserConfig::default() }, web.client());
    match browser.executable() {
        Ok(_) => Some(Fixture::with_config(web, |config| {
            config.browser = Some(browser);
            config.blocklist = Arc::new(lists);
        })),
        Err(error) => {
            websvc_testkit::skip(&error.to_string());
            None
        }
    }
}

/// Returns a page whose script creates the content of its empty root.
fn application(script: &str) -> Page {
    Page::html(format!("<title>Shop</title><div id=root></div><script src='/{script}'></script>"))
}

/// Returns the script that creates the content.
fn filling_script(text: &str) -> Page {
    Page::new("text/javascript", format!("document.getElementById('root').textContent = '{text}'"))
}

#[tokio::test]
async fn rendering_is_decided_per_page_not_per_host() {
    let web = TestWeb::builder()
        .page("http://a.test/app", application("app.js"))
        .page("http://a.test/app.js", filling_script(&"Kettles of copper and of steel. ".repeat(20)))
        .page("http://a.test/login", application("login.js"))
        .page("http://a.test/login.js", filling_script("Sign in please."))
        .page("http://a.test/teas", application("teas.js"))
        .page("http://a.test/teas.js", filling_script("Sencha and oolong."))
        .page(
            "http://a.test/hours",
            Page::html("<h1>Hours</h1><p>Nine to five.</p><script src='/hours.js'></script>"),
        )
        .page("http://a.test/hours.js", filling_script("nothing"));
    let Some(fixture) = fixture(web).await else { return };
    let markdown = async |path: &str| {
        let url = format!("http://a.test/{path}");
        fixture.scrape(&url, json!({"formats": ["markdown"]})).await.unwrap().markdown.unwrap()
    };
    assert!(markdown("app").await.contains("Kettles of copper"));
    // A page with content is not rendered because of another page of its host.
    assert!(markdown("hours").await.contains("Nine to five."));
    assert_eq!(fixture.web.count("http://a.test/hours.js"), 0);
    // A rendered page with little content does not prevent the rendering of others.
    assert!(markdown("login").await.contains("Sign in please."));
    assert!(markdown("teas").await.contains("Sencha and oolong."));
}

#[tokio::test]
async fn network_errors_have_one_code_with_and_without_browser() {
    let Some(fixture) = fixture(TestWeb::builder().page("http://a.test/", Page::html("<p>x"))).await else {
        return;
    };
    // The label is longer than DNS allows, so that no name server is queried.
    let unresolvable = format!("http://{}.test:81/", "a".repeat(70));
    for (url, expected) in [
        (unresolvable.as_str(), Some(ErrorCode::ScrapeDnsResolutionError)),
        ("http://a.test:81/", None),
        ("https://a.test:81/", None),
    ] {
        let plain = fixture.scrape(url, json!({"formats": ["markdown"]})).await.unwrap_err();
        let browser = fixture.scrape(url, json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap_err();
        assert_eq!(plain.code(), browser.code(), "{url}: {plain} / {browser}");
        assert_eq!(plain.is_unreachable(), browser.is_unreachable(), "{url}: {plain} / {browser}");
        assert!(expected.is_none_or(|expected| expected == plain.code()), "{url}: {plain}");
    }
}

const PDF: &str = "%PDF-1.4 a report";

fn download_site(home: &str) -> TestWebBuilder {
    let report = |request: &ReceivedRequest| match request.header("cookie") {
        Some("session=1") => Page::new("application/pdf", PDF)
            .header("content-disposition", "attachment; filename=\"Report.pdf\""),
        _ => Page::html("<p>Log in first.</p>").status(403),
    };
    TestWeb::builder()
        .page("http://a.test/", Page::html(home).header("set-cookie", "session=1; HttpOnly"))
        .page_with("http://a.test/report", report)
        .page("http://a.test/notes", Page::text("Plain notes.").header("content-disposition", "attachment"))
        .page("http://a.test/data.zip", Page::new("application/zip", "PK"))
        .page("http://b.test/notes", Page::text("Notes of b.").header("content-disposition", "attachment"))
}

const HOME: &str = "<p>Words of the page.</p><a id=report href='/report'>r</a><a id=notes href='/notes'>n</a>
    <a id=zip href='/data.zip'>z</a><a id=other href='http://b.test/notes'>o</a>";

fn clicking(selector: &str) -> Value {
    let click = json!({"type": "click", "selector": selector});
    json!({"formats": ["markdown"], "parsers": [], "actions": [click, {"type": "scrape"}]})
}

#[tokio::test]
async fn file_that_an_action_downloads_replaces_the_page() {
    let Some(fixture) = fixture(download_site(HOME)).await else { return };
    let page = fixture.scrape("http://a.test/", clicking("#report")).await.unwrap();
    // Without a parser, the file is returned as base64.
    assert_eq!(page.markdown, Some(STANDARD.encode(PDF)));
    assert_eq!(page.metadata.url.as_deref(), Some("http://a.test/report"));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/"));
    assert_eq!(page.artifacts.unwrap().scrapes[0].url, "http://a.test/");
    let page = fixture.scrape("http://a.test/", clicking("#notes")).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Plain notes."));
    assert_eq!(page.warnings, [""; 0]);
}

#[tokio::test]
async fn caller_headers_are_not_sent_to_a_download_of_another_host() {
    let Some(fixture) = fixture(download_site(HOME)).await else { return };
    let mut options = clicking("#other");
    options["headers"] = json!({"x-key": "secret", "cookie": "own=1"});
    let page = fixture.scrape("http://a.test/", options).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Notes of b."));
    for request in fixture.web.requests().iter().filter(|request| request.url.starts_with("http://b.test/")) {
        assert_eq!((request.header("x-key"), request.header("cookie")), (None, None), "{request:?}");
    }
}

#[tokio::test]
async fn unreadable_download_adds_a_warning_to_the_page() {
    let Some(fixture) = fixture(download_site(HOME)).await else { return };
    let page = fixture.scrape("http://a.test/", clicking("#zip")).await.unwrap();
    assert!(page.markdown.unwrap().contains("Words of the page."));
    let warning = "an action started a download of \"data.zip\", which was blocked: it is not a document that can be read";
    assert_eq!(page.warnings, [warning]);
}

#[tokio::test]
async fn download_that_the_page_starts_is_blocked_with_a_warning() {
    let home = "<p>Words of the page.</p><iframe src='/data.zip'></iframe>";
    let Some(fixture) = fixture(download_site(home)).await else { return };
    let page =
        fixture.scrape("http://a.test/", json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap();
    assert!(page.markdown.unwrap().contains("Words of the page."));
    assert_eq!(page.warnings, ["the page started a download of \"data.zip\", which was blocked"]);
}

#[tokio::test]
async fn url_of_a_file_is_read_without_the_browser() {
    let Some(fixture) = fixture(download_site(HOME)).await else { return };
    let page =
        fixture.scrape("http://a.test/notes", json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Plain notes."));
}

/// Returns whether the innermost element with the text of the banner is visible.
const IS_VISIBLE: &str = "(() => {
    const all = [...document.body.querySelectorAll('*')];
    const found = all.filter((element) => element.textContent.includes('We value your privacy')).pop();
    return (found ?? document.body).getClientRects().length > 0;
})()";

async fn run(fixture: &Fixture, url: &str, script: &str) -> Value {
    let act = json!({"type": "executeJavascript", "script": script});
    let page = fixture.scrape(url, json!({"formats": ["markdown"], "actions": [act]})).await.unwrap();
    page.artifacts.unwrap().returns[0].value.clone()
}

#[tokio::test]
async fn browser_hides_cookie_banners_and_shows_content() {
    let mut web = TestWeb::builder();
    let banners = BANNERS.iter().map(|(name, html)| (name, format!("{html}{STORY}"), false));
    let content = CONTENT.iter().map(|(name, html)| (name, (*html).to_owned(), true));
    let cases: Vec<_> = banners.chain(content).collect();
    for (index, (_, html, _)) in cases.iter().enumerate() {
        web = web.page(&format!("http://a.test/{index}"), Page::html(html.clone()));
    }
    let Some(fixture) = fixture(web).await else { return };
    for (index, (name, _, is_visible)) in cases.iter().enumerate() {
        let visible = run(&fixture, &format!("http://a.test/{index}"), IS_VISIBLE).await;
        assert_eq!(visible, json!(is_visible), "{name}");
    }
    // Chromium drops rules that it cannot parse, so none may be missing.
    let rules = run(&fixture, "http://a.test/0", "document.adoptedStyleSheets[0].cssRules.length").await;
    let css = Blocklist::bundled().load().unwrap().hide_css("http://a.test/0");
    assert_eq!(rules, json!(css.lines().count()));
}

#[tokio::test]
async fn page_locked_by_a_banner_scrolls() {
    let html = "<!doctype html><style>html, body { height: 100%; margin: 0 } .locked { overflow: hidden; position: fixed; width: 100% }
        main { height: 3000px }</style><body class=locked style='position: fixed; top: -10px'>
        <div class=cookie-banner>We value your privacy</div><main>The tide</main>";
    let Some(fixture) = fixture(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    let scroll =
        "(() => { scrollTo(0, 1000); return [scrollY, document.documentElement.scrollHeight >= 2900] })()";
    assert_eq!(run(&fixture, "http://a.test/", scroll).await, json!([1000, true]));
}

#[tokio::test]
async fn element_hidden_by_a_list_is_hidden_also_if_added_later() {
    let html = "<p>Words of the page.</p><div class='box promo-slot'>Buy!</div><button>more</button><script>
        document.querySelector('button').onclick = () => document.body.insertAdjacentHTML('beforeend',
            '<div id=late-ad>Buy more!</div>')</script>";
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path(), ["https://lists.example.com/a.txt"]);
    lists.files()[0].replace(b"[Adblock Plus 2.0]\n##.promo-slot\n###late-ad\n").unwrap();
    let web = TestWeb::builder().page("http://a.test/", Page::html(html));
    let Some(fixture) = fixture_with_lists(web, lists).await else { return };
    let visible_boxes = "['.promo-slot', '#late-ad', 'p'].map((name) => document.querySelector(name)?.getClientRects().length)";
    assert_eq!(run(&fixture, "http://a.test/", visible_boxes).await, json!([0, null, 1]));
    let actions = json!([{"type": "click", "selector": "button"}]);
    let options = json!({"formats": ["screenshot"], "actions": actions});
    assert!(fixture.scrape("http://a.test/", options).await.unwrap().artifacts.is_some());
}

#[tokio::test]
async fn rendered_copy_serves_later_requests_without_a_picture() {
    let url = "http://a.test/";
    let story = Page::html(
        "<title>Tea</title><main><h1>Tea</h1><p id=p>Three minutes.</p></main>\
         <script>document.getElementById('p').textContent = 'Four minutes.'</script>",
    );
    let Some(fixture) = fixture(TestWeb::builder().page(url, story)).await else { return };
    let scrape = async |options: Value| {
        let page = fixture.scrape(url, options).await.unwrap();
        (matches!(page.cache_state, CacheState::Hit(_)), page.markdown.unwrap_or_default())
    };
    let with_picture = json!({"formats": ["markdown", "screenshot"]});
    assert!(!scrape(with_picture.clone()).await.0);
    assert!(!scrape(with_picture).await.0, "a screenshot shows the page as it is now");
    for _ in 0..2 {
        // The second one comes from the output cache.
        let (is_hit, markdown) = scrape(json!({"formats": ["markdown"]})).await;
        assert!(is_hit && markdown.contains("Four minutes."), "{markdown}");
    }
    let (is_hit, markdown) = scrape(json!({"formats": ["markdown", "screenshot"], "lockdown": true})).await;
    assert!(is_hit && markdown.contains("Four minutes."), "{markdown}");
    assert_eq!(fixture.web.count(url), 2);
    for mut options in [
        json!({"formats": ["rawHtml"]}),
        json!({"mobile": true}),
        json!({"location": {"country": "DE"}}),
        json!({"waitFor": 1}),
        json!({"maxAge": 0}),
        json!({"headers": {"x-key": "1"}}),
        json!({"blockAds": false}),
    ] {
        options["storeInCache"] = json!(false);
        assert!(!scrape(options.clone()).await.0, "{options}");
    }
}

#[tokio::test]
async fn rendered_page_that_must_not_be_stored_is_not_served_again() {
    let url = "http://a.test/";
    let Some(fixture) = fixture(TestWeb::builder().page(url, Page::html("<p>Three minutes."))).await else {
        return;
    };
    let action = json!([{"type": "wait", "milliseconds": 1}]);
    for options in [
        json!({"formats": ["screenshot"], "storeInCache": false}),
        json!({"formats": ["screenshot"], "actions": action}),
        json!({"formats": ["screenshot"], "headers": {"x-key": "1"}}),
    ] {
        fixture.scrape(url, options.clone()).await.unwrap();
        let error = fixture.scrape(url, json!({"lockdown": true})).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ScrapeLockdownCacheMiss, "{options}");
    }
}

#[tokio::test]
async fn undeclared_charset_is_that_of_a_fetched_page() {
    let (french, japanese) = ("Un café à la crème, très léger.", "緑茶は三分間蒸らします。");
    let latin: Vec<u8> = french.chars().map(|c| u8::try_from(c).unwrap()).collect();
    // "The green tea." in Shift_JIS.
    let shift_jis =
        b"\x97\xce\x92\x83\x82\xcd\x8eO\x95\xaa\x8a\xd4\x8f\xf6\x82\xe7\x82\xb5\x82\xdc\x82\xb7\x81B"
            .to_vec();
    let page = |head: &str, text: &[u8]| {
        let html = [head.as_bytes(), b"<title>t</title><main><p id=p>", text, b"</p></main>"].concat();
        Page::new("text/html", html)
    };
    let script = "<script src='/script.js'></script>";
    let web = TestWeb::builder()
        .page("http://a.test/utf8", page("", french.as_bytes()))
        .page("http://a.test/japanese", page("", japanese.as_bytes()))
        .page("http://a.test/latin", page("", &latin))
        .page("http://a.test/shift_jis", page("", &shift_jis))
        .page("http://a.test/meta", page("<meta charset=utf-8>", french.as_bytes()))
        .page("http://a.test/meta_latin", page("<meta charset=iso-8859-1>", &latin))
        .page("http://a.test/header", Page::html(format!("<main><p>{french}</p></main>")))
        .page("http://a.test/script", page(script, french.as_bytes()))
        .page("http://a.test/script.js", Page::new("text/javascript", "document.title = 'Th\u{e9}'"))
        .page(
            "http://a.test/xml",
            Page::new(
                "application/xhtml+xml",
                format!("<html xmlns='http://www.w3.org/1999/xhtml'><body><p>{french}</p></body></html>"),
            ),
        );
    let Some(fixture) = fixture(web).await else { return };
    for (path, expected, requests) in [
        ("utf8", french, 2),
        ("japanese", japanese, 2),
        ("latin", french, 1),
        ("shift_jis", japanese, 0),
        ("meta", french, 1),
        ("meta_latin", french, 1),
        ("header", french, 1),
        ("script", french, 2),
        ("xml", french, 1),
    ] {
        let url = format!("http://a.test/{path}");
        let fetched = fixture.scrape(&url, json!({})).await.unwrap();
        let before = fixture.web.count(&url);
        let rendered = fixture.scrape(&url, json!({"waitFor": 1})).await.unwrap();
        let markdown = |page: &websvc_scrape::Page| page.markdown.clone().unwrap_or_default();
        assert!(markdown(&fetched).contains(expected), "{path}: {}", markdown(&fetched));
        assert!(markdown(&rendered).contains(expected), "{path}: {}", markdown(&rendered));
        assert!(rendered.warnings.is_empty(), "{path}: {:?}", rendered.warnings);
        // Chromium detects Shift_JIS itself if there is enough text.
        let loads = fixture.web.count(&url) - before;
        assert!(requests == 0 || loads == requests, "{path}: {loads} requests");
        if path == "script" {
            assert_eq!(
                rendered.metadata.title.as_deref(),
                Some("Thé"),
                "a script has the charset of its page"
            );
        }
    }
}
