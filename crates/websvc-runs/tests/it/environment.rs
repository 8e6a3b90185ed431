//! The tools of a run: their outputs, prices and limits.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;
use websvc_agent::{Environment, Event, Stop, ToolCall, ToolFailure, ToolKind, ToolOutput};
use websvc_testkit::{Canary, Page, TestWeb};
use websvc_types::{Location, ThreatProtection};
use websvc_validate::{Policy, ThreatPolicy};

use crate::support::{Fixture, Options, assert_refused, read, scrape};

fn result(url: &str) -> serde_json::Value {
    json!({ "url": url, "title": "Tea", "content": "About tea." })
}

#[tokio::test]
async fn search_map_and_scrape_have_the_prices_of_the_service() {
    let page = "<title>Teas</title><main><h1>Teas</h1><p>Sencha costs 5 euros, see <a href='/prices'>all prices</a>.</p></main>\
        <nav><a href='http://other.test/'>other</a></nav>";
    let web = TestWeb::builder()
        .page("http://shop.test/teas", Page::html(page))
        .page("http://shop.test/", Page::html("<a href='/teas'>Teas</a>"));
    let options = Options {
        results: vec![result("http://shop.test/teas"), result("ftp://x.test/")],
        ..Options::default()
    };
    let fixture = Fixture::with(web, options).await.unwrap();
    let run = fixture.run(|_| {});
    assert_eq!(run.tools(), [ToolKind::Search, ToolKind::Map, ToolKind::Scrape, ToolKind::Crawl]);
    assert_refused(&scrape(&run, "http://shop.test/teas").await, "a URL that is not known yet");
    let Ok(ToolOutput::Found(found)) = run.call(&ToolCall::Search { query: "tea".to_owned() }).await else {
        panic!("the search has results");
    };
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].url.as_str(), found[0].title.as_str()), ("http://shop.test/teas", "Tea"));
    assert_eq!(run.credits(), 2);
    let Ok(ToolOutput::Read { pages, failures, answer }) = scrape(&run, "http://shop.test/teas").await else {
        panic!("the page is read");
    };
    assert_eq!((failures.len(), answer.as_str(), pages[0].title.as_str()), (0, "", "Teas"));
    assert!(pages[0].markdown.contains("Sencha costs 5 euros"), "{}", pages[0].markdown);
    assert_eq!(
        (pages[0].links[0].text.as_str(), pages[0].links[0].url.as_str()),
        ("all prices", "http://shop.test/prices")
    );
    assert_eq!(run.credits(), 3);
    // The page is not fetched again, and costs nothing.
    read(&run, "http://shop.test/teas").await;
    assert_eq!((run.credits(), fixture.web.count("http://shop.test/teas")), (3, 1));
    let call = ToolCall::Map { url: "http://shop.test/".to_owned(), query: String::new() };
    let Ok(ToolOutput::Found(found)) = run.call(&call).await else { panic!("the map has URLs") };
    assert!(found.iter().any(|page| page.url == "http://shop.test/teas"), "{found:?}");
    assert_eq!(run.credits(), 4);
    run.begin_step().await.unwrap();
    let items = run.bill().items();
    let items: Vec<_> = items.iter().map(|item| (item.item.as_str(), item.credits)).collect();
    assert_eq!(items, [("results", 2), ("page", 1), ("map", 1), ("agent-step", 1)]);
}

#[tokio::test]
async fn pages_are_requested_in_the_languages_of_the_run() {
    let web =
        TestWeb::builder().page("http://a.test/", Page::html("<h1>Tee</h1><p>Sencha kostet 5 Euro.</p>"));
    let fixture = Fixture::new(web).await;
    let run = fixture.run(|setup| {
        setup.urls = vec!["http://a.test/".parse().unwrap()];
        let (country, languages) = (Some("CH".to_owned()), Some(vec!["rm".to_owned()]));
        setup.location = Some(Location { country, languages, city: None });
    });
    read(&run, "http://a.test/").await;
    let requests = fixture.web.requests();
    let page = requests.iter().find(|request| request.url == "http://a.test/").unwrap();
    let languages = page.headers["accept-language"].to_str().unwrap();
    assert!(languages.starts_with("rm"), "{languages}");
}

