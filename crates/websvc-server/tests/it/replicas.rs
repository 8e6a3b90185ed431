//! Tests of several services with one database on a server: any request may reach any of them.
//!
//! `cargo xtask test` runs them with `WEBSVC_TEST_REPLICAS`; without it they are skipped.

mod forwarding;
mod replica;
mod uploads;

use std::ops::Range;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use websvc_server::AdmissionLimits;
use websvc_store::{KeyRights, ReplicaRole, TeamChange};
use websvc_testkit::{Page, TestWeb, until};
use websvc_transport::FetchResponse;

use self::replica::{Replica, TestDatabase};

const PAGE: &str = "http://tea.test/";
/// The number of pages that never respond.
const UNRESPONSIVE: usize = 12;

struct Replicas {
    database: TestDatabase,
    first: Replica,
    second: Replica,
    web: TestWeb,
}

fn unresponsive(number: usize) -> String {
    format!("http://tea.test/unresponsive/{number}")
}

impl Replicas {
    /// Starts two services; `None` if there is no database server.
    async fn start() -> Option<Self> {
        let database = TestDatabase::create().await?;
        let page = Page::html("<title>Tea</title><p>Water of eighty degrees makes a good cup of green tea.");
        let mut web = TestWeb::builder().page(PAGE, page);
        for number in 0..UNRESPONSIVE {
            web = web.page(&unresponsive(number), Page::unresponsive());
        }
        let web = web.start().await;
        let first = Replica::start(&database, &web).await;
        let second = Replica::start(&database, &web).await;
        Some(Self { database, first, second, web })
    }

    fn create_key(&self, team: &str, admin: bool) -> String {
        let rights = KeyRights { admin, ..KeyRights::default() };
        self.first.store.create_key_with(team, "", &rights).unwrap().secret.expose().to_owned()
    }

    async fn shut_down(self) {
        self.first.shut_down().await;
        self.second.shut_down().await;
    }
}

fn json_of(response: &FetchResponse) -> Value {
    serde_json::from_slice(&response.body).unwrap()
}

/// Scrapes the page, and returns the response and the path under which it can be read again.
async fn scrape(replica: &Replica, key: &str, lockdown: bool) -> (FetchResponse, String) {
    let body = json!({ "url": PAGE, "lockdown": lockdown });
    let bearer = format!("Bearer {key}");
    let response = replica.send(Method::POST, "/v2/scrape", &[("authorization", &bearer)], Some(body)).await;
    assert_eq!(response.status, StatusCode::OK, "{:?}", response.body);
    let path = format!("/v2/scrape/{}", json_of(&response)["data"]["metadata"]["scrapeId"].as_str().unwrap());
    (response, path)
}

async fn get(replica: &Replica, key: &str, path: &str) -> FetchResponse {
    replica.send(Method::GET, path, &[("authorization", &format!("Bearer {key}"))], None).await
}

