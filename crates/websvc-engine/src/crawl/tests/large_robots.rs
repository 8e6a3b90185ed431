//! Crawls of a host whose robots.txt is longer than the part that is read.

use std::fmt::Write;
use std::time::{Duration, Instant};

use url::Url;
use websvc_testkit::{Coding, Page, TestWeb};
use websvc_transport::TlsPolicy;

use super::super::robots::fetch_robots_txt;
use super::Site;

/// Returns a robots.txt of 600 KiB: rules, followed by paths of which one is cut by the size limit.
fn long_robots_txt() -> Page {
    let mut text = "User-agent: *\nDisallow: /private\n".to_owned();
    let mut number = 0_u32;
    while text.len() < 600 * 1024 {
        number += 1;
        writeln!(text, "Disallow: /old/{number:040}").unwrap();
    }
    Page::text(text)
}

async fn check(robots: Page) {
    let start =
        r#"<title>Start</title><p>Where it begins.</p><a href="/public">a</a><a href="/private/x">b</a>"#;
    let page = || Page::html("<title>One</title><p>It is here, and it can be read.</p>");
    let world = TestWeb::builder()
        .page("http://a.test/robots.txt", robots)
        .page("http://a.test/", Page::html(start))
        .page("http://a.test/public", page())
        .page("http://a.test/private/x", page());
    let site = Site::start(world).await;
    let crawled = site.crawl(|_| {}).await;
    assert_eq!(crawled.report.pages, 2, "{:?}", crawled.report);
    let paths = site.paths();
    assert!(paths.contains(&"/public".to_owned()), "{paths:?}");
    assert!(!paths.contains(&"/private/x".to_owned()), "{paths:?}");

    let url = |path: &str| Url::parse(&format!("http://a.test{path}")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let robots_txt = fetch_robots_txt(&site.scraper, &url("/"), "websvc", TlsPolicy::Verify, deadline).await;
    assert!(robots_txt.is_allowed(&url("/public")));
    assert!(!robots_txt.is_allowed(&url("/private/x")));
}

#[tokio::test]
async fn beginning_of_a_long_robots_txt_is_obeyed() {
    check(long_robots_txt()).await;
    check(long_robots_txt().encoded(Coding::Gzip)).await;
    check(long_robots_txt().encoded(Coding::Brotli)).await;
}
