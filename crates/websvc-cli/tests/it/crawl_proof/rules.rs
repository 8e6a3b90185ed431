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

const HOME: [&str; 8] = ["/", "/a", "/b?page=2", "/closed", "/c", "/d", "/blog/2024/one", "/blog/2024/two"];

/// Crawls with each of these options, and compares the documents. URLs of the site itself are given as paths.
async fn check(table: Vec<(Value, Vec<&str>)>) {
    let world = world().await;
    let service = Service::for_world(&world);
    for (options, expected) in table {
        world.clear_requests();
        let mut body =
            json!({ "url": "http://site.test/", "sitemap": "skip", "scrapeOptions": { "maxAge": 0 } });
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let documents = crawl(&service, body).await;
        let short = |url: &String| url.strip_prefix("http://site.test").unwrap_or(url).to_owned();
        let got: BTreeSet<String> = documents.iter().map(short).collect();
        assert_eq!(got.len(), documents.len(), "a document appears twice: {documents:?}");
        let expected = set(expected);
        assert_eq!(got, expected, "{options}");
        // No page outside the crawl was requested.
        for request in world.requests().iter().filter(|request| !request.url.ends_with("/robots.txt")) {
            let path = short(&request.url);
            // The canonical URL of a copy is known only after the copy was fetched, and the start is fetched for its
            // links.
            assert!(
                expected.contains(&path) || ["/", "/a?print=1"].contains(&&*path),
                "{options}: {path} was fetched"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn default_crawl_stays_on_the_host_and_other_hosts_are_crawled_when_allowed() {
    let sub = ["http://sub.site.test/", "http://sub.site.test/deep"];
    // The robots.txt of each host applies: it disallows /more.
    let others = ["http://other.test/", "http://third.test/"];
    check(vec![
        (json!({}), HOME.to_vec()),
        (json!({ "allowSubdomains": true }), [&HOME[..], &sub].concat()),
        (json!({ "allowExternalLinks": true }), [&HOME[..], &sub, &others].concat()),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_limit_depth_and_paths_and_change_url_identity() {
    let without_b = || HOME.into_iter().filter(|path| !path.contains("page=2"));
    let full = json!({ "includePaths": ["^http://site\\.test/(a|blog/.*/one)$"], "regexOnFullURL": true });
    check(vec![
        (json!({ "maxDiscoveryDepth": 0 }), vec!["/"]),
        (json!({ "maxDiscoveryDepth": 1 }), vec!["/", "/a", "/b?page=2", "/closed"]),
        (json!({ "excludePaths": ["page=2"] }), HOME.to_vec()),
        (json!({ "excludePaths": ["page=2"], "regexOnFullURL": true }), without_b().collect()),
        (json!({ "includePaths": ["^/(a|c)$"] }), vec!["/a", "/c"]),
        (full, vec!["/a", "/blog/2024/one"]),
        (json!({ "ignoreQueryParameters": true }), without_b().chain(["/b"]).collect()),
        (json!({ "deduplicateSimilarURLs": false }), [&HOME[..], &["/a?print=1"]].concat()),
    ])
    .await;
}
