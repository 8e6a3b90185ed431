//! Debian's Python manual, pages that nobody here wrote: what a crawl gets is what their links reach.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde_json::json;
use url::Url;
use websvc_testkit::TestWeb;

use super::{bare, crawl, serve_with};
use crate::harness::{Site, skip};

const HOME: &str = "http://docs.test/index.html";

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_the_manual_gets_what_its_links_reach() {
    let Some(directory) = std::env::var_os("WEBSVC_CORPUS_DIR") else {
        return skip(
            "a_crawl_of_the_manual_gets_what_its_links_reach",
            "WEBSVC_CORPUS_DIR is not set (cargo xtask corpus)",
        );
    };
    let expected = reachable(Path::new(&directory));
    assert!(expected.len() > 400, "{} pages", expected.len());
    let world = TestWeb::builder().directory("docs.test", &directory).start().await;
    let site = Site::new(&world);
    let service = serve_with(&site, &[("WEBSVC__JOBS__PAUSE", "asked"), ("WEBSVC__JOBS__PER_HOST", "8")]);
    let documents = crawl(&service, json!({ "url": HOME, "sitemap": "skip", "scrapeOptions": bare() })).await;
    let got: BTreeSet<String> = documents.iter().map(|url| plain(&url.parse().unwrap())).collect();
    assert_eq!(got.len(), documents.len(), "each once");
    let missing: Vec<_> = expected.difference(&got).collect();
    let beside: Vec<_> = got.difference(&expected).collect();
    assert!(missing.is_empty() && beside.is_empty(), "missing: {missing:?}, beside: {beside:?}");
    // The site's own record: nothing was asked for twice, and nothing that is none of the pages.
    let mut asked: Vec<String> = world.requests().into_iter().map(|seen| seen.url).collect();
    asked.retain(|url| !url.ends_with("/robots.txt"));
    let distinct: BTreeSet<&String> = asked.iter().collect();
    assert_eq!(distinct.len(), asked.len());
    assert!(asked.iter().all(|url| expected.contains(&plain(&url.parse().unwrap()))));
}

/// Follows the links of the files without any of the service's code, breadth first, and returns what is reached.
fn reachable(root: &Path) -> BTreeSet<String> {
    let start: Url = HOME.parse().unwrap();
    let (mut met, mut waiting) = (BTreeSet::from([plain(&start)]), VecDeque::from([start]));
    while let Some(url) = waiting.pop_front() {
        let Ok(html) = std::fs::read_to_string(root.join(url.path().trim_start_matches('/'))) else {
            continue;
        };
        if !url.path().ends_with(".html") {
            continue;
        }
        for link in links(&html) {
            let Ok(to) = url.join(&link) else { continue };
            if to.host_str() == Some("docs.test") && is_text(&to) && met.insert(plain(&to)) {
                waiting.push_back(to);
            }
        }
    }
    met
}

/// Returns an address as the test compares it: without fragment, and a folder for its index.
fn plain(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    url.as_str().trim_end_matches("index.html").trim_end_matches('/').to_owned()
}

/// Returns whether the URL has no extension of an archive, image or program.
fn is_text(url: &Url) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_none_or(|(_, ending)| matches!(ending, "html" | "txt" | "py" | "csv" | "xml"))
}

/// Returns the links of a page that do not ask not to be followed.
fn links(html: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
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

/// Returns an attribute of a tag as the manual writes them: in double quotes.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let value = tag.split_once(&format!("{name}=\""))?.1;
    Some(value[..value.find('"')?].replace("&amp;", "&"))
}
