//! Searches with one page: from the cache, and fetched each time beside a bare GET of the same page.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use url::Url;
use websvc_extract::{ContentOptions, Document, Source};
use websvc_testkit::World;

use crate::load::{Load, Request};
use crate::parts::html_files;
use crate::process::Process;
use crate::report::Report;
use crate::{CONNECTIONS, SPAN};

/// The bytes of markdown of the page that the cache answers.
const MARKDOWN_BYTES: usize = 20_000;

/// The bytes of the page that is fetched: that of the rivals' measurements.
const PAGE_BYTES: u64 = 22_000;

/// Measures a page of 20 KB of markdown, from the cache.
pub(crate) async fn cached(process: &Process, corpus: &Path, report: &mut Report) {
    let page = page_of_markdown(corpus, MARKDOWN_BYTES);
    let load = Load::run(process, CONNECTIONS, SPAN, &[one_page(corpus, &page, &json!({}))]).await;
    report.load("search with markdown of 1 page of 20 KB of markdown, cached", &load);
    report.figure("  the same per CPU second", 1e3 / load.cpu_ms(), "/s", "at least 2000");
    assert!(load.failures == 0, "every request is answered with 200");
}

/// Measures a page of 22 kB, fetched each time.
pub(crate) async fn fetched(process: &Process, world: &World, corpus: &Path, report: &mut Report) {
    let page = page_of_22_kb(corpus);
    let options = json!({ "maxAge": 0, "storeInCache": false });
    let requests = [one_page(corpus, &page, &options)];
    let many = Load::run(process, CONNECTIONS, SPAN, &requests).await;
    report.load("search with markdown of 1 page of 22 kB, fetched", &many);
    report.figure("CPU per search with 1 static scrape of 22 kB", many.cpu_ms(), "ms", "3.15");
    let bare = Process::plain_get(world.http_addr(), &url_of(corpus, &page), SPAN).await;
    let load = Load::run(process, 1, SPAN, &requests).await;
    let p50_ms = load.percentile(50).as_secs_f64() * 1e3;
    report.figure("GET of the same page by plain hyper, p50", bare.p50_ms, "ms", "");
    report.figure("  CPU", bare.cpu_ms, "ms", "");
    report.figure("search with that page, one at a time, p50", p50_ms, "ms", "");
    report.figure("  more than the bare GET, p50", p50_ms - bare.p50_ms, "ms", "under 5");
    report.figure("  more than the bare GET, CPU", load.cpu_ms() - bare.cpu_ms, "ms", "under 3");
    assert!(many.failures + load.failures == 0, "every request is answered with 200");
}

/// Asks for one page with its markdown.
fn one_page(corpus: &Path, page: &Path, options: &Value) -> Request {
    let mut options = options.clone();
    options["formats"] = json!(["markdown"]);
    let url = url_of(corpus, page);
    let query = format!("site:{}", url.trim_start_matches("http://"));
    let body = json!({ "query": query, "limit": 1, "scrapeOptions": options });
    Request::post("/v2/search", &body.to_string())
}

fn url_of(corpus: &Path, page: &Path) -> String {
    format!("http://docs.test/{}", page.strip_prefix(corpus).unwrap().to_str().unwrap())
}

/// Returns the page whose size is nearest to that of the rivals' measurements.
fn page_of_22_kb(corpus: &Path) -> PathBuf {
    let distance = |path: &PathBuf| path.metadata().unwrap().len().abs_diff(PAGE_BYTES);
    html_files(corpus).into_iter().min_by_key(distance).unwrap()
}

/// Returns the page whose markdown has about so many bytes.
fn page_of_markdown(corpus: &Path, bytes: usize) -> PathBuf {
    let url = Url::parse("http://docs.test/").unwrap();
    let distance = |path: &PathBuf| {
        let html = std::fs::read(path).unwrap();
        let source = Source { bytes: &html, content_type: Some("text/html"), url: &url };
        let page = Document::parse(source).unwrap();
        page.content(&ContentOptions::default()).markdown().len().abs_diff(bytes)
    };
    html_files(corpus).into_iter().min_by_key(distance).unwrap()
}
