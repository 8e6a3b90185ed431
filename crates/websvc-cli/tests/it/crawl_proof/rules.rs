//! Tests of the options that select the pages of a crawl.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::{crawl, page, set};
use crate::harness::Service;

/// Starts a site, its subdomain and two other hosts.
async fn world() -> TestWeb {
    let canonical = "<title>Print</title><link rel=canonical href=/a><main><h1>A</h1><p>About A.</p></main>";
    let closed = "<title>Closed</title><meta name=robots content=nofollow><main><p>Closed.</p><a href=/behind>x</a></main>";
    TestWeb::builder()
        .page(
            "http://site.test/",
            page(
                "Start",
                &["/a", "/a?print=1", "/b?page=2", "/closed", "http://sub.site.test/", "http://other.test/"],
            ),
        )
        .page("http://site.test/a", page("A", &["/c", "/blog/2024/one", "/blog/2024/two"]))
        .page("http://site.test/a?print=1", Page::html(canonical))
        .page("http://site.test/b", page("B", &[]))
        .page("http://site.test/b?page=2", page("B 2", &[]))
        .page("http://site.test/closed", Page::html(closed))
        .page("http://site.test/behind", page("Behind", &[]))
        .page("http://site.test/c", page("C", &["/d"]))
        .page("http://site.test/d", page("D", &[]))
        .page("http://site.test/blog/2024/one", page("One", &[]))
        .page("http://site.test/blog/2024/two", page("Two", &[]))
        .page("http://sub.site.test/", page("Sub", &["/deep", "http://site.test/a"]))
        .page("http://sub.site.test/deep", page("Deep", &[]))
        .page("http://other.test/", page("Other", &["/more", "http://third.test/"]))
        .page("http://other.test/more", page("More", &[]))
        .page("http://other.test/robots.txt", Page::text("User-agent: *\nDisallow: /more\n"))
        .page("http://third.test/", page("Third", &[]))
        .start()
        .await
}

const HOME: [&str; 9] =
    ["/", "/a", "/b?page=2", "/closed", "/c", "/d", "/blog/2024/one", "/blog/2024/two", ""];

/// Crawls with `options`, and compares the documents. URLs of the site itself are given as paths.
async fn check(options: Value, expected: &[&str]) {
    let world = world().await;
    let service = Service::for_world(&world);
    let mut body = json!({ "url": "http://site.test/", "sitemap": "skip" });
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let documents = crawl(&service, body).await;
    let short = |url: &String| url.strip_prefix("http://site.test").unwrap_or(url).to_owned();
    let got: BTreeSet<String> = documents.iter().map(short).collect();
    assert_eq!(got.len(), documents.len(), "a document appears twice: {documents:?}");
    let expected = set(expected.iter().copied().filter(|path| !path.is_empty()));
    assert_eq!(got, expected, "{options}");
    // No page outside the crawl was requested.
    for request in world.requests().iter().filter(|request| !request.url.ends_with("/robots.txt")) {
        let path = short(&request.url);
        // The canonical URL of a copy is known only after the copy was fetched, and the start is fetched for its links.
        assert!(
            expected.contains(&path) || ["/", "/a?print=1"].contains(&&*path),
            "{options}: {path} was fetched"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn default_crawl_stays_on_the_host_and_honours_canonical_and_nofollow() {
    check(json!({}), &HOME).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subdomains_and_external_links_are_followed_when_allowed() {
    let sub = ["http://sub.site.test/", "http://sub.site.test/deep"];
    check(json!({ "allowSubdomains": true }), &[&HOME[..], &sub].concat()).await;
    // The robots.txt of each host applies: it disallows /more.
    let others = ["http://other.test/", "http://third.test/"];
    check(json!({ "allowExternalLinks": true }), &[&HOME[..], &sub, &others].concat()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn max_discovery_depth_limits_followed_links() {
    check(json!({ "maxDiscoveryDepth": 0 }), &["/"]).await;
    check(json!({ "maxDiscoveryDepth": 1 }), &["/", "/a", "/b?page=2", "/closed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn path_patterns_match_the_path_or_the_full_url() {
    let without_b: Vec<&str> = HOME.into_iter().filter(|path| !path.contains("page=2")).collect();
    check(json!({ "excludePaths": ["page=2"] }), &HOME).await;
    check(json!({ "excludePaths": ["page=2"], "regexOnFullURL": true }), &without_b).await;
    check(json!({ "includePaths": ["^/(a|c)$"] }), &["/a", "/c"]).await;
    let full = json!({ "includePaths": ["^http://site\\.test/(a|blog/.*/one)$"], "regexOnFullURL": true });
    check(full, &["/a", "/blog/2024/one"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn query_and_deduplication_options_change_url_identity() {
    let without_query: Vec<&str> =
        HOME.into_iter().map(|path| if path == "/b?page=2" { "/b" } else { path }).collect();
    check(json!({ "ignoreQueryParameters": true }), &without_query).await;
    let exact = json!({ "deduplicateSimilarURLs": false });
    check(exact, &[&HOME[..], &["/a?print=1"]].concat()).await;
}
