//! Failures and restarts of replicas and of the database while requests arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use serde_json::json;
use websvc_testkit::{Page, TcpForwarder};

use super::{
    Cluster, Database, REPLICAS, Service, numbered_pages, numbered_pages_builder, numbered_pages_of,
    start_job, urls,
};
use crate::batch::wait_for_end;

const BATCH: &str = "/v2/batch/scrape";

/// Clients that send scrapes of a cached page until they are stopped.
struct Traffic {
    is_stopped: Arc<AtomicBool>,
    paid: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<Vec<StatusCode>>>,
}

impl Traffic {
    fn start(address: &str, clients: usize) -> Self {
        let (is_stopped, paid) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let body = json!({ "url": "http://list.test/0" }).to_string();
        let tasks = (0..clients).map(|_| {
            let (service, body) = (Service::at(address), body.clone());
            let (is_stopped, paid) = (Arc::clone(&is_stopped), Arc::clone(&paid));
            tokio::spawn(async move {
                let mut failures = Vec::new();
                while !is_stopped.load(Ordering::Relaxed) {
                    let response = service.post("/v2/scrape", body.clone()).await;
                    match response.status {
                        StatusCode::OK => drop(paid.fetch_add(1, Ordering::Relaxed)),
                        other => failures.push(other),
                    }
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                failures
            })
        });
        let tasks = tasks.collect();
        Self { is_stopped, paid, tasks }
    }

    /// Stops the clients, and returns the number of paid requests and the other statuses.
    async fn stop(self) -> (u64, Vec<StatusCode>) {
        self.is_stopped.store(true, Ordering::Relaxed);
        let mut failures = Vec::new();
        for task in self.tasks {
            failures.extend(task.await.unwrap());
        }
        (self.paid.load(Ordering::Relaxed), failures)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_replica_loses_no_page_and_no_charge() {
    // Each job has a host of its own, because the pace per host would be most of the duration.
    let hosts = ["list.test", "list1.test", "list2.test", "list3.test", "list4.test", "list5.test"];
    let world = numbered_pages_of(&hosts, 40, Duration::from_millis(20)).await;
    let Some(mut cluster) = Cluster::start(&world).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "100000"]);
    let client = cluster.client();
    let traffic = Traffic::start(&cluster.balancer.address, 4);
    let mut paths = Vec::new();
    for (number, host) in hosts.iter().enumerate() {
        let list: Vec<String> = (0..40).map(|page| format!("http://{host}/{page}")).collect();
        let body = json!({ "urls": list, "maxAge": 0, "ignoreRobotsTxt": true });
        paths.push(start_job(cluster.replica(number % 3), BATCH, body).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    cluster.kill(0);
    let killed = Instant::now();
    let jobs = "SELECT count(*) FROM jobs WHERE replica = (SELECT min(id) FROM replicas)";
    assert!(cluster.database.number(jobs).await > 0, "the killed replica had jobs");
    for path in &paths {
        let status = wait_for_end_despite_errors(&client, path).await;
        assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(40)), "{status}");
    }
    let replicas = cluster.database.number("SELECT count(*) FROM replicas").await;
    assert_eq!(replicas, 2, "the killed replica was taken over after {:?}", killed.elapsed());
    // With its data directory, the replica recovers the charges that it had not written.
    cluster.restart(0);
    let (paid, failures) = traffic.stop().await;
    // A request on a connection of the killed replica has no response. The balancer may have some idle ones, and
    // notices their end later.
    let only_bad_gateway = failures.iter().all(|status| *status == StatusCode::BAD_GATEWAY);
    assert!(failures.len() <= 16 && only_bad_gateway, "{failures:?}");
    assert!(paid > 100);
    for number in 0..3 {
        cluster.replica(number).terminate();
    }
    cluster.replicas.clear();
    let spent = cluster.database.number("SELECT spent FROM grants WHERE current = 1").await;
    let of_jobs = cluster.database.number("SELECT sum(credits) FROM jobs").await;
    assert_eq!(of_jobs, 240);
    // A charge without a response is possible: the replica died between both. The client got an error, or the response
    // of another replica.
    let expected = paid + of_jobs;
    let without_response = (failures.len() + cluster.balancer.repeated()) as u64;
    assert!((expected..=expected + without_response).contains(&spent), "{spent} instead of {expected}");
    let leases = cluster.database.number("SELECT count(*) FROM leases").await;
    assert_eq!(leases, 0, "all leases were returned");
    cluster.database.check_jobs_and_budgets().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn restart_of_one_replica_after_the_other_fails_no_request() {
    let world = numbered_pages(100, Duration::from_millis(20)).await;
    let Some(mut cluster) = Cluster::start(&world).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "100000"]);
    let traffic = Traffic::start(&cluster.balancer.address, 4);
    let client = cluster.client();
    let path = start_job(&client, BATCH, json!({ "urls": urls(0..100), "maxAge": 0 })).await;
    for number in 0..3 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut service = cluster.replicas[number].take().unwrap();
        // As operators do: first the balancer sends no more requests, then the replica stops.
        cluster.balancer.remove(&service.address);
        assert!(service.end().success());
        cluster.restart(number);
    }
    let status = wait_for_end(&client, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(100)), "{status}");
    let (paid, failures) = traffic.stop().await;
    assert!(failures.is_empty() && paid > 50, "{paid} succeeded, {failures:?}");
    for number in 0..3 {
        cluster.replica(number).terminate();
    }
    cluster.replicas.clear();
    // A request that a stopping replica had begun and not answered would be charged twice: the balancer repeats it.
    let spent = cluster.database.number("SELECT spent FROM grants WHERE current = 1").await;
    let of_jobs = cluster.database.number("SELECT sum(credits) FROM jobs").await;
    assert_eq!((of_jobs, spent), (100, paid + of_jobs));
    cluster.database.check_jobs_and_budgets().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn outage_of_the_database_is_survived() {
    let world = numbered_pages(120, Duration::from_millis(20)).await;
    let Some((database, url)) = Database::create().await else { return };
    let forwarder = TcpForwarder::to(&database.address());
    let through_forwarder = url.replace(&database.address(), &format!("127.0.0.1:{}", forwarder.port()));
    let cluster = Cluster::start_on(&world, database, through_forwarder).await;
    let client = cluster.client();
    // Each replica has the key and the page in its memory.
    for number in 0..3 {
        for _ in 0..2 {
            let body = json!({ "url": "http://list.test/0" }).to_string();
            assert_eq!(cluster.replica(number).post("/v2/scrape", body).await.status, 200);
        }
    }
    let list = json!({ "urls": urls(0..120), "maxAge": 0 });
    let path = start_job(&client, BATCH, list.clone()).await;
    forwarder.set_cut(true);
    let cut = Instant::now();
    let outage = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 30 });
    let mut rejected = 0;
    while cut.elapsed() < outage {
        let response = client.post(BATCH, list.to_string()).await;
        if response.status == StatusCode::SERVICE_UNAVAILABLE {
            assert_eq!(response.body["code"], "DATABASE_UNAVAILABLE", "{}", response.body);
            assert!(response.headers.contains_key("retry-after"));
            rejected += 1;
        }
        // A search in the local index needs only the cached key.
        let found = client.search(json!({ "query": "page" })).await;
        assert_eq!(found.status, StatusCode::OK, "{}", found.body);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(rejected > 5, "jobs are rejected without the database");
    forwarder.set_cut(false);
    let status = wait_for_end_despite_errors(&client, &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(120)), "{status}");
    let response = client.post(BATCH, list.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    assert_eq!(cluster.database.number("SELECT count(*) FROM replicas").await, 3, "no replica was lost");
    let log = std::fs::read_to_string(cluster.data_dir(0).join("log.txt")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
    cluster.database.check_jobs_and_budgets().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn database_that_does_not_respond_fails_requests_within_two_seconds() {
    let world = numbered_pages(2, Duration::ZERO).await;
    let Some((database, url)) = Database::create().await else { return };
    let forwarder = TcpForwarder::to(&database.address());
    let through_forwarder = url.replace(&database.address(), &format!("127.0.0.1:{}", forwarder.port()));
    let cluster = Cluster::start_on(&world, database, through_forwarder).await;
    let replica = cluster.replica(0);
    let body = json!({ "url": "http://list.test/0" }).to_string();
    assert_eq!(replica.post("/v2/scrape", body).await.status, 200, "the key is in the memory of the replica");
    assert_eq!(replica.get("/ready").await.status, 200);
    forwarder.set_frozen(true);
    let frozen = Instant::now();
    let list = json!({ "urls": urls(0..2) }).to_string();
    let requests: Vec<_> = (0..20)
        .map(|_| {
            let (replica, list) = (Service::at(&replica.address), list.clone());
            tokio::spawn(async move { (replica.post(BATCH, list).await, frozen.elapsed()) })
        })
        .collect();
    for request in requests {
        let (response, elapsed) = request.await.unwrap();
        assert_eq!(response.status, StatusCode::SERVICE_UNAVAILABLE, "{}", response.body);
        assert_eq!(response.body["code"], "DATABASE_UNAVAILABLE", "{}", response.body);
        assert!(elapsed < Duration::from_secs(6), "{elapsed:?}");
    }
    let asked = Instant::now();
    assert_eq!(replica.get("/ready").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(replica.post(BATCH, list.clone()).await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    forwarder.set_frozen(false);
    while replica.get("/ready").await.status != StatusCode::OK {
        assert!(asked.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(replica.post(BATCH, list).await.status, StatusCode::OK);
}

/// Before the time after which a replica that is silent counts as lost.
const AT_ONCE: Duration = Duration::from_secs(7);

/// Returns the settings of an Elasticsearch-compatible server that accepts connections and never responds.
fn frozen_index_server() -> super::Variables {
    let values = [
        ("WEBSVC__SEARCH__PROVIDERS", r#"["es"]"#),
        ("WEBSVC__SEARCH__SOURCES__ES__KIND", "elasticsearch"),
        ("WEBSVC__SEARCH__SOURCES__ES__URL", "http://es.test"),
        ("WEBSVC__SEARCH__SOURCES__ES__INDEX", "pages"),
        ("WEBSVC__SEARCH__SOURCES__ES__WRITE", "true"),
        ("WEBSVC__SEARCH__SOURCES__ES__TIMEOUT_MS", "20000"),
        ("WEBSVC__SERVER__DRAIN_TIMEOUT_MS", "10000"),
    ];
    values.map(|(name, value)| (name, value.into())).into()
}

#[tokio::test(flavor = "multi_thread")]
async fn job_continues_elsewhere_at_once_when_its_replica_stops_and_the_index_server_is_frozen() {
    let mut world = numbered_pages_builder(&["list.test"], 200, Duration::from_millis(20));
    for path in ["pages/_bulk", "_bulk"] {
        world = world.page(&format!("http://es.test/{path}"), Page::unresponsive());
    }
    let world = world.start().await;
    let Some(mut cluster) = Cluster::start_with(&world, vec![frozen_index_server(); REPLICAS]).await else {
        return;
    };
    let body = json!({ "urls": urls(0..200), "maxAge": 0, "ignoreRobotsTxt": true });
    let path = start_job(cluster.replica(0), BATCH, body).await;
    let recorded = "SELECT documents FROM jobs";
    let begun = Instant::now();
    while cluster.database.number(recorded).await < 5 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the job does not begin");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let owner = cluster.database.number("SELECT replica FROM jobs").await;
    let stopped = Instant::now();
    cluster.replica(0).terminate();
    let moved = format!("SELECT count(*) FROM jobs WHERE replica <> {owner}");
    while cluster.database.number(&moved).await == 0 {
        assert!(stopped.elapsed() < AT_ONCE, "the job has no other owner");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let at_move = cluster.database.number(recorded).await;
    while cluster.database.number(recorded).await <= at_move {
        assert!(stopped.elapsed() < AT_ONCE, "the job does not continue");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let address = cluster.replica(0).address.clone();
    cluster.balancer.remove(&address);
    let status = wait_for_end_despite_errors(&cluster.client(), &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(200)), "{status}");
    drop(cluster.replicas.remove(0));
    cluster.database.check_jobs_and_budgets().await;
}

/// Waits for the end of a job while some requests may still fail.
pub(super) async fn wait_for_end_despite_errors(service: &Service, path: &str) -> serde_json::Value {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let response = service.get(path).await;
        if response.status == StatusCode::OK && response.body["status"] != "scraping" {
            return response.body;
        }
        assert!(Instant::now() < deadline, "{}", response.body);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
