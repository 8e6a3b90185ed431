//! Tests that requests end at their deadline when hosts are slow and pages take long to parse.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site};

/// Tolerance after a deadline.
const GRACE: Duration = Duration::from_millis(500);

/// The timeout of the requests, much longer than the response time of a busy machine.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Scrapes the page of a word, checks that the response arrives in time, and returns the error of the result.
async fn scrape_in_time(service: &Service, word: &str, options: &Value) -> Value {
    let mut scrape = json!({"formats": ["markdown", "html", "links"], "maxAge": 0, "storeInCache": false});
    scrape.as_object_mut().unwrap().extend(options.as_object().cloned().unwrap());
    let timeout = u64::try_from(TIMEOUT.as_millis()).unwrap();
    let search = json!({"query": word, "limit": 1, "timeout": timeout, "scrapeOptions": scrape});
    let response = service.search(search).await;
    assert!(response.elapsed < TIMEOUT + GRACE, "{word}: {:?}", response.elapsed);
    assert_eq!(response.status, 200, "{word}: {}", response.body);
    response.body["data"]["web"][0]["metadata"]["error"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn deadline_holds_for_slow_hosts() {
    // Accepts connections and sends nothing.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slowly = Page::html("<p>tea".repeat(1_000)).slow(1, Duration::from_millis(100));
    let world = TestWeb::builder()
        .page("http://slow.test/body", slowly)
        .page("http://slow.test/head", Page::unresponsive())
        .page("http://slow.test/late", Page::html("<p>late").delay(Duration::from_secs(60)))
        .page("http://slow.test/round", Page::redirect(302, "/head"))
        .page("http://slow.test/onward", Page::html("<meta http-equiv=refresh content='0;url=/head'>"))
        .start()
        .await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    let mute = mute.local_addr().unwrap();
    let rules = format!(
        "{{ \"*:80\" = \"{}\", \"tls.test:443\" = \"{mute}\", \"mute.test:80\" = \"{mute}\" }}",
        world.http_addr()
    );
    command.env("WEBSVC__FETCH__CONNECT_TO", rules);
    let service = Service::start(&mut command);
    let pages = [
        ("body", "http://slow.test/body"),
        ("head", "http://slow.test/head"),
        ("late", "http://slow.test/late"),
        ("round", "http://slow.test/round"),
        ("onward", "http://slow.test/onward"),
        ("handshake", "https://tls.test/"),
        ("mute", "http://mute.test/"),
    ];
    service.index_pages(&pages).await;
    for (word, _) in pages {
        let error = scrape_in_time(&service, word, &json!({})).await;
        assert!(error.as_str().unwrap_or_default().starts_with("SCRAPE_TIMEOUT"), "{word}: {error}");
    }
}

/// The response arrives in time, no matter whether a page is parsed completely or abandoned.
#[tokio::test(flavor = "multi_thread")]
async fn deadline_holds_for_pages_that_are_slow_to_parse() {
    let formatting: String = (0..5_000).map(|number| format!("<b id={number}>")).collect();
    let pages = [
        ("siblings", "<p>x".repeat(1_000_000)),
        ("tables", "<table><tr><td>".repeat(200_000)),
        ("unclosed", format!("{formatting}{}", "<p>x".repeat(300_000))),
        ("misnested", "<a><b><i><u><s>x</a></b></i></u>".repeat(100_000)),
        ("selected", "<div class=a><p class=b>x</p></div>".repeat(100_000)),
    ];
    let mut world = TestWeb::builder();
    for (name, page) in &pages {
        world = world.page(&format!("http://heavy.test/{name}"), Page::html(page.clone()));
    }
    let world = world.page("http://heavy.test/small", Page::html("<p>small")).start().await;
    let service = Service::for_world(&world);
    let urls: Vec<String> = pages.iter().map(|(name, _)| format!("http://heavy.test/{name}")).collect();
    let names = pages.iter().map(|(name, _)| *name);
    let mut pages_to_index: Vec<(&str, &str)> = names.zip(urls.iter().map(String::as_str)).collect();
    pages_to_index.push(("small", "http://heavy.test/small"));
    service.index_pages(&pages_to_index).await;
    let selectors = json!({
        "includeTags": ["div.a > p.b", "p:nth-last-child(2n+1)", "div ~ div p"],
        "excludeTags": ["div:not(.a) p", "p:nth-of-type(7)"],
    });
    for (word, _) in &pages {
        let plain = json!({});
        scrape_in_time(&service, word, if *word == "selected" { &selectors } else { &plain }).await;
        // An abandoned page frees its capacity for other pages.
        let error = scrape_in_time(&service, "small", &json!({})).await;
        assert_eq!(error, Value::Null, "after {word}");
    }
}
