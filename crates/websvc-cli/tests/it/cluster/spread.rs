//! Jobs on which all replicas work, and what they do not multiply: the requests to a host, and the pages of a team.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::time::{Duration, Instant};

use serde_json::json;
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use super::{Cluster, REPLICAS, Variables, numbered_pages_builder, start_job};
use crate::batch::wait_for_end;

/// Returns settings with which each replica names itself in its requests.
fn named() -> Vec<Variables> {
    let name = |number| ("WEBSVC__FETCH__USER_AGENT", OsString::from(format!("websvc/replica-{number}")));
    (0..REPLICAS)
        .map(|number| vec![name(number), ("WEBSVC__JOBS__PACE", OsString::from("requested"))])
        .collect()
}

fn hosts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("host{number}.test")).collect()
}

/// Starts a web with numbered pages of some hosts, each of which wants a second between two requests if it has a delay.
async fn web(hosts: &[String], pages: usize, response_ms: u64, has_delay: bool) -> TestWeb {
    let names: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut world = numbered_pages_builder(&names, pages, Duration::from_millis(response_ms));
    for host in hosts.iter().filter(|_| has_delay) {
        let robots = Page::text("User-agent: *\nCrawl-delay: 1\n");
        world = world.page(&format!("http://{host}/robots.txt"), robots);
    }
    world.start().await
}

/// Returns the requests for numbered pages.
fn page_requests(world: &TestWeb) -> Vec<ReceivedRequest> {
    let is_page = |request: &ReceivedRequest| {
        request.url.rsplit('/').next().is_some_and(|name| name.parse::<u32>().is_ok())
    };
    world.requests().into_iter().filter(is_page).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_replicas_work_on_one_large_job_and_each_host_has_one_of_them() {
    let hosts = hosts(24);
    let world = web(&hosts, 20, 50, false).await;
    let Some(cluster) = Cluster::start_with(&world, named()).await else { return };
    let urls: Vec<String> =
        (0..20).flat_map(|page| hosts.iter().map(move |host| format!("http://{host}/{page}"))).collect();
    let path = start_job(cluster.replica(0), "/v2/batch/scrape", json!({ "urls": urls })).await;
    let status = wait_for_end(cluster.replica(1), &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(480)), "{status}");

    let requests = page_requests(&world);
    assert_eq!(requests.len(), 480, "each page is requested once");
    let mut replicas: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for request in &requests {
        let host = request.url.split('/').nth(2).unwrap();
        replicas.entry(host).or_default().insert(request.header("user-agent").unwrap());
    }
    assert!(replicas.values().all(|replicas| replicas.len() == 1), "{replicas:?}");
    let all: HashSet<&str> = replicas.values().flatten().copied().collect();
    assert_eq!(all.len(), REPLICAS, "{replicas:?}");
    assert!(requests.iter().all(|request| request.in_flight <= 2));
    cluster.database.check_jobs_and_budgets().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn delay_of_a_host_holds_for_crawls_on_all_replicas() {
    let world = web(&hosts(1), 4, 0, true).await;
    let Some(cluster) = Cluster::start_with(&world, named()).await else { return };
    let body = json!({ "url": "http://host0.test/", "limit": 4, "sitemap": "skip" });
    let begun = Instant::now();
    let mut paths = Vec::new();
    for number in 0..REPLICAS {
        // No cached page: each crawl requests each page.
        let mut body = body.clone();
        body["scrapeOptions"] = json!({ "maxAge": 0 });
        paths.push(start_job(cluster.replica(number), "/v2/crawl", body).await);
    }
    for path in &paths {
        let status = wait_for_end(cluster.replica(0), path).await;
        assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(4)), "{status}");
    }
    let mut times: Vec<Instant> = world
        .requests()
        .iter()
        .filter(|request| !request.url.ends_with("/robots.txt"))
        .map(|request| request.received_at)
        .collect();
    times.sort_unstable();
    assert_eq!(times.len(), 3 * 4, "after {:?}", begun.elapsed());
    // The clock of the runner and that of the web are read at different moments.
    let shortest = times.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
    assert!(shortest >= Duration::from_millis(950), "{shortest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn limit_of_a_team_bounds_the_pages_of_its_jobs_on_all_replicas() {
    let hosts = hosts(9);
    let world = web(&hosts, 10, 100, false).await;
    let Some(cluster) = Cluster::start_with(&world, named()).await else { return };
    cluster.succeed(&["teams", "set", "default", "--concurrency", "4"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let urls: Vec<String> =
        (0..10).flat_map(|page| hosts.iter().map(move |host| format!("http://{host}/{page}"))).collect();
    let path = start_job(cluster.replica(0), "/v2/batch/scrape", json!({ "urls": urls })).await;
    let status = wait_for_end(cluster.replica(1), &path).await;
    assert_eq!((&status["status"], &status["completed"]), (&json!("completed"), &json!(90)), "{status}");
    let requests = page_requests(&world);
    let delay = Duration::from_millis(100);
    let at_once = |request: &ReceivedRequest| {
        let begun = |other: &&ReceivedRequest| {
            other.received_at <= request.received_at && other.received_at + delay > request.received_at
        };
        requests.iter().filter(begun).count()
    };
    let most = requests.iter().map(at_once).max().unwrap();
    assert!((2..=4).contains(&most), "{most} pages at once");
}
