//! Tests of maps over HTTP and of `websvc map`: responses of both versions, charges and errors.

use serde_json::{Value, json};
use websvc_store::{Store, TeamChange};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Service, Site};

async fn world() -> TestWeb {
    TestWeb::builder()
        .page("http://map.test/", Page::html("<title>Maps</title><a href='/green?x=1'>Green</a>"))
        .page("http://map.test/sitemap.xml", Page::sitemap(&["http://map.test/oolong", "http://other.test/"]))
        .start()
        .await
}

fn urls(links: &Value) -> Vec<&str> {
    links.as_array().unwrap().iter().map(|link| link["url"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn map_works_in_both_versions_and_costs_one_credit() {
    let world = world().await;
    let site = Site::new(&world);
    let store = Store::open(site.data_dir()).unwrap();
    store.set_team("default", &TeamChange { credits: Some(Some(2)), ..TeamChange::default() }).unwrap();
    let service = site.serve();
    let body = json!({ "url": "map.test", "includeSubdomains": false }).to_string();
    let response = service.post("/v2/map", body.clone()).await;
    assert_eq!(response.status, 200, "{}", response.body);
    assert_eq!(
        urls(&response.body["links"]),
        ["http://map.test/", "http://map.test/green", "http://map.test/oolong"]
    );
    assert_eq!(response.body["links"][1], json!({ "url": "http://map.test/green", "title": "Green" }));
    assert_eq!((&response.body["success"], &response.body["creditsUsed"]), (&json!(true), &json!(1)));
    assert!(response.body["id"].is_string() && response.body["warning"].is_null(), "{}", response.body);
    let first = service.post("/v1/map/", json!({ "url": "map.test", "sitemapOnly": true }).to_string()).await;
    assert_eq!(first.body, json!({ "success": true, "links": ["http://map.test/oolong"] }));
    let rejected = service.post("/v2/map", body).await;
    assert_eq!((rejected.status.as_u16(), &rejected.body["code"]), (402, &json!("INSUFFICIENT_CREDITS")));
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_maps_have_codes_and_cost_nothing() {
    let world = TestWeb::builder().page("http://slow.test/robots.txt", Page::unresponsive()).start().await;
    let site = Site::new(&world);
    let service = site.serve();
    for (body, status, code) in [
        (json!({ "url": "slow.test", "timeout": 1_000 }), 408, "MAP_TIMEOUT"),
        (json!({ "url": "http://169.254.169.254/" }), 403, "SCRAPE_FORBIDDEN_URL"),
        (json!({ "url": "map.test", "ignoreRobotsTxt": true }), 403, "FORBIDDEN"),
        (json!({ "limit": 0 }), 400, "BAD_REQUEST"),
    ] {
        let response = service.post("/v2/map", body.to_string()).await;
        assert_eq!(
            (response.status.as_u16(), &response.body["code"]),
            (status, &json!(code)),
            "{}",
            response.body
        );
        assert_eq!(response.body["success"], json!(false));
        if status == 408 {
            assert!(response.body["error"].as_str().unwrap().contains("timed out"), "{}", response.body);
        }
    }
    assert_eq!(used_credits(&service).await, 0);
}

async fn used_credits(service: &Service) -> u64 {
    let months = service.get("/v2/team/credit-usage/historical").await.body;
    months["periods"].as_array().unwrap().iter().map(|month| month["creditsUsed"].as_u64().unwrap()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn map_command_prints_urls_or_json() {
    let world = world().await;
    let site = Site::new(&world);
    let map = |options: &[&str]| {
        let arguments: Vec<&str> = ["map", "map.test"].iter().chain(options).copied().collect();
        site.succeed(&arguments)
    };
    assert_eq!(map(&["--search", "oolong", "--limit", "1"]), "http://map.test/oolong\n");
    let skipped: Value =
        serde_json::from_str(&map(&["--sitemap", "skip", "--keep-queries", "--json"])).unwrap();
    assert_eq!(urls(&skipped["links"]), ["http://map.test/", "http://map.test/green?x=1"]);
}
