//! Tests that acknowledged uploads and scraped pages are searchable after the service is killed.

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site, wait};

const ROUNDS: usize = 10;

/// Kills a service and starts it again with the same data directory.
fn restart(site: &Site, service: Service) -> Service {
    service.kill();
    drop(service);
    site.serve()
}

/// Returns whether a search finds a page.
async fn finds(service: &Service, word: &str, url: &str) -> bool {
    let response = service.search(json!({ "query": word })).await;
    assert_eq!(response.status, 200, "{}", response.body);
    let found = response.body["data"]["web"].as_array().map(Vec::as_slice).unwrap_or_default();
    found.iter().any(|result| result["url"] == *url)
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_upload_survives_a_kill() {
    let site = Site::new(&TestWeb::builder().start().await);
    let mut service = site.serve();
    for round in 0..ROUNDS {
        let url = format!("http://upload.test/{round}");
        let document = json!({ "url": url, "title": "Upload", "body": format!("word{round} of an upload") });
        let body = json!({ "documents": [document] }).to_string();
        let response = service.post("/v2/index/documents", body).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["accepted"]),
            (200, &json!(1)),
            "{}",
            response.body
        );
        service = restart(&site, service);
        for earlier in 0..=round {
            let url = format!("http://upload.test/{earlier}");
            assert!(finds(&service, &format!("word{earlier}"), &url).await, "round {round}: {url} is lost");
        }
    }
    let stats = service.get("/v2/index/stats").await;
    assert_eq!(stats.body["documents"], json!(ROUNDS), "{}", stats.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn scraped_page_is_searchable_and_cached_after_a_kill() {
    let url = |round: usize| format!("http://scraped.test/{round}");
    let page = |round: usize| {
        Page::html(format!(
            "<title>Page {round}</title><main><h1>Page</h1><p>A page about word{round}.</p></main>"
        ))
    };
    let world = (0..ROUNDS).fold(TestWeb::builder(), |world, round| world.page(&url(round), page(round)));
    let world = world.start().await;
    let site = Site::new(&world);
    let mut service = site.serve();
    for round in 0..ROUNDS {
        let response = service.post("/v2/scrape", json!({ "url": url(round) }).to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        service = restart(&site, service);
        assert!(finds(&service, &format!("word{round}"), &url(round)).await, "round {round} is lost");
    }
    for round in 0..ROUNDS {
        assert_eq!(world.count(&url(round)), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_command_leaves_the_journal_to_the_next_writer() {
    let site = Site::new(&TestWeb::builder().start().await);
    let service = site.serve();
    let document = json!({ "url": "http://upload.test/", "title": "Upload", "body": "quince" });
    let response = service.post("/v2/index/documents", json!({ "documents": [document] }).to_string()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    service.kill();
    drop(service);
    site.succeed(&["index", "stats", "--json"]);
    let results: Value = serde_json::from_str(&site.succeed(&["search", "quince", "--json"])).unwrap();
    assert!(results.to_string().contains("http://upload.test/"), "{results}");
    let mut deletion = site.command(&["index", "delete", "--url", "http://upload.test/"]).spawn().unwrap();
    assert!(wait(&mut deletion).success());
    assert!(!finds(&site.serve(), "quince", "http://upload.test/").await, "the deleted page is found");
}
