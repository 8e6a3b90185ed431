//! Pages through a real Chromium; each test says so and passes where none is installed.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use websvc_blocklist::Blocklist;
use websvc_browser::{Browser, BrowserConfig};
use websvc_testkit::{Page, ReceivedRequest, TestWeb, TestWebBuilder};
use websvc_types::ErrorCode;

use crate::banners::{CONTENT, QUESTIONS, STORY};
use crate::support::Bench;

/// Starts a world and a scraper with a browser, or returns `None` with a line when there is no Chromium.
async fn bench(world: TestWebBuilder) -> Option<Bench> {
    bench_with(world, Blocklist::bundled()).await
}

async fn bench_with(world: TestWebBuilder, lists: Blocklist) -> Option<Bench> {
    let world = world.start().await;
    let path = std::env::var_os("WEBSVC_TEST_CHROMIUM").map(Into::into);
    let browser = Browser::new(BrowserConfig { path, ..BrowserConfig::default() }, world.client());
    match browser.executable() {
        Ok(_) => Some(Bench::with(world, |config| {
            config.browser = Some(browser);
            config.blocklist = Arc::new(lists);
        })),
        Err(error) => {
            websvc_testkit::skip(&error.to_string());
            None
        }
    }
}

/// A page whose content a script puts into its empty root.
fn application(script: &str) -> Page {
    Page::html(format!("<title>Shop</title><div id=root></div><script src='/{script}'></script>"))
}

fn filling(text: &str) -> Page {
    Page::new("text/javascript", format!("document.getElementById('root').textContent = '{text}'"))
}

#[tokio::test]
async fn rendering_is_decided_per_page_not_per_host() {
    let world = TestWeb::builder()
        .page("http://a.test/app", application("app.js"))
        .page("http://a.test/app.js", filling(&"Kettles of copper and of steel. ".repeat(20)))
        .page("http://a.test/login", application("login.js"))
        .page("http://a.test/login.js", filling("Sign in please."))
        .page("http://a.test/teas", application("teas.js"))
        .page("http://a.test/teas.js", filling("Sencha and oolong."))
        .page(
            "http://a.test/hours",
            Page::html("<h1>Hours</h1><p>Nine to five.</p><script src='/hours.js'></script>"),
        )
        .page("http://a.test/hours.js", filling("nothing"));
    let Some(bench) = bench(world).await else { return };
    let markdown = async |path: &str| {
        let url = format!("http://a.test/{path}");
        bench.get(&url, json!({"formats": ["markdown"]})).await.unwrap().markdown.unwrap()
    };
    assert!(markdown("app").await.contains("Kettles of copper"));
    // A page that is served whole is not rendered for its neighbour's sake.
    assert!(markdown("hours").await.contains("Nine to five."));
    assert_eq!(bench.world.count("http://a.test/hours.js"), 0);
    // A page that stays short when rendered does not leave the others empty.
    assert!(markdown("login").await.contains("Sign in please."));
    assert!(markdown("teas").await.contains("Sencha and oolong."));
}