#[tokio::test]
async fn pages_have_what_the_main_content_leaves_out() {
    let card = |name: &str| {
        format!(
            "<div class=card><h3><a href='/{name}'>{name}</a></h3><p class=price>{name} costs 5 EUR</p></div>"
        )
    };
    let page = format!(
        "<title>Shop</title><nav><a href='/menu'>Menu</a></nav><div>{}{}</div><p><a href='?page=2'>Next page</a></p>",
        card("kettle"),
        card("teapot")
    );
    let fixture = Fixture::new(TestWeb::builder().page("http://shop.test/list", Page::html(page))).await;
    let run = fixture.run(|setup| setup.user_texts = vec!["shop.test".to_owned()]);
    let Ok(ToolOutput::Read { pages, .. }) = scrape(&run, "http://shop.test/list").await else {
        panic!("it is read")
    };
    for text in ["kettle costs 5 EUR", "teapot costs 5 EUR"] {
        assert!(pages[0].markdown.contains(text), "{}", pages[0].markdown);
    }
    assert!(!pages[0].markdown.contains("Menu"), "{}", pages[0].markdown);
    let links: Vec<_> = pages[0].links.iter().map(|link| (link.text.as_str(), link.url.as_str())).collect();
    for link in [("Next page", "http://shop.test/list?page=2"), ("Menu", "http://shop.test/menu")] {
        assert!(links.contains(&link), "{links:?}");
    }
}

#[tokio::test]
async fn redirected_and_failed_pages_are_reported() {
    let web = TestWeb::builder()
        .page("http://a.test/old", Page::redirect(301, "/new"))
        .page("http://a.test/new", Page::html("<p>the new page"));
    let fixture = Fixture::new(web).await;
    let run = fixture.run(|setup| setup.user_texts = vec!["a.test".to_owned()]);
    let Ok(ToolOutput::Read { pages, .. }) = scrape(&run, "http://a.test/old").await else {
        panic!("it is read")
    };
    assert_eq!(pages[0].url, "http://a.test/new");
    read(&run, "http://a.test/new").await;
    assert_eq!(fixture.web.count("http://a.test/new"), 1, "it is known by its final URL, too");
    let failed = scrape(&run, "http://a.test/missing").await;
    assert_eq!(failed, Err(ToolFailure::Failed("the page has status 404".to_owned())));
}

#[tokio::test]
async fn crawl_reads_pages_of_the_host_that_robots_txt_allows() {
    let links: String = (0..20).map(|number| format!("<a href='/p{number}'>p{number}</a> ")).collect();
    let start = format!(
        "<p>Start <a href='/secret'>x</a> <a href='http://other.test/'>x</a> <a href='/missing'>x</a> {links}"
    );
    let mut web = TestWeb::builder()
        .page("http://a.test/", Page::html(start))
        .page("http://a.test/robots.txt", Page::text("User-agent: *\nDisallow: /secret"));
    for number in 0..20 {
        web = web.page(&format!("http://a.test/p{number}"), Page::html(format!("<p>Page {number}")));
    }
    let fixture = Fixture::new(web).await;
    let run = fixture.run(|setup| setup.user_texts = vec!["http://a.test/".to_owned()]);
    let call = ToolCall::Crawl { url: "http://a.test/".to_owned(), max_pages: 1_000 };
    let Ok(ToolOutput::Read { pages, failures, .. }) = run.call(&call).await else { panic!("it is read") };
    assert_eq!(pages.len(), 10);
    assert_eq!(failures, [("http://a.test/missing".to_owned(), "the page has status 404".to_owned())]);
    assert_eq!((fixture.web.count("http://a.test/secret"), fixture.web.count("http://other.test/")), (0, 0));
    assert_eq!(run.credits(), 11);
    let run = fixture.run(|setup| {
        setup.user_texts = vec!["http://a.test/".to_owned()];
        setup.max_credits = 3;
    });
    let Ok(ToolOutput::Read { pages, .. }) = run.call(&call).await else { panic!("it is read") };
    assert_eq!((pages.len() <= 3, run.credits() <= 3), (true, true));
}

