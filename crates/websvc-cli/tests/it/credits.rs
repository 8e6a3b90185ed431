//! Tests of credits over HTTP: rejected requests, charges and usage reports.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_store::{Retention, Store, TeamChange, ThreatPolicy};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Response, Service, Site, assert_fields, tea_world};

const GREEN: &str = "http://tea.test/green.html";

/// Credits of the searches that wait for the indexed page: only the last one, which finds it, is charged.
const SETUP_CREDITS: u64 = 2;

/// Sets the budget of a team; `None` removes it.
fn set_credits(site: &Site, team: &str, credits: Option<u64>) {
    let store = Store::open(site.data_dir()).unwrap();
    store.set_team(team, &TeamChange { credits: Some(credits), ..TeamChange::default() }).unwrap();
}

async fn remaining(service: &Service) -> u64 {
    let usage = service.get("/v2/team/credit-usage").await;
    assert_eq!(usage.status, 200, "{}", usage.body);
    usage.body["data"]["remainingCredits"].as_u64().unwrap()
}

#[track_caller]
fn assert_insufficient_credits(response: &Response, text: &str) {
    assert_eq!(response.status, 402, "{}", response.body);
    assert_eq!(response.body["code"], json!("INSUFFICIENT_CREDITS"));
    assert_eq!((&response.body["success"], &response.body["details"]), (&json!(false), &Value::Null));
    let error = response.body["error"].as_str().unwrap();
    assert!(error.starts_with("Insufficient credits") && error.contains(text), "{error}");
}

fn scraping(limit: u32) -> Value {
    json!({"query": "listed", "limit": limit, "scrapeOptions": {"formats": ["markdown"]}})
}

/// Starts a service in which a search for `listed` finds one page. The setup has cost [`SETUP_CREDITS`].
async fn serve_with_page(world: &TestWeb, credits: Option<u64>) -> (Site, Service) {
    let site = Site::new(world);
    set_credits(&site, "default", credits);
    let service = site.serve();
    service.index_pages(&[("listed", GREEN)]).await;
    (site, service)
}

