//! Runs the official Python SDK against the program.

use std::process::Command;

use serde_json::json;

use crate::harness::{KEY, Site, skip, tea_world};

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
    let output = Command::new(python)
        .args(["-c", SCRIPT, &service.address, KEY])
        .env_remove("FIRECRAWL_API_KEY")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let expected = "plain: http://tea.test/green.html | Green tea | True\n\
                    scraped: http://tea.test/green.html | Green tea | True\n\
                    limited: 1\n\
                    wrong key: UnauthorizedError True\n\
                    over limit: BadRequestError True\n";
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
