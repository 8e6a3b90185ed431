//! Searches with one page: from the cache, and fetched each time beside a bare GET of the same page; and scrapes that are
//! kept, and that are not.

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
use crate::{CONNECTIONS, SPAN};

/// The number of pages that the cache answers.
const CACHED_PAGES: usize = 100;

/// The bytes of markdown of the pages that the cache answers.
const MARKDOWN_BYTES: usize = 20_000;

/// The number of pages that are fetched.
const FETCHED_PAGES: usize = 50;

/// The bytes of the pages that are fetched: those of the rivals' measurements.
const PAGE_BYTES: u64 = 22_000;

/// More than are scraped within the time of the row, so that none is asked for twice.
const STORED_PAGES: usize = 40_000;

/// Measures pages of about 20 KB of markdown from the cache, many in turn and with other words each time.
pub(crate) async fn cached(process: &Process, corpus: &Path, report: &mut Report) {
    let pages = pages_of_markdown(corpus, MARKDOWN_BYTES);
    let pairs = queries::pairs_of(&pages);
    let requests: Vec<_> = pairs.iter().map(|(page, words)| cached_page(corpus, page, words)).collect();
    // What is measured is the cache, so each page is asked for once before.
    let warm = Load::run(process, CONNECTIONS, SPAN, &requests).await;
    let load = Load::run(process, CONNECTIONS, SPAN, &requests).await;
    report.load("search with markdown of 1 of 100 pages of about 20 KB of markdown, cached", &load);
    report.figure("  the same per CPU second", 1e3 / load.cpu_ms(), "/s", "at least 2000");
    assert!(warm.failures + load.failures == 0, "every request is answered with 200");
}

/// Measures pages of about 22 kB, fetched each time.
pub(crate) async fn fetched(process: &Process, world: &TestWeb, corpus: &Path, report: &mut Report) {
    let pages = pages_of_22_kb(corpus);
    let requests: Vec<_> = pages.iter().map(|page| fetched_page(corpus, page)).collect();
    let many = Load::run(process, CONNECTIONS, SPAN, &requests).await;
    report.load("search with markdown of 1 of 50 pages of about 22 kB, fetched", &many);
    report.figure("CPU per search with 1 static scrape of 22 kB", many.cpu_ms(), "ms", "3.15");
    let bare = Process::plain_get(world.http_addr(), &url_of(corpus, &pages[0]), SPAN).await;
    let load = Load::run(process, 1, SPAN, &requests).await;
    let p50_ms = load.percentile(50).as_secs_f64() * 1e3;
    report.figure("GET of one of these pages by plain hyper, p50", bare.p50_ms, "ms", "");
    report.figure("  CPU", bare.cpu_ms, "ms", "");
    report.figure("search with one of these pages, one at a time, p50", p50_ms, "ms", "");
    report.figure("  more than the bare GET, p50", p50_ms - bare.p50_ms, "ms", "under 5");
    report.figure("  more than the bare GET, CPU", load.cpu_ms() - bare.cpu_ms, "ms", "under 3");
    assert!(many.failures + load.failures == 0, "every request is answered with 200");
}

/// Measures scrapes of pages of about 22 kB that keep nothing.
pub(crate) async fn unstored(process: &Process, corpus: &Path, report: &mut Report) {
    let requests: Vec<_> = new_urls(corpus, "unstored", STORED_PAGES)
        .map(|url| json!({ "url": url, "formats": ["markdown"], "maxAge": 0, "storeInCache": false }))
        .map(|body| Request::post("/v2/scrape", &body.to_string()))
        .collect();
    let load = Load::once(process, CONNECTIONS, SPAN, &requests).await;
    report.load("scrape of a page of about 22 kB, not stored", &load);
    report.figure("CPU per scrape of 22 kB, not stored", load.cpu_ms(), "ms", "1.0");
    assert!(load.failures == 0, "every request is answered with 200");
}

/// Measures scrapes of pages of about 22 kB, each under a URL that was not seen before, as they are by default: fetched,
/// extracted, cached and indexed. Commits and merges of the index while the load runs are part of it.
pub(crate) async fn stored(process: &Process, corpus: &Path, report: &mut Report) {
    let requests = new_pages(corpus, STORED_PAGES);
    let load = Load::once(process, CONNECTIONS, 3 * SPAN, &requests).await;
    report.load("scrape of a new page of about 22 kB, cached and indexed", &load);
    report.figure("CPU per stored scrape of 22 kB", load.cpu_ms(), "ms", "1.6");
    assert!(load.failures == 0, "every request is answered with 200");
}

/// Asks for pages of about 22 kB with their markdown, each under a URL of its own.
pub(crate) fn new_pages(corpus: &Path, count: usize) -> Vec<Request> {
    new_urls(corpus, "number", count)
        .map(|url| Request::post("/v2/scrape", &json!({ "url": url, "formats": ["markdown"] }).to_string()))
        .collect()
}

/// Returns URLs of pages of about 22 kB, made different by a parameter of this name.
pub(crate) fn new_urls(corpus: &Path, parameter: &str, count: usize) -> impl Iterator<Item = String> {
    let urls: Vec<String> = pages_of_22_kb(corpus).iter().map(|page| url_of(corpus, page)).collect();
    (0..count).map(move |number| format!("{}?{parameter}={number}", urls[number % urls.len()]))
}

/// Asks for one page of the cache with its markdown; `words` stand in it.
fn cached_page(corpus: &Path, page: &Path, words: &str) -> Request {
    let url = url_of(corpus, page);
    let query = format!("site:{} {words}", url.trim_start_matches("http://"));
    let body = json!({ "query": query, "limit": 1, "scrapeOptions": { "formats": ["markdown"] } });
    Request::post("/v2/search", &body.to_string())
}

/// Asks for one page with its markdown, fetched and not stored.
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

/// Returns the pages whose size is nearest to that of the rivals' measurements.
fn pages_of_22_kb(corpus: &Path) -> Vec<PathBuf> {
    let mut files = html_files(corpus);
    files.sort_by_cached_key(|path| path.metadata().unwrap().len().abs_diff(PAGE_BYTES));
    files.truncate(FETCHED_PAGES);
    files
}

/// Returns the pages whose markdown is nearest to so many bytes.
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
