//! The rules of which pages belong to a crawl, each over the program.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::{crawl, page, set};
use crate::harness::Service;

/// Makes a site with neighbours.
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

/// Crawls with these options, and compares the documents; those of the site itself by their paths.
async fn check(options: Value, expected: &[&str]) {
    let world = world().await;
    let service = Service::of(&world);
    let mut body = json!({ "url": "http://site.test/", "sitemap": "skip" });
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let documents = crawl(&service, body).await;
    let short = |url: &String| url.strip_prefix("http://site.test").unwrap_or(url).to_owned();
    let got: BTreeSet<String> = documents.iter().map(short).collect();
    assert_eq!(got.len(), documents.len(), "each once: {documents:?}");
    let expected = set(expected.iter().copied().filter(|path| !path.is_empty()));
    assert_eq!(got, expected, "{options}");
    // Nobody else was asked, for a page that is none of the crawl.
    for seen in world.requests().iter().filter(|seen| !seen.url.ends_with("/robots.txt")) {
        let path = short(&seen.url);
        // A copy is known as such when it is there.
        assert!(expected.contains(&path) || path == "/a?print=1", "{options}: {path} was fetched");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_its_host_and_copies_and_closed_pages_are_seen_for_what_they_are() {
    check(json!({}), &HOME).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subdomains_and_other_hosts_come_when_they_are_asked_for() {
    let sub = ["http://sub.site.test/", "http://sub.site.test/deep"];
    check(json!({ "allowSubdomains": true }), &[&HOME[..], &sub].concat()).await;
    // Each host is asked for its rules: /more is not allowed.
    let others = ["http://other.test/", "http://third.test/"];
    check(json!({ "allowExternalLinks": true }), &[&HOME[..], &sub, &others].concat()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_followed_as_far_as_is_said() {
    check(json!({ "maxDiscoveryDepth": 0 }), &["/"]).await;
    check(json!({ "maxDiscoveryDepth": 1 }), &["/", "/a", "/b?page=2", "/closed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn patterns_are_looked_for_in_the_path_or_in_the_whole_address() {
    let without_b: Vec<&str> = HOME.into_iter().filter(|path| !path.contains("page=2")).collect();
    check(json!({ "excludePaths": ["page=2"] }), &HOME).await;
    check(json!({ "excludePaths": ["page=2"], "regexOnFullURL": true }), &without_b).await;
    check(json!({ "includePaths": ["^/(a|c)$"] }), &["/", "/a", "/c"]).await;
    let full = json!({ "includePaths": ["^http://site\\.test/(a|blog/.*/one)$"], "regexOnFullURL": true });
    check(full, &["/", "/a", "/blog/2024/one"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_left_out_and_spellings_told_apart_when_that_is_wanted() {
    let bare: Vec<&str> =
        HOME.into_iter().map(|path| if path == "/b?page=2" { "/b" } else { path }).collect();
    check(json!({ "ignoreQueryParameters": true }), &bare).await;
    let exact = json!({ "deduplicateSimilarURLs": false });
    check(exact, &[&HOME[..], &["/a?print=1"]].concat()).await;
}