#[tokio::test(flavor = "multi_thread")]
async fn exhausted_budget_rejects_requests() {
    let world = tea_world().await;
    let (site, service) = serve_with_page(&world, Some(SETUP_CREDITS + 10)).await;
    assert_insufficient_credits(
        &service.search(scraping(10)).await,
        "up to 12 credits, and the team has 10 left",
    );
    let response = service.search(scraping(5)).await;
    assert_eq!(
        (&response.body["creditsUsed"], remaining(&service).await),
        (&json!(3), 7),
        "{}",
        response.body
    );
    assert_eq!(response.body["data"]["web"][0]["metadata"]["creditsUsed"], json!(1));
    let empty = service.search(json!({"query": "unlisted"})).await;
    assert_eq!((&empty.body["creditsUsed"], remaining(&service).await), (&json!(0), 7));
    let invalid = service.search(json!({"query": "listed", "limit": 0})).await;
    assert_eq!((invalid.status.as_u16(), remaining(&service).await), (400, 7));
    for expected in [5, 3, 1] {
        assert_eq!(service.search(json!({"query": "listed"})).await.body["creditsUsed"], json!(2));
        assert_eq!(remaining(&service).await, expected);
    }
    assert_insufficient_credits(
        &service.search(json!({"query": "listed"})).await,
        "up to 2 credits, and the team has 1 left",
    );
    set_credits(&site, "default", None);
    let changed = Instant::now();
    while service.search(json!({"query": "listed"})).await.status != 200 {
        assert!(
            changed.elapsed() < Duration::from_secs(1),
            "the changed budget was not applied within a second"
        );
    }
    assert_eq!(remaining(&service).await, 2_147_483_647);
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_keeps_charges_and_releases_reservations() {
    let world = TestWeb::builder()
        .page(GREEN, Page::html("<title>Green</title><p>listed").delay(Duration::from_secs(60)))
        .start()
        .await;
    let (site, service) = serve_with_page(&world, Some(SETUP_CREDITS + 100)).await;
    for _ in 0..3 {
        assert_eq!(service.search(json!({"query": "listed"})).await.body["creditsUsed"], json!(2));
    }
    // The charges may not be in the database yet, and one request is in flight.
    let slow_search = scraping(10);
    tokio::select! {
        response = service.search(slow_search) => panic!("{}", response.body),
        () = wait_for_request_in_flight(&service) => {}
    }
    service.kill();
    drop(service);
    let service = site.serve();
    assert_eq!(remaining(&service).await, 94);
    let response = service.search(json!({"query": "listed", "limit": 100})).await;
    assert_eq!((response.status.as_u16(), remaining(&service).await), (200, 92));
}

/// Waits until a request is in flight. The requests of this function do not count.
async fn wait_for_request_in_flight(service: &Service) {
    loop {
        let check = service.get("/v2/concurrency-check").await.body;
        assert_eq!((&check["success"], &check["maxConcurrency"]), (&json!(true), &json!(256)));
        if check["concurrency"] == json!(1) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let queue = service.get("/v2/team/queue-status").await.body;
    let jobs = [&queue["jobsInQueue"], &queue["activeJobsInQueue"], &queue["waitingJobsInQueue"]];
    assert_eq!((jobs, &queue["maxConcurrency"]), ([&json!(1), &json!(1), &json!(0)], &json!(256)));
    assert!(queue["mostRecentSuccess"].as_str().unwrap().ends_with('Z'), "{queue}");
}

#[tokio::test(flavor = "multi_thread")]
async fn team_sees_only_its_own_usage() {
    let world = tea_world().await;
    let (site, mut service) = serve_with_page(&world, None).await;
    set_credits(&site, "readers", Some(50));
    let key = site.create_key(&["--team", "readers"]);
    assert_eq!(service.search(scraping(10)).await.body["creditsUsed"], json!(3));
    let default = service.get("/v2/team/credit-usage/historical").await.body;
    service.key = key;
    assert_eq!(remaining(&service).await, 50);
    assert_eq!(
        service.get("/v2/team/credit-usage/historical").await.body,
        json!({"success": true, "periods": []})
    );
    assert_eq!(service.get("/v2/team/queue-status").await.body["mostRecentSuccess"], Value::Null);
    assert_eq!(service.search(json!({"query": "listed"})).await.body["creditsUsed"], json!(2));
    let usage = service.get("/v2/team/credit-usage").await.body["data"].clone();
    assert_eq!((&usage["remainingCredits"], &usage["planCredits"]), (&json!(48), &json!(50)));
    assert!(usage["billingPeriodStart"].is_string() && usage["billingPeriodEnd"].is_null(), "{usage}");
    let tokens = service.get("/v2/team/token-usage").await.body["data"].clone();
    assert_eq!((&tokens["remainingTokens"], &tokens["planTokens"]), (&json!(48), &json!(50)));

    let month = &service.get("/v2/team/credit-usage/historical").await.body["periods"][0];
    assert_eq!((&month["creditsUsed"], &month["endDate"]), (&json!(2), &Value::Null));
    assert_eq!(month.get("apiKey"), None);
    let by_key = service.get("/v2/team/token-usage/historical?byApiKey=true").await.body;
    let keys: Value = serde_json::from_str(&site.succeed(&["keys", "list", "--json"])).unwrap();
    let team_key = keys.as_array().unwrap().iter().find(|key| key["team"] == json!("readers")).unwrap();
    let period = &by_key["periods"][0];
    assert_eq!((&period["apiKey"], &period["tokensUsed"]), (&team_key["id"], &json!(2)));
    assert!(default["periods"][0]["creditsUsed"].as_u64().unwrap() >= 3, "{default}");
    assert_eq!(service.get("/v2/team/credit-usage/historical?byApiKey=maybe").await.status, 400);

    let usage: Value =
        serde_json::from_str(&site.succeed(&["usage", "--team", "readers", "--json"])).unwrap();
    let row = &usage["usage"][0];
    assert_eq!((&row["key"], &row["credits"], &row["requests"]), (&team_key["id"], &json!(2), &json!(1)));
    let budget = &usage["budgets"][0];
    assert_fields(budget, &json!({ "remaining": 48, "spent": 2, "granted": 50 }));
    let table = site.succeed(&["usage"]);
    assert!(
        table.contains("default") && table.contains("team readers: 48 of 50 credits remaining"),
        "{table}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_retention_are_charged_and_not_recorded() {
    const MARKER: &str = "zq7marker";
    let world = tea_world().await;
    let site = Site::new(&world);
    let change =
        TeamChange { zdr: Some(Retention::Allowed), anon: Some(Retention::Allowed), ..TeamChange::default() };
    Store::open(site.data_dir()).unwrap().set_team("default", &change).unwrap();
    let service = site.serve();
    service.index_pages(&[("listed", GREEN)]).await;
    let credits_of = async |options: Value| {
        let mut body = json!({"query": format!("listed -{MARKER}")});
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        service.search(body).await.body["creditsUsed"].clone()
    };
    assert_eq!(credits_of(json!({"enterprise": ["zdr"]})).await, json!(10));
    assert_eq!(credits_of(json!({"enterprise": ["anon"]})).await, json!(2));
    let misses = service
        .search(json!({"query": "listed", "scrapeOptions": {"formats": ["markdown"], "lockdown": true}}))
        .await;
    assert_eq!(misses.status, 404);
    drop(service);
    let store = Store::open(site.data_dir()).unwrap();
    let credits: u64 =
        store.usage_by_day(websvc_store::UsageFilter::default()).unwrap().iter().map(|day| day.credits).sum();
    assert_eq!(credits, SETUP_CREDITS + 10 + 2 + 1, "the setup, two searches and the miss under lockdown");
    let queries: Vec<_> =
        store.recent_requests(None, None, 100).unwrap().into_iter().filter_map(|line| line.query).collect();
    assert!(queries.iter().any(|query| query == "listed"), "a query with retention is missing: {queries:?}");
    drop(store);
    for file in std::fs::read_dir(site.data_dir()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let contains_marker = bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
        assert!(!contains_marker, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_price_is_charged_and_reported() {
    let world = tea_world().await;
    let (site, service) = serve_with_page(&world, Some(SETUP_CREDITS + 100)).await;
    service.index_pages(&[("unseen", "http://tea.test/oolong.html")]).await;
    let mut expected_remaining = remaining(&service).await;
    let mut check = async |query: &str, options: Value, page: u64| {
        let mut body = json!({ "query": query, "scrapeOptions": options });
        body["scrapeOptions"]["formats"] = json!(["markdown"]);
        let response = service.search(body).await.body;
        let reported = &response["data"]["web"][0]["metadata"]["creditsUsed"];
        assert_eq!((reported, &response["creditsUsed"]), (&json!(page), &json!(2 + page)), "{response}");
        expected_remaining -= 2 + page;
        assert_eq!(remaining(&service).await, expected_remaining, "{response}");
    };
    check("listed -unseen", json!({}), 1).await;
    check("listed -unseen", json!({ "redactPII": { "mode": "fast" } }), 5).await;
    check("listed -unseen", json!({ "lockdown": true }), 5).await;
    // One of two results is in the cache. The other one is charged as a miss.
    let both = json!({ "query": "listed", "scrapeOptions": { "formats": ["markdown"], "lockdown": true } });
    let response = service.search(both).await.body;
    let mut prices: Vec<u64> = response["data"]["web"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["metadata"]["creditsUsed"].as_u64().unwrap())
        .collect();
    prices.sort_unstable();
    assert_eq!((prices, &response["creditsUsed"]), (vec![1, 5], &json!(2 + 5 + 1)), "{response}");
    drop(site);
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_search_is_charged_for_completed_scans() {
    const SCANNER: &str = "http://scanner.test/scan";
    let world = TestWeb::builder()
        .page_with(SCANNER, |request| match String::from_utf8_lossy(&request.body).contains("slow") {
            true => Page::unresponsive(),
            false => Page::new("application/json", json!({ "score": 1 }).to_string()),
        })
        .start()
        .await;
    let site = Site::new(&world);
    let change = TeamChange {
        credits: Some(Some(100)),
        threat_protection: Some(ThreatPolicy::On),
        ..TeamChange::default()
    };
    let key = {
        let store = Store::open(site.data_dir()).unwrap();
        store.set_team("careful", &change).unwrap();
        store.create_key("careful", "").unwrap().secret.expose().to_owned()
    };
    let mut service = site.serve_with(&[
        ("WEBSVC__THREAT__SCANNER", "http"),
        ("WEBSVC__THREAT__URL", SCANNER),
        ("WEBSVC__THREAT__TIMEOUT_MS", "60000"),
    ]);
    service.index_pages(&[("listed", "http://quick.test/"), ("listed", "http://slow.test/")]).await;
    let both_are_found = async |service: &Service| {
        service.search(json!({"query": "listed"})).await.body["data"]["web"].as_array().map(Vec::len)
            == Some(2)
    };
    assert!(both_are_found(&service).await, "a page of the upload is missing");
    service.key = key;
    let response = service.search(json!({"query": "listed", "timeout": 3000})).await;
    assert_eq!((response.status.as_u16(), remaining(&service).await), (408, 98), "{}", response.body);
}
