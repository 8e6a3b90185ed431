//! Relevance of results over real pages: Debian's Python manual, crawled over HTTP and searched.

use serde_json::json;
use websvc_testkit::{TestWeb, is_proof};

use crate::harness::{Site, skip};

/// The pages that the gate crawls: the expected ones, and those whose names begin alike.
const GATE_PAGES: &str = "^/library/(index|asyncio-|con|csv|json|path|subprocess|re|sqlite|arg|d|threading|unittest|logging|\
    tempfile|zip|i|heapq|url)";

/// Queries, and the end of the URL of the page that a reader expects.
const QUERIES: &[(&str, &str)] = &[
    ("asyncio gather", "library/asyncio-task.html"),
    ("\"context manager\"", "library/contextlib.html"),
    ("csv reader delimiter", "library/csv.html"),
    ("json dumps indent", "library/json.html"),
    ("pathlib glob", "library/pathlib.html"),
    ("subprocess run timeout", "library/subprocess.html"),
    ("regular expression syntax", "library/re.html"),
    ("sqlite3 cursor execute", "library/sqlite3.html"),
    ("argparse add_argument", "library/argparse.html"),
    ("datetime strftime format codes", "library/datetime.html"),
    ("threading lock acquire", "library/threading.html"),
    ("unittest mock patch", "library/unittest.mock.html"),
    ("logging basicConfig", "library/logging.html"),
    ("tempfile NamedTemporaryFile", "library/tempfile.html"),
    ("zipfile extract archive", "library/zipfile.html"),
    ("itertools permutations combinations", "library/itertools.html"),
    ("how do I parse command line arguments", "library/argparse.html"),
    ("intitle:heapq priority queue", "library/heapq.html"),
    ("site:docs.test/library urllib request urlopen", "library/urllib.request.html"),
    ("dataclass field default_factory", "library/dataclasses.html"),
];

#[tokio::test(flavor = "multi_thread")]
async fn expected_page_is_among_the_first_three_results() {
    let Some(directory) = std::env::var_os("WEBSVC_CORPUS_DIR") else {
        return skip("WEBSVC_CORPUS_DIR is not set (cargo xtask corpus)");
    };
    let world = TestWeb::builder().directory("docs.test", &directory).start().await;
    let site = Site::new(&world);
    let pages = if is_proof() { "" } else { GATE_PAGES };
    let start = "http://docs.test/library/index.html";
    site.succeed(&["index", "crawl", start, "--per-host", "8", "--include", pages]);
    let service = site.serve();
    let mut failures = Vec::new();
    for (query, page) in QUERIES {
        let response = service.search(json!({"query": query, "limit": 3})).await;
        let results = response.body["data"]["web"].as_array().cloned().unwrap_or_default();
        let urls: Vec<&str> = results.iter().filter_map(|hit| hit["url"].as_str()).collect();
        if !urls.iter().any(|url| url.ends_with(page)) {
            failures.push(format!("{query}: {page} is not in {urls:?}"));
        }
        for hit in &results {
            assert!(!hit["title"].as_str().unwrap().is_empty(), "{query}: {hit}");
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
