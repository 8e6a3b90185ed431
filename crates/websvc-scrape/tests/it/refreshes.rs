//! Tests of refreshes: which are followed, and which headers and cookies are sent.

use serde_json::json;
use websvc_testkit::{Canary, Page, TestWeb};
use websvc_types::ErrorCode;

use crate::support::Fixture;

fn refresh_to(url: &str) -> Page {
    Page::html(format!("<head><meta http-equiv='refresh' content='0; url={url}'></head>"))
}

#[tokio::test]
async fn refresh_is_followed_with_cookies_and_headers_of_its_origin() {
    let web = TestWeb::builder()
        .page("http://a.test/", refresh_to("/check").header("set-cookie", "seen=1"))
        .page("http://a.test/check", Page::redirect(302, "/again"))
        .page("http://a.test/again", Page::html("").header("refresh", "1; url=http://b.test/end"))
        .page("http://b.test/end", Page::html("<p>The end.</p>"));
    let fixture = Fixture::new(web.start().await);
    let options = json!({ "headers": { "authorization": "Bearer secret", "x-own": "1" } });
    let page = fixture.scrape("http://a.test/", options).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("The end.\n"));
    assert_eq!(page.metadata.url.as_deref(), Some("http://b.test/end"));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/"));
    let requests = fixture.web.requests();
    let sent = |name| requests.iter().map(|request| request.header(name)).collect::<Vec<_>>();
    assert_eq!(sent("cookie"), [None, Some("seen=1"), Some("seen=1"), None]);
    let token = Some("Bearer secret");
    assert_eq!(
        sent("authorization"),
        [token, token, token, None],
        "the header is not sent to another origin"
    );
    assert_eq!(sent("x-own"), [Some("1"), Some("1"), Some("1"), None]);
}

#[tokio::test]
async fn endless_refreshes_are_an_error() {
    let web =
        TestWeb::builder().page("http://a.test/", refresh_to("/b")).page("http://a.test/b", refresh_to("/"));
    let fixture = Fixture::new(web.start().await);
    let error = fixture.scrape("http://a.test/", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSiteError, "{error}");
    assert_eq!(fixture.web.requests().len(), 6);
}

#[tokio::test]
async fn refresh_to_a_forbidden_address_is_not_followed() {
    let canary = Canary::start().await;
    let forbidden = format!("http://{}/", canary.addr());
    let web = TestWeb::builder()
        .page("http://a.test/meta", refresh_to(&forbidden))
        .page("http://a.test/header", Page::html("").header("refresh", &format!("0; url={forbidden}")))
        .page("http://a.test/then", refresh_to("/redirect"))
        .page("http://a.test/redirect", Page::redirect(307, &forbidden))
        .page("http://a.test/file", refresh_to("file:///etc/hostname"));
    let fixture = Fixture::new(web.start().await);
    for page in ["meta", "header", "then"] {
        let url = format!("http://a.test/{page}");
        let page = fixture.scrape(&url, json!({})).await.unwrap();
        assert_eq!(page.metadata.url.as_deref(), Some(url.as_str()), "the page stays as it is");
        let host = if url.ends_with("then") { "a.test" } else { "127.0.0.1" };
        let warning = format!("a refresh of the page to {host} was blocked");
        assert!(page.warnings.contains(&warning), "{:?}", page.warnings);
    }
    // The page itself is forbidden.
    let error = fixture.scrape("http://a.test/redirect", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeForbiddenUrl, "{error}");
    let page = fixture.scrape("http://a.test/file", json!({})).await.unwrap();
    assert_eq!(page.metadata.url.as_deref(), Some("http://a.test/file"));
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn crawl_takes_the_target_of_a_refresh_as_a_link() {
    let fixture = Fixture::new(TestWeb::builder().page("http://a.test/", refresh_to("/next")).start().await);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let (url, age) = ("http://a.test/".parse().unwrap(), std::time::Duration::ZERO);
    let crawl_page = fixture.scraper.scrape_for_crawl(&url, age, deadline).await.unwrap();
    assert_eq!(crawl_page.links.iter().map(url::Url::as_str).collect::<Vec<_>>(), ["http://a.test/next"]);
    assert_eq!(fixture.web.requests().len(), 1);
}