#[tokio::test]
async fn network_errors_have_one_code_with_and_without_browser() {
    let Some(bench) = bench(TestWeb::builder().page("http://a.test/", Page::html("<p>x"))).await else {
        return;
    };
    // Longer than a label of a name may be, so that no name server is asked for it.
    let nowhere = format!("http://{}.test:81/", "a".repeat(70));
    for (url, expected) in [
        (nowhere.as_str(), Some(ErrorCode::ScrapeDnsResolutionError)),
        ("http://a.test:81/", None),
        ("https://a.test:81/", None),
    ] {
        let plain = bench.get(url, json!({"formats": ["markdown"]})).await.unwrap_err();
        let browser = bench.get(url, json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap_err();
        assert_eq!(plain.code(), browser.code(), "{url}: {plain} / {browser}");
        assert_eq!(plain.is_unreachable(), browser.is_unreachable(), "{url}: {plain} / {browser}");
        assert!(expected.is_none_or(|expected| expected == plain.code()), "{url}: {plain}");
    }
}

const PDF: &str = "%PDF-1.4 a report";

fn office(home: &str) -> TestWebBuilder {
    let report = |seen: &ReceivedRequest| match seen.header("cookie") {
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
async fn a_file_that_an_action_leads_to_is_read_in_place_of_the_page() {
    let Some(bench) = bench(office(HOME)).await else { return };
    let page = bench.get("http://a.test/", clicking("#report")).await.unwrap();
    // As it is, because no parser was asked for.
    assert_eq!(page.markdown, Some(STANDARD.encode(PDF)));
    assert_eq!(page.metadata.url.as_deref(), Some("http://a.test/report"));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/"));
    assert_eq!(page.artifacts.unwrap().scrapes[0].url, "http://a.test/");
    let page = bench.get("http://a.test/", clicking("#notes")).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Plain notes."));
    assert_eq!(page.warnings, [""; 0]);
}

#[tokio::test]
async fn headers_of_the_caller_do_not_follow_to_the_file_of_another_host() {
    let Some(bench) = bench(office(HOME)).await else { return };
    let mut options = clicking("#other");
    options["headers"] = json!({"x-key": "secret", "cookie": "own=1"});
    let page = bench.get("http://a.test/", options).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Notes of b."));
    for seen in bench.world.requests().iter().filter(|seen| seen.url.starts_with("http://b.test/")) {
        assert_eq!((seen.header("x-key"), seen.header("cookie")), (None, None), "{seen:?}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_and_the_page_stays() {
    let Some(bench) = bench(office(HOME)).await else { return };
    let page = bench.get("http://a.test/", clicking("#zip")).await.unwrap();
    assert!(page.markdown.unwrap().contains("Words of the page."));
    let warning = "an action started a download of \"data.zip\", which was blocked: it is not a document that can be read";
    assert_eq!(page.warnings, [warning]);
}

#[tokio::test]
async fn a_file_that_the_page_begins_to_save_is_named() {
    let home = "<p>Words of the page.</p><iframe src='/data.zip'></iframe>";
    let Some(bench) = bench(office(home)).await else { return };
    let page = bench.get("http://a.test/", json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap();
    assert!(page.markdown.unwrap().contains("Words of the page."));
    assert_eq!(page.warnings, ["the page started a download of \"data.zip\", which was blocked"]);
}

#[tokio::test]
async fn an_address_that_is_a_file_is_read_as_without_a_browser() {
    let Some(bench) = bench(office(HOME)).await else { return };
    let page =
        bench.get("http://a.test/notes", json!({"formats": ["markdown"], "waitFor": 1})).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("Plain notes."));
}

/// Tells whether the innermost element with these words is shown.
const IS_SHOWN: &str = "(() => {
    const all = [...document.body.querySelectorAll('*')];
    const found = all.filter((element) => element.textContent.includes('We value your privacy')).pop();
    return (found ?? document.body).getClientRects().length > 0;
})()";

async fn run(bench: &Bench, url: &str, script: &str) -> Value {
    let act = json!({"type": "executeJavascript", "script": script});
    let page = bench.get(url, json!({"formats": ["markdown"], "actions": [act]})).await.unwrap();
    page.artifacts.unwrap().returns[0].value.clone()
}

#[tokio::test]
async fn the_browser_shows_no_questions_about_cookies_and_all_content() {
    let mut world = TestWeb::builder();
    let questions = QUESTIONS.iter().map(|(name, html)| (name, format!("{html}{STORY}"), false));
    let content = CONTENT.iter().map(|(name, html)| (name, (*html).to_owned(), true));
    let cases: Vec<_> = questions.chain(content).collect();
    for (place, (_, html, _)) in cases.iter().enumerate() {
        world = world.page(&format!("http://a.test/{place}"), Page::html(html.clone()));
    }
    let Some(bench) = bench(world).await else { return };
    for (place, (name, _, is_shown)) in cases.iter().enumerate() {
        let shown = run(&bench, &format!("http://a.test/{place}"), IS_SHOWN).await;
        assert_eq!(shown, json!(is_shown), "{name}");
    }
    // Chromium leaves out what it does not understand.
    let rules = run(&bench, "http://a.test/0", "document.adoptedStyleSheets[0].cssRules.length").await;
    let css = Blocklist::bundled().load().unwrap().hide_css("http://a.test/0");
    assert_eq!(rules, json!(css.lines().count()));
}

#[tokio::test]
async fn a_page_that_waits_for_an_answer_scrolls() {
    let html = "<!doctype html><style>html, body { height: 100%; margin: 0 } .locked { overflow: hidden; position: fixed; width: 100% }
        main { height: 3000px }</style><body class=locked style='position: fixed; top: -10px'>
        <div class=cookie-banner>We value your privacy</div><main>The tide</main>";
    let Some(bench) = bench(TestWeb::builder().page("http://a.test/", Page::html(html))).await else {
        return;
    };
    let scroll =
        "(() => { scrollTo(0, 1000); return [scrollY, document.documentElement.scrollHeight >= 2900] })()";
    assert_eq!(run(&bench, "http://a.test/", scroll).await, json!([1000, true]));
}

#[tokio::test]
async fn what_a_list_hides_by_its_class_or_id_is_hidden_whenever_it_comes() {
    let html = "<p>Words of the page.</p><div class='box promo-slot'>Buy!</div><button>more</button><script>
        document.querySelector('button').onclick = () => document.body.insertAdjacentHTML('beforeend',
            '<div id=late-ad>Buy more!</div>')</script>";
    let directory = tempfile::tempdir().unwrap();
    let lists = Blocklist::with_lists(directory.path(), ["https://lists.example.com/a.txt"]);
    lists.files()[0].replace(b"[Adblock Plus 2.0]\n##.promo-slot\n###late-ad\n").unwrap();
    let world = TestWeb::builder().page("http://a.test/", Page::html(html));
    let Some(bench) = bench_with(world, lists).await else { return };
    let shown = "['.promo-slot', '#late-ad', 'p'].map((name) => document.querySelector(name)?.getClientRects().length)";
    assert_eq!(run(&bench, "http://a.test/", shown).await, json!([0, null, 1]));
    let actions = json!([{"type": "click", "selector": "button"}]);
    let options = json!({"formats": ["screenshot"], "actions": actions});
    assert!(bench.get("http://a.test/", options).await.unwrap().artifacts.is_some());
}
