//! Tests of personal pages, which are returned to their caller and stored nowhere.

use std::time::{Duration, Instant};

use serde_json::json;
use url::Url;
use websvc_scrape::CacheState;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::Fixture;

const SECRET: &str = "http://user:hunter2@a.test/own";

fn web() -> TestWebBuilder {
    let text = |words: &str| Page::html(format!("<main><h1>Own</h1><p>{words}</p></main>"));
    TestWeb::builder()
        .page_with("http://a.test/own", move |request| match request.header("authorization") {
            Some(_) => text("Words after the login."),
            None => text("Words for all visitors."),
        })
        .page("http://a.test/signs-in", Page::redirect(302, SECRET))
        .page("http://a.test/refreshes", Page::html("").header("refresh", &format!("0; url={SECRET}")))
        .page("http://a.test/link?token=1", Page::redirect(302, "/home").header("set-cookie", "session=1"))
        .page("http://a.test/home", text("Words of a session."))
        .page(
            "http://b.test/home",
            Page::redirect(301, "http://www.b.test/home").header("set-cookie", "a=1; Domain=b.test"),
        )
        .page("http://www.b.test/home", text("Words under another name."))
        .page(
            "http://a.test/list",
            Page::html(
                "<main><p>Some words and <a href='http://user:hunter2@c.test/'>a link</a>.</p></main>",
            ),
        )
}

#[tokio::test]
async fn page_fetched_with_credentials_of_a_url_is_not_stored() {
    let fixture = Fixture::new(web().start().await);
    for url in [SECRET, "http://a.test/signs-in", "http://a.test/refreshes"] {
        for round in 1..=2 {
            let page = fixture.scrape(url, json!({"formats": ["markdown", "links"]})).await.unwrap();
            assert!(page.markdown.as_deref().unwrap().contains("after the login"), "{url}");
            assert_eq!(page.cache_state, CacheState::Miss, "{url}, round {round}");
            assert!(page.index_copy.is_none(), "{url}");
            let metadata = serde_json::to_string(&page.metadata).unwrap();
            assert!(!metadata.contains("hunter2"), "{metadata}");
        }
    }
    // A crawl takes a refresh as a link, so that page is public for it.
    for url in [SECRET, "http://a.test/signs-in"] {
        assert!(crawl_page(&fixture, url).await.index_copy.is_none(), "{url}");
    }
    assert_eq!(fixture.store.cache_size().unwrap().pages, 0);
    let page = fixture.scrape("http://a.test/own", json!({})).await.unwrap();
    assert!(page.markdown.as_deref().unwrap().contains("for all visitors"));
    assert!(page.index_copy.is_some());
}

#[tokio::test]
async fn page_behind_a_sign_in_link_is_not_indexed_under_its_url() {
    let fixture = Fixture::new(web().start().await);
    let page = fixture.scrape("http://a.test/link?token=1", json!({})).await.unwrap();
    assert!(page.markdown.as_deref().unwrap().contains("of a session") && page.index_copy.is_none());
    // The cache serves the link itself, and has stored that cookies were sent.
    let cached = crawl_page(&fixture, "http://a.test/link?token=1").await;
    assert!(cached.from_cache && cached.index_copy.is_none());
    let moved = fixture.scrape("http://b.test/home", json!({})).await.unwrap();
    assert!(moved.index_copy.is_some(), "a redirect to another host identifies no user");
}

#[tokio::test]
async fn credentials_in_links_do_not_reach_the_index() {
    let fixture = Fixture::new(web().start().await);
    let copy = fixture.scrape("http://a.test/list", json!({})).await.unwrap().index_copy.unwrap();
    assert_eq!(copy.links[0].url, "http://c.test/");
}

async fn crawl_page(fixture: &Fixture, url: &str) -> websvc_scrape::CrawlPage {
    let deadline = Instant::now() + Duration::from_secs(20);
    let url: Url = url.parse().unwrap();
    fixture.scraper.scrape_for_crawl(&url, Duration::from_secs(3600), deadline).await.unwrap()
}
