//! Crawls Debian's Python manual, and compares the documents with the pages that its links reach.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde_json::json;
use url::Url;
use websvc_testkit::TestWeb;

use super::{crawl, minimal_options, serve_with};
use crate::harness::{Site, skip};

const HOME: &str = "http://docs.test/index.html";

#[tokio::test(flavor = "multi_thread")]
async fn crawl_of_the_python_manual_gets_every_reachable_page() {
    let Some(directory) = std::env::var_os("WEBSVC_CORPUS_DIR") else {
        return skip("WEBSVC_CORPUS_DIR is not set (cargo xtask corpus)");
    };
    let expected = reachable(Path::new(&directory));
    assert!(expected.len() > 400, "{} pages", expected.len());
    let world = TestWeb::builder().directory("docs.test", &directory).start().await;
    let site = Site::new(&world);
    let service =
        serve_with(&site, &[("WEBSVC__JOBS__PACE", "requested"), ("WEBSVC__JOBS__MAX_PER_HOST", "8")]);
    let documents =
        crawl(&service, json!({ "url": HOME, "sitemap": "skip", "scrapeOptions": minimal_options() })).await;
    let got: BTreeSet<String> = documents.iter().map(|url| comparable(&url.parse().unwrap())).collect();
    assert_eq!(got.len(), documents.len(), "a document appears twice");
    let missing: Vec<_> = expected.difference(&got).collect();
    let unexpected: Vec<_> = got.difference(&expected).collect();
    assert!(missing.is_empty() && unexpected.is_empty(), "missing: {missing:?}, unexpected: {unexpected:?}");
    // The site's record: every URL was requested once, and no other URL was requested.
    let mut requested: Vec<String> = world.requests().into_iter().map(|request| request.url).collect();
    requested.retain(|url| !url.ends_with("/robots.txt"));
    let distinct: BTreeSet<&String> = requested.iter().collect();
    assert_eq!(distinct.len(), requested.len());
    assert!(requested.iter().all(|url| expected.contains(&comparable(&url.parse().unwrap()))));
}

/// Follows the links of the files breadth first, without code of the service, and returns the reachable URLs.
fn reachable(root: &Path) -> BTreeSet<String> {
    let start: Url = HOME.parse().unwrap();
    let (mut seen, mut queue) = (BTreeSet::from([comparable(&start)]), VecDeque::from([start]));
    while let Some(url) = queue.pop_front() {
        let Ok(html) = std::fs::read_to_string(root.join(url.path().trim_start_matches('/'))) else {
            continue;
        };
        if !url.path().ends_with(".html") {
            continue;
        }
        for link in links(&html) {
            let Ok(to) = url.join(&link) else { continue };
            if to.host_str() == Some("docs.test") && is_text(&to) && seen.insert(comparable(&to)) {
                queue.push_back(to);
            }
        }
    }
    seen
}

/// Returns a URL in the form that the test compares: without a fragment and without `index.html`.
fn comparable(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.as_str().trim_end_matches("index.html").trim_end_matches('/').to_owned()
}

/// Returns whether the URL has no extension, or that of a text file.
fn is_text(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_none_or(|(_, extension)| matches!(extension, "html" | "txt" | "py" | "csv" | "xml"))
}

/// Returns the links of a page without `rel=nofollow`.
fn links(html: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let end = match rest {
            _ if rest.starts_with("<!--") => rest.find("-->"),
            _ if rest.starts_with("<script") => rest.find("</script>"),
            _ => None,
        };
        if let Some(end) = end {
            rest = &rest[end..];
            continue;
        }
        if let Some(tag) = rest.strip_prefix("<a ") {
            let tag = &tag[..tag.find('>').unwrap_or(tag.len())];
            let is_followed = attribute(tag, "rel").is_none_or(|rel| !rel.contains("nofollow"));
            links.extend(attribute(tag, "href").filter(|_| is_followed));
        }
        rest = &rest[1..];
    }
    links
}

/// Returns the value of an attribute in double quotes, as the manual writes attributes.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split_once(&format!("{name}=\""))?.1;
    Some(value[..value.find('"')?].replace("&amp;", "&"))
}
