//! Runs the official Python SDK against the program.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::harness::{KEY, Service, Site, skip, tea_world};

/// A user's script. Each step prints a line that the test compares.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import BadRequestError, UnauthorizedError

address, key = sys.argv[1], sys.argv[2]
app = Firecrawl(api_key=key, api_url=address)

plain = app.search("green tea water")
first = plain.web[0]
print("plain:", first.url, "|", first.title, "|", bool(first.description))

scraped = app.search("green tea water", scrape_options={"formats": ["markdown"]})
first = scraped.web[0]
print("scraped:", first.metadata.source_url, "|", first.metadata.title, "|", "# Green tea" in first.markdown)

both = app.search("tea", limit=1, sources=["web"], categories=None)
print("limited:", len(both.web))

try:
    Firecrawl(api_key="fc-wrong", api_url=address).search("tea")
    print("wrong key: accepted")
except UnauthorizedError as error:
    print("wrong key: UnauthorizedError", "Invalid token" in str(error))

try:
    app.search("x" * 501)
    print("over limit: accepted")
except BadRequestError as error:
    print("over limit: BadRequestError", "query" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_works_with_the_base_url() {
    let Some(python) = std::env::var_os("WEBSVC_TEST_PYTHON") else {
        return skip(
            "official_python_sdk_works_with_the_base_url",
            "WEBSVC_TEST_PYTHON is not set (cargo xtask test)",
        );
    };
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://tea.test/", "http://coffee.test/"]);
    let service = site.serve();
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 200);
    let expected = "plain: http://tea.test/green.html | Green tea | True\n\
                    scraped: http://tea.test/green.html | Green tea | True\n\
                    limited: 1\n\
                    wrong key: UnauthorizedError True\n\
                    over limit: BadRequestError True\n";
    check(&python, SCRIPT, &service, expected);
}

/// A script that watches a page. The SDK sends a `maxAge` of four hours with every scrape that has an option.
const WATCHING: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
for _ in range(2):
    formats = ["markdown", {"type": "changeTracking", "modes": ["git-diff"]}]
    changes = app.scrape("http://prices.test/", formats=formats).change_tracking
    print(changes["changeStatus"], changes["previousScrapeAt"] is None)
print([line for line in changes["diff"]["text"].splitlines()[3:] if line[0] in "+-"])
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_sees_changes_at_once() {
    let Some(python) = std::env::var_os("WEBSVC_TEST_PYTHON") else {
        return skip(
            "official_python_sdk_sees_changes_at_once",
            "WEBSVC_TEST_PYTHON is not set (cargo xtask test)",
        );
    };
    let visits = AtomicU32::new(0);
    let page = move |_: &_| {
        let price = visits.fetch_add(1, Ordering::Relaxed) + 1;
        Page::html(format!(
            "<title>Prices</title><main><h1>Prices</h1><p>Tea costs {price} euros.</p></main>"
        ))
    };
    let world = TestWeb::builder().page_with("http://prices.test/", page).start().await;
    let service = Service::for_world(&world);
    let expected = "new True\nchanged False\n['-Tea costs 1 euros.', '+Tea costs 2 euros.']\n";
    check(&python, WATCHING, &service, expected);
}

/// Runs a script, and compares its output.
pub(crate) fn check(python: &OsStr, script: &str, service: &Service, expected: &str) {
    let output = Command::new(python)
        .args(["-c", script, &service.address, KEY])
        .env_remove("FIRECRAWL_API_KEY")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