#[tokio::test]
async fn call_that_may_exceed_the_budget_is_not_made() {
    let web = TestWeb::builder()
        .page("http://a.test/1", Page::html("<p>one"))
        .page("http://a.test/2", Page::html("<p>two"));
    let fixture = Fixture::new(web).await;
    let run = fixture.run(|setup| {
        setup.user_texts = vec!["a.test".to_owned()];
        setup.max_credits = 3;
    });
    let stopped = |outcome: Result<ToolOutput, ToolFailure>| {
        assert_eq!(outcome, Err(ToolFailure::Stopped(Stop::CreditLimit)));
    };
    run.begin_step().await.unwrap();
    read(&run, "http://a.test/1").await;
    stopped(run.call(&ToolCall::Search { query: "tea".to_owned() }).await);
    run.begin_step().await.unwrap();
    stopped(scrape(&run, "http://a.test/2").await);
    assert_eq!(run.begin_step().await, Err(Stop::CreditLimit));
    // What the run has read remains available.
    read(&run, "http://a.test/1").await;
    assert_eq!((run.credits(), fixture.web.requests().len()), (3, 1));
}

#[tokio::test]
async fn cancelled_run_ends_its_call() {
    let web = TestWeb::builder().page("http://a.test/", Page::unresponsive());
    let fixture = Fixture::new(web).await;
    let (cancel, cancelled) = watch::channel(false);
    let run = fixture.run(|setup| {
        setup.user_texts = vec!["a.test".to_owned()];
        setup.cancelled = cancelled;
    });
    let (outcome, ()) = tokio::join!(scrape(&run, "http://a.test/"), async {
        fixture.web.wait_for_request("http://a.test/").await;
        cancel.send_replace(true);
    });
    assert_eq!(outcome, Err(ToolFailure::Stopped(Stop::Cancelled)));
    assert_eq!(run.begin_step().await, Err(Stop::Cancelled));
}

#[tokio::test]
async fn threat_protection_and_address_guard_apply() {
    let canary = Canary::start().await;
    let internal = format!("http://{}/", canary.addr());
    let page = format!(
        "<p><a href='http://listed.test/'>x</a> <a href='{internal}'>y</a> <a href='http://r.test/'>z</a>"
    );
    let web = TestWeb::builder()
        .page("http://a.test/", Page::html(page))
        .page("http://r.test/", Page::redirect(302, "http://listed.test/"));
    let options = Options { results: vec![result("http://listed.test/")], ..Options::default() };
    let fixture = Fixture::with(web, options).await.unwrap();
    let run = fixture.run(|setup| {
        let values = ThreatProtection {
            blacklist: Some(vec!["listed.test".to_owned()]),
            ..ThreatProtection::default()
        };
        setup.policy =
            Policy { threat: ThreatPolicy::On, threat_values: Arc::new(values), ..Policy::default() };
        setup.user_texts = vec!["a.test".to_owned()];
    });
    read(&run, "http://a.test/").await;
    for url in ["http://listed.test/", "http://r.test/", internal.as_str()] {
        assert_refused(&scrape(&run, url).await, url);
    }
    let found = run.call(&ToolCall::Search { query: "tea".to_owned() }).await;
    assert_eq!(found, Ok(ToolOutput::Found(Vec::new())));
    assert_eq!((fixture.web.count("http://listed.test/"), canary.connections()), (0, 0));
    assert_eq!(fixture.web.count("http://r.test/"), 1);
}

#[tokio::test]
async fn ranking_and_schema_check_are_those_of_the_engine() {
    let fixture = Fixture::new(TestWeb::builder()).await;
    let (sender, events) = std::sync::mpsc::channel();
    let run = fixture.run(|setup| {
        setup.on_event = Box::new(move |event| drop(sender.send(event)));
    });
    let ranked = run.rank("green tea", &["coffee", "tea that is green", "green tea"]).await;
    assert_eq!(ranked, [2, 1]);
    let schema = json!({ "type": "object", "required": ["price"] });
    assert_eq!(run.violation(&schema, &json!({ "price": 5 })).await, None);
    let violation = run.violation(&schema, &json!({})).await.unwrap();
    assert!(violation.contains("\"price\" is missing"), "{violation}");
    run.record(Event::Reasoning("why".to_owned()));
    assert_eq!(events.recv(), Ok(Event::Reasoning("why".to_owned())));
}
