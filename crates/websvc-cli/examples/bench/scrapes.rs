//! Measures searches with one scraped page, cached and fetched, compared with a bare GET; and scrapes with and without
//! storage.

use std::path::{Path, PathBuf};

use serde_json::json;
use url::Url;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_testkit::TestWeb;

use crate::load::{Load, Request};
use crate::parts::html_files;
use crate::process::Process;
use crate::queries;
use crate::report::Report;
use crate::{CONNECTIONS, DURATION};

/// Number of cached pages.
const CACHED_PAGES: usize = 100;

/// Approximate markdown size of the cached pages in bytes.
const MARKDOWN_BYTES: usize = 20_000;

/// Number of fetched pages.
const FETCHED_PAGES: usize = 50;

/// Approximate size of the fetched pages in bytes, the same as in measurements of other services.
const PAGE_BYTES: u64 = 22_000;

/// Number of pages that are nearly all text, and their approximate size in bytes.
const DENSE_PAGES: usize = 50;
const DENSE_BYTES: usize = 23_000;

/// Number of URLs, more than are scraped during a measurement, so that none is repeated.
const STORED_PAGES: usize = 40_000;

/// Measures searches with cached pages of about 20 KB of markdown, with different pages and queries.
pub(crate) async fn cached(process: &Process, corpus: &Path, report: &mut Report) {
    let pages = pages_of_markdown(corpus, MARKDOWN_BYTES);
    let pairs = queries::word_pairs(&pages);
    let requests: Vec<_> = pairs.iter().map(|(page, words)| cached_page(corpus, page, words)).collect();
    // A first load fills the cache.
    let warm = Load::run(process, CONNECTIONS, DURATION, &requests).await;
    let load = Load::run(process, CONNECTIONS, DURATION, &requests).await;
    report.load("search with markdown of 1 of 100 pages of about 20 KB of markdown, cached", &load);
    report.number("  the same per CPU second", 1e3 / load.cpu_ms(), "/s", "at least 2000");
    assert!(warm.failures + load.failures == 0, "a request failed");
}

/// Measures searches with pages of about 22 kB that are fetched each time.
pub(crate) async fn fetched(process: &Process, world: &TestWeb, corpus: &Path, report: &mut Report) {
    let pages = pages_of_22_kb(corpus);
    let requests: Vec<_> = pages.iter().map(|page| fetched_page(corpus, page)).collect();
    let many = Load::run(process, CONNECTIONS, DURATION, &requests).await;
    report.load("search with markdown of 1 of 50 pages of about 22 kB, fetched", &many);
    report.number("CPU per search with 1 static scrape of 22 kB", many.cpu_ms(), "ms", "3.15");
    let bare = Process::plain_get(world.http_addr(), &url_of(corpus, &pages[0]), DURATION).await;
    let load = Load::run(process, 1, DURATION, &requests).await;
    let p50_ms = load.percentile(50).as_secs_f64() * 1e3;
    report.number("GET of one of these pages by plain hyper, p50", bare.p50_ms, "ms", "");
    report.number("  CPU", bare.cpu_ms, "ms", "");
    report.number("search with one of these pages, one at a time, p50", p50_ms, "ms", "");
    report.number("  added to the bare GET, p50", p50_ms - bare.p50_ms, "ms", "under 5");
    report.number("  added to the bare GET, CPU", load.cpu_ms() - bare.cpu_ms, "ms", "under 3");
    assert!(many.failures + load.failures == 0, "a request failed");
}

/// Measures scrapes of pages of about 22 kB without storage.
pub(crate) async fn unstored(process: &Process, corpus: &Path, report: &mut Report) {
    let requests: Vec<_> = new_urls(corpus, "unstored", STORED_PAGES)
        .map(|url| json!({ "url": url, "formats": ["markdown"], "maxAge": 0, "storeInCache": false }))
        .map(|body| Request::post("/v2/scrape", &body.to_string()))
        .collect();
    let load = Load::run_cold(process, CONNECTIONS, DURATION, &requests).await;
    report.load("scrape of a page of about 22 kB, not stored", &load);
    report.number("CPU per scrape of 22 kB, not stored", load.cpu_ms(), "ms", "1.0");
    assert!(load.failures == 0, "a request failed");
}

/// Measures default scrapes of pages of about 22 kB with new URLs: each is fetched, extracted, cached and indexed. The
/// result includes commits and merges of the index during the load.
pub(crate) async fn stored(process: &Process, corpus: &Path, report: &mut Report) {
    let requests = new_pages(corpus, STORED_PAGES);
    let load = Load::run_cold(process, CONNECTIONS, 3 * DURATION, &requests).await;
    report.load("scrape of a new page of about 22 kB, cached and indexed", &load);
    report.number("CPU per stored scrape of 22 kB", load.cpu_ms(), "ms", "1.6");
    assert!(load.failures == 0, "a request failed");
}

