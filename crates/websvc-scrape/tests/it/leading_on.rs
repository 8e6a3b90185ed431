//! Pages that lead on by themselves, and what goes along with them.

use serde_json::json;
use websvc_testkit::{Canary, Page, TestWeb};
use websvc_types::ErrorCode;

use crate::support::Bench;

fn leads_to(url: &str) -> Page {
    Page::html(format!("<head><meta http-equiv='refresh' content='0; url={url}'></head>"))
}

#[tokio::test]
async fn a_page_that_leads_on_is_gone_on_from_with_its_cookies() {
    let world = TestWeb::builder()
        .page("http://a.test/", leads_to("/check").header("set-cookie", "seen=1"))
        .page("http://a.test/check", Page::redirect(302, "/again"))
        .page("http://a.test/again", Page::html("").header("refresh", "1; url=http://b.test/end"))
        .page("http://b.test/end", Page::html("<p>The end.</p>"));
    let bench = Bench::new(world.start().await);
    let options = json!({ "headers": { "authorization": "Bearer secret", "x-own": "1" } });
    let page = bench.get("http://a.test/", options).await.unwrap();
    assert_eq!(page.markdown.as_deref(), Some("The end.\n"));
    assert_eq!(page.metadata.url.as_deref(), Some("http://b.test/end"));
    assert_eq!(page.metadata.source_url.as_deref(), Some("http://a.test/"));
    let requests = bench.world.requests();
    let sent = |name| requests.iter().map(|seen| seen.header(name)).collect::<Vec<_>>();
    assert_eq!(sent("cookie"), [None, Some("seen=1"), Some("seen=1"), None]);
    let token = Some("Bearer secret");
    assert_eq!(sent("authorization"), [token, token, token, None], "another origin gets nothing of it");
    assert_eq!(sent("x-own"), [Some("1"), Some("1"), Some("1"), None]);
}

#[tokio::test]
async fn pages_that_lead_on_forever_are_an_error() {
    let world =
        TestWeb::builder().page("http://a.test/", leads_to("/b")).page("http://a.test/b", leads_to("/"));
    let bench = Bench::new(world.start().await);
    let error = bench.get("http://a.test/", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ScrapeSiteError, "{error}");
    assert_eq!(bench.world.requests().len(), 6);
}

#[tokio::test]
async fn no_page_leads_on_to_a_forbidden_address() {
    let canary = Canary::start().await;
    let forbidden = format!("http://{}/", canary.addr());
    let world = TestWeb::builder()
        .page("http://a.test/meta", leads_to(&forbidden))
        .page("http://a.test/header", Page::html("").header("refresh", &format!("0; url={forbidden}")))
        .page("http://a.test/then", leads_to("/redirect"))
        .page("http://a.test/redirect", Page::redirect(307, &forbidden))
        .page("http://a.test/file", leads_to("file:///etc/hostname"));
    let bench = Bench::new(world.start().await);
    for page in ["meta", "header", "then"] {
        let error = bench.get(&format!("http://a.test/{page}"), json!({})).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ScrapeForbiddenUrl, "{page}: {error}");
    }
    let page = bench.get("http://a.test/file", json!({})).await.unwrap();
    assert_eq!(page.metadata.url.as_deref(), Some("http://a.test/file"));
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn a_crawl_takes_where_a_page_leads_as_a_link() {
    let bench = Bench::new(TestWeb::builder().page("http://a.test/", leads_to("/next")).start().await);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let (url, age) = ("http://a.test/".parse().unwrap(), std::time::Duration::ZERO);
    let survey = bench.scraper.scrape_for_crawl(&url, age, deadline).await.unwrap();
    assert_eq!(survey.links.iter().map(url::Url::as_str).collect::<Vec<_>>(), ["http://a.test/next"]);
    assert_eq!(bench.world.requests().len(), 1);
}
