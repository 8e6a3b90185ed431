//! Limits of teams that all replicas share.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use websvc_testkit::until;

use super::{Cluster, numbered_pages};
use crate::outbox::wait_until;

#[tokio::test(flavor = "multi_thread")]
async fn requests_per_minute_are_those_of_all_replicas() {
    let world = numbered_pages(1, Duration::ZERO).await;
    let Some(cluster) = Cluster::start(&world).await else { return };
    cluster.succeed(&["teams", "set", "default", "--requests-per-minute", "100"]);
    // Each replica sees the limit within a second.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let client = cluster.client();
    let started = std::time::Instant::now();
    let (mut admitted, mut rejected) = (0_u64, 0);
    while rejected < 20 {
        let response = client.get("/v2/team/credit-usage").await;
        match response.status {
            StatusCode::OK => admitted += 1,
            StatusCode::TOO_MANY_REQUESTS => {
                assert!(response.headers.contains_key("retry-after"));
                rejected += 1;
            }
            other => panic!("{other}: {}", response.body),
        }
    }
    // The bucket, what was refilled meanwhile, and at most a batch of three on two other replicas.
    let refilled = started.elapsed().as_secs() * 100 / 60 + 2;
    assert!(admitted <= 100 + refilled, "{admitted} requests were admitted");
    assert!(admitted >= 100 - 6, "only {admitted} requests were admitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn budget_is_spent_once_by_all_replicas() {
    let world = numbered_pages(1, Duration::ZERO).await;
    let Some(cluster) = Cluster::start(&world).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "600"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let body = json!({ "url": "http://list.test/0" }).to_string();
    let requests = (0..3).map(|number| {
        let (service, body) = (super::Service::at(&cluster.replica(number).address), body.clone());
        async move {
            let (mut paid, mut rejected) = (0_u64, 0);
            while rejected < 5 {
                let response = service.post("/v2/scrape", body.clone()).await;
                match response.status {
                    StatusCode::OK => paid += 1,
                    StatusCode::PAYMENT_REQUIRED => {
                        rejected += 1;
                        // Credits that another replica has leased return when it does not use them.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    other => panic!("{other}: {}", response.body),
                }
            }
            paid
        }
    });
    let paid: u64 = futures_util::future::join_all(requests).await.into_iter().sum();
    assert!(paid <= 600, "{paid} requests were paid with 600 credits");
    assert!(paid >= 500, "only {paid} credits could be spent");
    let spent = "SELECT spent FROM grants WHERE current = 1";
    for _ in 0..100 {
        if cluster.database.number(spent).await == paid {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(cluster.database.number(spent).await, paid);
    cluster.database.check_jobs_and_budgets().await;
}

/// Waits until a slot is leased for each request: a replica that the database does not answer in time admits its part of the
/// limit, and leases the slots later.
async fn slots_are_leased(cluster: &Cluster, count: usize) {
    wait_until("a slot is leased for each request", async || {
        cluster.database.number("SELECT sum(slots) FROM slot_leases").await == count as u64
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_are_those_of_all_replicas_and_a_killed_one_frees_its_slots() {
    const LIMIT: usize = 6;

    // No request ends before the test.
    let world = numbered_pages(2 * LIMIT, Duration::from_secs(600)).await;
    let Some(mut cluster) = Cluster::start(&world).await else { return };
    cluster.succeed(&["teams", "set", "default", "--concurrency", &LIMIT.to_string()]);
    // Each replica sees the limit within a second.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut requests = tokio::task::JoinSet::new();
    let mut start = |address: &str, page: usize| {
        let service = super::Service::at(address);
        let body = json!({ "url": format!("http://list.test/{page}"), "timeout": 300_000 }).to_string();
        requests.spawn(async move {
            // Until the slots of a killed replica are free.
            while service.post("/v2/scrape", body.clone()).await.status == StatusCode::TOO_MANY_REQUESTS {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
    };
    let are_fetched = |pages: std::ops::Range<usize>| {
        let mut urls = super::urls(pages).into_iter();
        urls.all(|url| world.count(&url) == 1)
    };
    // A balancer that sends all requests of a team to one replica does not make its limit smaller.
    (0..LIMIT).for_each(|page| start(&cluster.replica(0).address, page));
    until("the first replica has all slots", || are_fetched(0..LIMIT)).await;
    slots_are_leased(&cluster, LIMIT).await;
    for number in 0..3 {
        let response = cluster.replica(number).get("/v2/team/credit-usage").await;
        assert_eq!(response.status, StatusCode::TOO_MANY_REQUESTS, "{number}: {}", response.body);
    }
    let addresses = [cluster.replica(1).address.clone(), cluster.replica(2).address.clone()];
    cluster.kill(0);
    (LIMIT..2 * LIMIT).for_each(|page| start(&addresses[page % 2], page));
    until("the others have the slots of the killed one", || are_fetched(LIMIT..2 * LIMIT)).await;
    slots_are_leased(&cluster, LIMIT).await;
    for number in 1..3 {
        let response = cluster.replica(number).get("/v2/team/credit-usage").await;
        assert_eq!(response.status, StatusCode::TOO_MANY_REQUESTS, "{number}: {}", response.body);
    }
    requests.abort_all();
}