/// Waits until the results that a replica has written or dropped have these counts.
async fn wait_for_metrics(replica: &Replica, key: &str, counts: &[(&str, u64)]) {
    let sample = |(outcome, count): &(&str, u64)| {
        format!("websvc_scrape_result_writes_total{{outcome=\"{outcome}\"}} {count}\n")
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let body = get(replica, key, "/metrics").await.body;
        let text = String::from_utf8_lossy(&body);
        if counts.iter().all(|count| text.contains(&sample(count))) {
            return;
        }
        assert!(Instant::now() < deadline, "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_result_is_returned_by_every_replica_and_only_to_its_team() {
    let Some(replicas) = Replicas::start().await else { return };
    let Replicas { database, first, second, .. } = &replicas;
    let (key, other_key) = (replicas.create_key("tea", false), replicas.create_key("coffee", false));
    for (writer, reader) in [(first, second), (second, first), (first, second)] {
        let (response, path) = scrape(writer, &key, false).await;
        let again = get(reader, &key, &path).await;
        assert_eq!((again.status, &again.body), (StatusCode::OK, &response.body));
        for replica in [first, second] {
            assert_eq!(get(replica, &other_key, &path).await.status, StatusCode::NOT_FOUND);
        }
    }
    wait_for_metrics(first, &key, &[("stored", 2), ("dropped", 0)]).await;
    // Lockdown implies zero data retention: the response is not stored.
    let (_, path) = scrape(first, &key, true).await;
    for replica in [first, second] {
        assert_eq!(get(replica, &key, &path).await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(database.number("SELECT count(*) FROM scrape_results").await, 3);
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_scrape_results_are_written_before_a_replica_ends() {
    let Some(replicas) = Replicas::start().await else { return };
    let key = replicas.create_key("tea", false);
    let Replicas { database, first, second, .. } = replicas;
    let (response, path) = scrape(&first, &key, false).await;
    first.shut_down().await;
    assert_eq!(get(&second, &key, &path).await.body, response.body);
    assert_eq!(database.number("SELECT count(*) FROM scrape_results").await, 1);
    second.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_session_is_valid_on_every_replica_and_signing_out_ends_it() {
    let Some(replicas) = Replicas::start().await else { return };
    let Replicas { database, first, second, .. } = &replicas;
    let key = replicas.create_key("tea", true);
    let body = Some(json!({ "key": key }));
    let signed_in = first.send(Method::POST, "/dashboard/session", &[], body).await;
    assert_eq!(signed_in.status, StatusCode::OK, "{:?}", signed_in.body);
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let session = json_of(&signed_in);
    let token = session["csrfToken"].as_str().unwrap();
    let with_cookie = |replica, method, path| {
        let (cookie, token) = (cookie.as_str(), token);
        async move {
            let replica: &Replica = replica;
            replica.send(method, path, &[("cookie", cookie), ("x-csrf-token", token)], None).await
        }
    };
    for replica in [first, second] {
        let found = with_cookie(replica, Method::GET, "/dashboard/session").await;
        assert_eq!(json_of(&found), session);
        assert_eq!(with_cookie(replica, Method::GET, "/dashboard/keys").await.status, StatusCode::OK);
        let untrusted =
            replica.send(Method::DELETE, "/dashboard/session", &[("cookie", &cookie)], None).await;
        assert_eq!(untrusted.status, StatusCode::FORBIDDEN, "without the token");
    }
    assert_eq!(database.number("SELECT count(*) FROM dashboard_sessions").await, 1);
    let signed_out = with_cookie(second, Method::DELETE, "/dashboard/session").await;
    assert_eq!(signed_out.status, StatusCode::OK, "{:?}", signed_out.body);
    for replica in [first, second] {
        let found = with_cookie(replica, Method::GET, "/dashboard/session").await;
        assert_eq!(json_of(&found)["csrfToken"], Value::Null);
        let keys = with_cookie(replica, Method::GET, "/dashboard/keys").await;
        assert_eq!(keys.status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(database.number("SELECT count(*) FROM dashboard_sessions").await, 0);
    replicas.shut_down().await;
}

/// Scrapes pages that never respond, and waits until all are fetched. The requests end when the tasks are dropped.
async fn scrape_unresponsive(
    replicas: &Replicas,
    replica: &Replica,
    key: &str,
    pages: Range<usize>,
) -> JoinSet<()> {
    let mut requests = JoinSet::new();
    for number in pages {
        let (url, key, client) = (unresponsive(number), key.to_owned(), replica.client());
        let fetches = replicas.web.count(&url);
        let body = json!({ "url": url, "maxAge": 0 });
        requests.spawn(async move {
            let bearer = format!("Bearer {key}");
            let headers = [("authorization", bearer.as_str())];
            let send = || client.send(Method::POST, "/v2/scrape", &headers, Some(body.clone()));
            // An earlier request may not have ended yet, or its slot not have been returned.
            while send().await.status == StatusCode::TOO_MANY_REQUESTS {}
        });
        until("the page is fetched", || replicas.web.count(&unresponsive(number)) > fetches).await;
    }
    requests
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_are_those_of_all_replicas() {
    let Some(replicas) = Replicas::start().await else { return };
    let Replicas { database, first, second, .. } = &replicas;
    for replica in [first, second] {
        replica.store.join_replicas(ReplicaRole::Worker).unwrap();
    }
    let key = replicas.create_key("tea", false);
    let change = TeamChange { concurrency: Some(Some(5)), ..TeamChange::default() };
    first.store.set_team("tea", &change).unwrap();
    for (busy, other) in [(first, second), (second, first)] {
        // All requests reach one replica: it admits the whole limit.
        let requests = scrape_unresponsive(&replicas, busy, &key, 0..5).await;
        assert_eq!(database.number("SELECT sum(slots) FROM slot_leases").await, 5);
        for replica in [busy, other] {
            let rejected = get(replica, &key, "/v2/team/credit-usage").await;
            assert_eq!(rejected.status, StatusCode::TOO_MANY_REQUESTS);
            assert!(String::from_utf8_lossy(&rejected.body).contains("concurrency limit of 5 reached"));
        }
        drop(requests);
    }
    // Divided between them.
    let on_first = scrape_unresponsive(&replicas, first, &key, 0..3).await;
    let on_second = scrape_unresponsive(&replicas, second, &key, 3..5).await;
    for replica in [first, second] {
        let rejected = get(replica, &key, "/v2/team/credit-usage").await;
        assert_eq!(rejected.status, StatusCode::TOO_MANY_REQUESTS);
    }
    drop((on_first, on_second));
    let deadline = Instant::now() + Duration::from_secs(60);
    while database.number("SELECT count(*) FROM slot_leases").await > 0 {
        assert!(Instant::now() < deadline, "unused slots are not returned");
    }
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queue_status_and_concurrency_check_count_the_requests_of_all_replicas() {
    let Some(replicas) = Replicas::start().await else { return };
    let Replicas { first, second, .. } = &replicas;
    for replica in [first, second] {
        replica.store.join_replicas(ReplicaRole::Worker).unwrap();
    }
    let (key, other_key) = (replicas.create_key("tea", false), replicas.create_key("coffee", false));
    let change = TeamChange { concurrency: Some(Some(9)), ..TeamChange::default() };
    first.store.set_team("tea", &change).unwrap();
    let on_first = scrape_unresponsive(&replicas, first, &key, 0..2).await;
    let on_second = scrape_unresponsive(&replicas, second, &key, 2..5).await;
    for replica in [first, second] {
        // The other one writes its counts every second.
        wait_for_json(replica, &key, "/v2/concurrency-check", |body| body["concurrency"] == 5).await;
        let check = json_of(&get(replica, &key, "/v2/concurrency-check").await);
        assert_eq!(check["maxConcurrency"], 9);
        let status = json_of(&get(replica, &key, "/v2/team/queue-status").await);
        let counts =
            ["jobsInQueue", "activeJobsInQueue", "waitingJobsInQueue"].map(|name| status[name].clone());
        assert_eq!(counts, [json!(5), json!(5), json!(0)], "{status}");
        // Another team has the default limit of all requests, which each of two replicas has.
        let max = 2 * AdmissionLimits::default().total_concurrency;
        let expected = json!({ "success": true, "concurrency": 0, "maxConcurrency": max });
        wait_for_json(replica, &other_key, "/v2/concurrency-check", |body| *body == expected).await;
    }
    drop((on_first, on_second));
    for replica in [first, second] {
        wait_for_json(replica, &key, "/v2/concurrency-check", |body| body["concurrency"] == 0).await;
    }
    replicas.shut_down().await;
}

/// Repeats a request until its response meets a condition.
async fn wait_for_json(replica: &Replica, key: &str, path: &str, is_met: impl Fn(&Value) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let body = json_of(&get(replica, key, path).await);
        if is_met(&body) {
            return;
        }
        assert!(Instant::now() < deadline, "{body}");
    }
}
