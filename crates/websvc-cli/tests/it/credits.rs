//! Budgets over HTTP: what is refused, what is charged, and what a team is told of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_store::{Retention, Store, TeamChange, ThreatPolicy};
use websvc_testkit::{Page, TestWeb};

use crate::harness::{Answer, KEY, Service, Site, tea_world};

const GREEN: &str = "http://tea.test/green.html";

/// Searches that find nothing are free, and the last one found the page.
const LISTING: u64 = 2;

fn give(site: &Site, team: &str, credits: Option<u64>) {
    let store = Store::open(site.data_dir()).unwrap();
    store.set_team(team, &TeamChange { credits: Some(credits), ..TeamChange::default() }).unwrap();
}

async fn left(service: &Service) -> u64 {
    let usage = service.get("/v2/team/credit-usage").await;
    assert_eq!(usage.status, 200, "{}", usage.body);
    usage.body["data"]["remainingCredits"].as_u64().unwrap()
}

#[track_caller]
fn refused(answer: &Answer, text: &str) {
    assert_eq!(answer.status, 402, "{}", answer.body);
    assert_eq!(answer.body["code"], json!("INSUFFICIENT_CREDITS"));
    assert_eq!((&answer.body["success"], &answer.body["details"]), (&json!(false), &Value::Null));
    let error = answer.body["error"].as_str().unwrap();
    assert!(error.starts_with("Insufficient credits") && error.contains(text), "{error}");
}

fn scraping(limit: u32) -> Value {
    json!({"query": "listed", "limit": limit, "scrapeOptions": {"formats": ["markdown"]}})
}

