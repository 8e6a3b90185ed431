//! Pages that are for their caller alone: they are answered, and stored nowhere.

use std::time::{Duration, Instant};

use serde_json::json;
use url::Url;
use websvc_scrape::CacheState;
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::support::Bench;

const SECRET: &str = "http://user:hunter2@a.test/own";

fn world() -> TestWebBuilder {
    let text = |words: &str| Page::html(format!("<main><h1>Own</h1><p>{words}</p></main>"));
    TestWeb::builder()
        .page_with("http://a.test/own", move |seen| match seen.header("authorization") {
            Some(_) => text("Words after the login."),
            None => text("Words for everybody."),
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
async fn a_page_got_with_credentials_of_a_url_is_kept_nowhere() {
    let bench = Bench::new(world().start().await);
    for url in [SECRET, "http://a.test/signs-in", "http://a.test/refreshes"] {
        for round in 1..=2 {
            let page = bench.get(url, json!({"formats": ["markdown", "links"]})).await.unwrap();
            assert!(page.markdown.as_deref().unwrap().contains("after the login"), "{url}");
            assert_eq!(page.cache_state, CacheState::Miss, "{url}, round {round}");
            assert!(page.index_copy.is_none(), "{url}");
            let metadata = serde_json::to_string(&page.metadata).unwrap();
            assert!(!metadata.contains("hunter2"), "{metadata}");
        }
    }
    // A crawl takes a refresh as a link: what it sees of that page is public.
    for url in [SECRET, "http://a.test/signs-in"] {
        assert!(survey(&bench, url).await.index_copy.is_none(), "{url}");
    }
    assert_eq!(bench.store.cache_size().unwrap().pages, 0);
    let page = bench.get("http://a.test/own", json!({})).await.unwrap();
    assert!(page.markdown.as_deref().unwrap().contains("for everybody"));
    assert!(page.index_copy.is_some());
}

#[tokio::test]
async fn a_page_behind_a_link_that_signs_in_is_not_found_under_its_address() {
    let bench = Bench::new(world().start().await);
    let page = bench.get("http://a.test/link?token=1", json!({})).await.unwrap();
    assert!(page.markdown.as_deref().unwrap().contains("of a session") && page.index_copy.is_none());
    // The cache answers the link itself, and does not forget how it came to its page.
    let survey_of_cached = survey(&bench, "http://a.test/link?token=1").await;
    assert!(survey_of_cached.from_cache && survey_of_cached.index_copy.is_none());
    let moved = bench.get("http://b.test/home", json!({})).await.unwrap();
    assert!(moved.index_copy.is_some(), "another host tells nothing of who asks");
}

#[tokio::test]
async fn credentials_in_links_do_not_reach_the_index() {
    let bench = Bench::new(world().start().await);
    let copy = bench.get("http://a.test/list", json!({})).await.unwrap().index_copy.unwrap();
    assert_eq!(copy.links[0].url, "http://c.test/");
}

async fn survey(bench: &Bench, url: &str) -> websvc_scrape::CrawlPage {
    let deadline = Instant::now() + Duration::from_secs(20);
    let url: Url = url.parse().unwrap();
    bench.scraper.scrape_for_crawl(&url, Duration::from_secs(3600), deadline).await.unwrap()
}
