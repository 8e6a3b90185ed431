//! Runs: overlap, deletion during a check, and a killed service.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_testkit::{Page, until};

use super::{MonitorTest, TEA, check_summary, serve, wait_for_end};

/// Lets the page of the monitor respond after a while.
fn slow_page(seconds: u64) -> Option<Page> {
    let page = Page::html("<title>Tea</title><main><h1>Tea</h1><p>Slow tea.</p></main>");
    Some(page.delay(Duration::from_secs(seconds)))
}

#[tokio::test(flavor = "multi_thread")]
async fn second_run_names_the_check_that_is_running() {
    let test = MonitorTest::new().await;
    test.shop.respond(slow_page(3));
    let monitor = test.create(json!({})).await;
    let check = test.start(&monitor).await;
    let second = test.service.post(&format!("{monitor}/run"), "").await;
    assert_eq!(
        (second.status, &second.body["code"]),
        (StatusCode::CONFLICT, &json!("MONITOR_CHECK_RUNNING"))
    );
    assert!(check.ends_with(second.body["checkId"].as_str().unwrap()), "{}", second.body);
    assert_eq!(wait_for_end(&test.service, &check).await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_monitor_ends_its_check_and_its_scrapes() {
    let test = MonitorTest::new().await;
    test.shop.respond(slow_page(60));
    let monitor = test.create(json!({})).await;
    test.start(&monitor).await;
    until("the page is requested", || test.world.requests().iter().any(|request| request.url == TEA)).await;
    assert_eq!(test.service.send(Method::DELETE, &monitor, &[], "").await.status, StatusCode::OK);
    let waiting = async {
        loop {
            let queue = test.service.get("/v2/team/queue-status").await.body;
            if queue["jobsInQueue"] == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(super::TIMEOUT, waiting).await.expect("the scrapes of the check end");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_service_continues_the_check_and_charges_each_page_once() {
    let mut test = MonitorTest::new().await;
    let urls: Vec<Value> =
        std::iter::once(json!(TEA)).chain((0..3).map(|n| json!(format!("{TEA}?n={n}")))).collect();
    let monitor = test.create(json!({ "targets": [{ "type": "scrape", "urls": urls }] })).await;
    test.shop.respond(slow_page(1));
    let check = test.start(&monitor).await;
    let mut requests = 0;
    for _ in 0..2 {
        until("a page is requested", || test.world.requests().len() > requests).await;
        test.service.kill();
        test.service.end();
        requests = test.world.requests().len();
        test.service = serve(&test.site, &[]);
    }
    let ended = wait_for_end(&test.service, &check).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    check_summary(&ended, &json!({ "totalPages": 4, "new": 4 }));
    assert_eq!(ended["actualCredits"], 4);
    let again = test.run(&monitor).await;
    check_summary(&again, &json!({ "totalPages": 4, "same": 4 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_the_checks_by_status() {
    let test = MonitorTest::new().await;
    let monitor = test.create(json!({})).await;
    test.run(&monitor).await;
    test.run(&monitor).await;
    let missing = json!([{ "type": "scrape", "urls": ["http://shop.test/missing"] }]);
    let partial = test.create(json!({ "targets": missing })).await;
    assert_eq!(test.run(&partial).await["status"], "partial");
    let line = |(status, count)| format!("websvc_monitor_checks_total{{status=\"{status}\"}} {count}\n");
    let lines = [("completed", 2), ("partial", 1), ("failed", 0), ("skipped_no_credits", 0)].map(line);
    // A check is counted after its end is stored.
    let polling = async {
        loop {
            let metrics = test.service.text("/metrics").await;
            if lines.iter().all(|line| metrics.contains(line)) {
                return metrics;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let metrics = tokio::time::timeout(super::TIMEOUT, polling).await.expect("the checks are counted");
    // Requests started these checks, so they had no due time.
    assert!(metrics.contains("\nwebsvc_monitor_check_start_delay_seconds_count 0\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_that_start_together_cost_no_more_than_the_team_has() {
    const CREDITS: u64 = 5;
    const PAGES: u64 = 4;
    let test = MonitorTest::new().await;
    test.site.succeed(&["teams", "set", "default", "--credits", &CREDITS.to_string()]);
    test.shop.respond(slow_page(1));
    // Each alone costs no more than the team has.
    let urls: Vec<String> = (0..PAGES).map(|number| format!("{TEA}?n={number}")).collect();
    let targets = json!([{ "type": "scrape", "urls": urls }]);
    let monitors = [(); 3].map(|()| test.create(json!({ "targets": targets })));
    let monitors = futures_util::future::join_all(monitors).await;
    let runs: Vec<String> = monitors.iter().map(|monitor| format!("{monitor}/run")).collect();
    let started = futures_util::future::join_all(runs.iter().map(|run| test.service.post(run, ""))).await;
    let mut checks = Vec::new();
    for (monitor, response) in monitors.iter().zip(started) {
        match response.status {
            StatusCode::OK => {
                checks.push(format!("{monitor}/checks/{}", response.body["id"].as_str().unwrap()));
            }
            // Another check already held credits.
            status => assert_eq!(status, StatusCode::PAYMENT_REQUIRED, "{}", response.body),
        }
    }
    let mut charged = 0;
    for check in &checks {
        let ended = wait_for_end(&test.service, check).await;
        assert_eq!(ended["reservedCredits"], PAGES, "{ended}");
        charged += ended["actualCredits"].as_u64().unwrap();
    }
    assert_eq!(charged, CREDITS.min(PAGES * checks.len() as u64));
    let usage = test.service.get("/v2/team/credit-usage").await.body;
    assert_eq!(usage["data"]["remainingCredits"], CREDITS - charged, "{usage}");
}