/// Writes pages that are nearly all text: the paragraphs of the corpus, each in one page.
pub(crate) fn write_dense(corpus: &Path, directory: &Path) {
    let mut paragraphs = html_files(corpus).into_iter().flat_map(|path| paragraphs(&path));
    for number in 0..DENSE_PAGES {
        let mut html =
            format!("<!doctype html><html lang=en><title>Text {number}</title><main><h1>Text</h1>");
        while html.len() < DENSE_BYTES {
            let paragraph = paragraphs.next().expect("the corpus has enough text");
            html.push_str(&format!("<p>{paragraph}</p>\n"));
        }
        std::fs::write(directory.join(format!("{number}.html")), html).unwrap();
    }
}

/// Returns the longer paragraphs of a page, escaped.
fn paragraphs(path: &Path) -> Vec<String> {
    let url = Url::parse("http://docs.test/").unwrap();
    let html = std::fs::read(path).unwrap();
    let page = Document::parse(Source { bytes: &html, content_type: Some("text/html"), url: &url }).unwrap();
    let markdown = page.content(&ContentOptions::default()).markdown();
    let is_text = |block: &&str| block.len() > 120 && block.starts_with(|first: char| first.is_alphabetic());
    let escape = |block: &str| block.replace('&', "&amp;").replace('<', "&lt;").replace('\n', " ");
    markdown.split("\n\n").filter(is_text).map(escape).collect()
}

/// Measures scrapes of pages that are nearly all text, without storage, and cached and indexed.
pub(crate) async fn dense(process: &Process, report: &mut Report) {
    for (name, parameter, options, goal) in [
        ("not stored", "unstored", json!({ "maxAge": 0, "storeInCache": false }), "2.4"),
        ("cached and indexed", "number", json!({}), "4.5"),
    ] {
        let requests: Vec<Request> = (0..STORED_PAGES)
            .map(|number| {
                let page = number % DENSE_PAGES;
                let mut body = json!({
                    "url": format!("http://dense.test/{page}.html?{parameter}={number}"),
                    "formats": ["markdown"],
                });
                body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
                Request::post("/v2/scrape", &body.to_string())
            })
            .collect();
        let load = Load::run_cold(process, CONNECTIONS, 2 * DURATION, &requests).await;
        report.load(&format!("scrape of a page of 23 kB of text, {name}"), &load);
        report.number(&format!("CPU per scrape of 23 kB of text, {name}"), load.cpu_ms(), "ms", goal);
        assert!(load.failures == 0, "a request failed");
    }
}

/// Returns scrapes of pages of about 22 kB, each with a different URL.
pub(crate) fn new_pages(corpus: &Path, count: usize) -> Vec<Request> {
    new_urls(corpus, "number", count)
        .map(|url| Request::post("/v2/scrape", &json!({ "url": url, "formats": ["markdown"] }).to_string()))
        .collect()
}

/// Returns different URLs of pages of about 22 kB, with a number in a query parameter.
pub(crate) fn new_urls(corpus: &Path, parameter: &str, count: usize) -> impl Iterator<Item = String> {
    let urls: Vec<String> = pages_of_22_kb(corpus).iter().map(|page| url_of(corpus, page)).collect();
    (0..count).map(move |number| format!("{}?{parameter}={number}", urls[number % urls.len()]))
}

/// Returns a search for a cached page that contains `words`, with its markdown.
fn cached_page(corpus: &Path, page: &Path, words: &str) -> Request {
    let url = url_of(corpus, page);
    let query = format!("site:{} {words}", url.trim_start_matches("http://"));
    let body = json!({ "query": query, "limit": 1, "scrapeOptions": { "formats": ["markdown"] } });
    Request::post("/v2/search", &body.to_string())
}

/// Returns a search for a page with its markdown, fetched and not stored.
fn fetched_page(corpus: &Path, page: &Path) -> Request {
    let url = url_of(corpus, page);
    let query = format!("site:{}", url.trim_start_matches("http://"));
    let options = json!({ "formats": ["markdown"], "maxAge": 0, "storeInCache": false });
    let body = json!({ "query": query, "limit": 1, "scrapeOptions": options });
    Request::post("/v2/search", &body.to_string())
}

fn url_of(corpus: &Path, page: &Path) -> String {
    format!("http://docs.test/{}", page.strip_prefix(corpus).unwrap().to_str().unwrap())
}

/// Returns the pages whose size is nearest to [`PAGE_BYTES`].
fn pages_of_22_kb(corpus: &Path) -> Vec<PathBuf> {
    let mut files = html_files(corpus);
    files.sort_by_cached_key(|path| path.metadata().unwrap().len().abs_diff(PAGE_BYTES));
    files.truncate(FETCHED_PAGES);
    files
}

/// Returns the pages whose markdown size is nearest to `bytes`.
fn pages_of_markdown(corpus: &Path, bytes: usize) -> Vec<PathBuf> {
    let url = Url::parse("http://docs.test/").unwrap();
    let distance = |path: &PathBuf| {
        let html = std::fs::read(path).unwrap();
        let source = Source { bytes: &html, content_type: Some("text/html"), url: &url };
        let page = Document::parse(source).unwrap();
        page.content(&ContentOptions::default()).markdown().len().abs_diff(bytes)
    };
    let mut files = html_files(corpus);
    files.sort_by_cached_key(distance);
    files.truncate(CACHED_PAGES);
    files
}