/// Starts a service in which a search for `listed` finds one page; looking for it has cost what [`LISTING`] says.
async fn listed(world: &TestWeb, credits: Option<u64>) -> (Site, Service) {
    let site = Site::new(world);
    give(&site, "default", credits);
    let service = site.serve();
    service.list(&[("listed", GREEN)]).await;
    (site, service)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_is_spent_to_its_end_and_then_requests_are_refused() {
    let world = tea_world().await;
    let (site, service) = listed(&world, Some(LISTING + 10)).await;
    refused(&service.search(scraping(10)).await, "up to 12 credits, and the team has 10 left");
    let answer = service.search(scraping(5)).await;
    assert_eq!((&answer.body["creditsUsed"], left(&service).await), (&json!(3), 7), "{}", answer.body);
    assert_eq!(answer.body["data"]["web"][0]["metadata"]["creditsUsed"], json!(1));
    let nothing = service.search(json!({"query": "unlisted"})).await;
    assert_eq!((&nothing.body["creditsUsed"], left(&service).await), (&json!(0), 7));
    let invalid = service.search(json!({"query": "listed", "limit": 0})).await;
    assert_eq!((invalid.status.as_u16(), left(&service).await), (400, 7));
    for expected in [5, 3, 1] {
        assert_eq!(service.search(json!({"query": "listed"})).await.body["creditsUsed"], json!(2));
        assert_eq!(left(&service).await, expected);
    }
    refused(&service.search(json!({"query": "listed"})).await, "up to 2 credits, and the team has 1 left");
    give(&site, "default", None);
    let given = Instant::now();
    while service.search(json!({"query": "listed"})).await.status != 200 {
        assert!(given.elapsed() < Duration::from_secs(1), "new credits are seen within a second");
    }
    assert_eq!(left(&service).await, 2_147_483_647);
}

#[tokio::test(flavor = "multi_thread")]
async fn charges_outlive_a_service_that_is_killed_and_what_it_held_is_free_again() {
    let world = TestWeb::builder()
        .page(GREEN, Page::html("<title>Green</title><p>listed").delay(Duration::from_secs(60)))
        .start()
        .await;
    let (site, service) = listed(&world, Some(LISTING + 100)).await;
    for _ in 0..3 {
        assert_eq!(service.search(json!({"query": "listed"})).await.body["creditsUsed"], json!(2));
    }
    // Three charges are perhaps not in the database yet, and one request is in work.
    let hanging = scraping(10);
    tokio::select! {
        answer = service.search(hanging) => panic!("{}", answer.body),
        () = busy(&service) => {}
    }
    service.kill();
    drop(service);
    let service = site.serve();
    assert_eq!(left(&service).await, 94);
    let most = service.search(json!({"query": "listed", "limit": 100})).await;
    assert_eq!((most.status.as_u16(), left(&service).await), (200, 92));
}

/// Waits until a request is in work; asking counts as none.
async fn busy(service: &Service) {
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
async fn a_team_sees_its_own_usage_alone() {
    let world = tea_world().await;
    let (site, mut service) = listed(&world, None).await;
    give(&site, "readers", Some(50));
    let key = site.succeed(&["keys", "create", "--team", "readers"]).trim().to_owned();
    assert_eq!(service.search(scraping(10)).await.body["creditsUsed"], json!(3));
    let default = service.get("/v2/team/credit-usage/historical").await.body;
    service.key = key;
    assert_eq!(left(&service).await, 50);
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
    let of_team = keys.as_array().unwrap().iter().find(|key| key["team"] == json!("readers")).unwrap();
    let period = &by_key["periods"][0];
    assert_eq!((&period["apiKey"], &period["tokensUsed"]), (&of_team["id"], &json!(2)));
    assert!(default["periods"][0]["creditsUsed"].as_u64().unwrap() >= 3, "{default}");
    assert_eq!(service.get("/v2/team/credit-usage/historical?byApiKey=maybe").await.status, 400);

    let told: Value = serde_json::from_str(&site.succeed(&["usage", "--team", "readers", "--json"])).unwrap();
    let row = &told["usage"][0];
    assert_eq!((&row["key"], &row["credits"], &row["requests"]), (&of_team["id"], &json!(2), &json!(1)));
    let budget = &told["budgets"][0];
    assert_eq!(
        (&budget["remaining"], &budget["spent"], &budget["granted"]),
        (&json!(48), &json!(2), &json!(50))
    );
    let table = site.succeed(&["usage"]);
    assert!(
        table.contains("default") && table.contains("team readers has 48 of the 50 credits left"),
        "{table}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_which_nothing_may_be_kept_are_charged_and_not_told() {
    const MARK: &str = "zq7marker";
    let world = tea_world().await;
    let site = Site::new(&world);
    let change =
        TeamChange { zdr: Some(Retention::Allowed), anon: Some(Retention::Allowed), ..TeamChange::default() };
    Store::open(site.data_dir()).unwrap().set_team("default", &change).unwrap();
    let service = site.serve();
    service.list(&[("listed", GREEN)]).await;
    let ask = async |more: Value| {
        let mut body = json!({"query": format!("listed -{MARK}")});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        service.search(body).await.body["creditsUsed"].clone()
    };
    assert_eq!(ask(json!({"enterprise": ["zdr"]})).await, json!(10));
    assert_eq!(ask(json!({"enterprise": ["anon"]})).await, json!(2));
    let misses = service
        .search(json!({"query": "listed", "scrapeOptions": {"formats": ["markdown"], "lockdown": true}}))
        .await;
    assert_eq!(misses.status, 404);
    drop(service);
    let store = Store::open(site.data_dir()).unwrap();
    let credits: u64 =
        store.usage_by_day(websvc_store::UsageFilter::default()).unwrap().iter().map(|day| day.credits).sum();
    assert_eq!(credits, LISTING + 10 + 2 + 1, "that of the listing, and the miss of lockdown");
    let queries: Vec<_> =
        store.recent_requests(None, None, 100).unwrap().into_iter().filter_map(|line| line.query).collect();
    assert!(queries.iter().any(|query| query == "listed"), "what may be kept is: {queries:?}");
    drop(store);
    for file in std::fs::read_dir(site.data_dir()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let kept = bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes());
        assert!(!kept, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_price_of_a_page_is_charged_and_said() {
    let world = tea_world().await;
    let (site, service) = listed(&world, Some(LISTING + 100)).await;
    service.list(&[("unseen", "http://tea.test/oolong.html")]).await;
    let mut expected_left = left(&service).await;
    let mut check = async |query: &str, options: Value, page: u64| {
        let mut body = json!({ "query": query, "scrapeOptions": options });
        body["scrapeOptions"]["formats"] = json!(["markdown"]);
        let answer = service.search(body).await.body;
        let said = &answer["data"]["web"][0]["metadata"]["creditsUsed"];
        assert_eq!((said, &answer["creditsUsed"]), (&json!(page), &json!(2 + page)), "{answer}");
        expected_left -= 2 + page;
        assert_eq!(left(&service).await, expected_left, "{answer}");
    };
    check("listed -unseen", json!({}), 1).await;
    check("listed -unseen", json!({ "redactPII": { "mode": "fast" } }), 5).await;
    check("listed -unseen", json!({ "lockdown": true }), 5).await;
    // Of two results the cache has one: the other is a miss, and says so.
    let both = json!({ "query": "listed", "scrapeOptions": { "formats": ["markdown"], "lockdown": true } });
    let answer = service.search(both).await.body;
    let mut said: Vec<u64> = answer["data"]["web"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["metadata"]["creditsUsed"].as_u64().unwrap())
        .collect();
    said.sort_unstable();
    assert_eq!((said, &answer["creditsUsed"]), (vec![1, 5], &json!(2 + 5 + 1)), "{answer}");
    drop(site);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_ends_while_it_is_checked_pays_for_the_scans_that_were_done() {
    const SCANNER: &str = "http://scanner.test/scan";
    let world = TestWeb::builder()
        .page_with(SCANNER, |seen| match String::from_utf8_lossy(&seen.body).contains("slow") {
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
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__THREAT__SCANNER", "http")
        .env("WEBSVC__THREAT__URL", SCANNER)
        .env("WEBSVC__THREAT__TIMEOUT_MS", "60000");
    let mut service = Service::start(&mut command);
    service.list(&[("listed", "http://quick.test/"), ("listed", "http://slow.test/")]).await;
    let both_are_found = async |service: &Service| {
        service.search(json!({"query": "listed"})).await.body["data"]["web"].as_array().map(Vec::len)
            == Some(2)
    };
    assert!(both_are_found(&service).await, "both came in one upload");
    service.key = key;
    let answer = service.search(json!({"query": "listed", "timeout": 3000})).await;
    assert_eq!((answer.status.as_u16(), left(&service).await), (408, 98), "{}", answer.body);
}
