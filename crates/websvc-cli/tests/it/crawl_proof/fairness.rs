//! Tests of scheduling: teams share the capacity of jobs, and direct requests do not queue behind jobs.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::serve_with;
use crate::batch::{delete, start_at, wait_for_end};
use crate::harness::Site;

const BATCH: &str = "/v2/batch/scrape";

/// Returns the URLs of `pages` pages of a host.
fn urls(host: &str, pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://{host}.test/{number}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_two_teams_alternate() {
    const MANY: usize = 60;
    const FEW: usize = 12;
    let mut world = TestWeb::builder();
    for url in urls("many", MANY).into_iter().chain(urls("few", FEW)) {
        world = world.page(&url, Page::html("<title>x</title><p>Text.").delay(Duration::from_millis(20)));
    }
    let world = world.start().await;
    let site = Site::new(&world);
    let key = |team| site.create_key(&["--team", team]);
    let (one, other) = (key("one"), key("other"));
    let mut service = serve_with(
        &site,
        &[
            ("WEBSVC__JOBS__CONCURRENCY", "1"),
            ("WEBSVC__JOBS__MAX_PER_HOST", "8"),
            ("WEBSVC__JOBS__PACE", "requested"),
        ],
    );
    service.key.clone_from(&one);
    let many = start_at(&service, BATCH, json!({ "urls": urls("many", MANY) })).await;
    service.key = other;
    let few = start_at(&service, BATCH, json!({ "urls": urls("few", FEW) })).await;
    assert_eq!(wait_for_end(&service, &few).await["completed"], json!(FEW));
    let requests: Vec<bool> =
        world.requests().iter().map(|request| request.url.starts_with("http://few.test")).collect();
    let first = requests.iter().position(|is_few| *is_few).unwrap();
    let last = requests.iter().rposition(|is_few| *is_few).unwrap();
    let order = &requests[first..=last];
    assert!(order.windows(2).all(|pair| pair[0] != pair[1]), "the teams do not alternate: {order:?}");
    service.key = one;
    delete(&service, &many).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_does_not_queue_behind_jobs() {
    let mut world =
        TestWeb::builder().page("http://quick.test/", Page::html("<title>Quick</title><p>Quick."));
    for number in 0..12 {
        world = world.page(&format!("http://slow{number}.test/"), Page::unresponsive());
    }
    let world = world.start().await;
    let site = Site::new(&world);
    let service =
        serve_with(&site, &[("WEBSVC__FETCH__CONCURRENCY", "4"), ("WEBSVC__JOBS__CONCURRENCY", "100")]);
    let slow: Vec<String> = (0..12).map(|number| format!("http://slow{number}.test/")).collect();
    let path = start_at(&service, BATCH, json!({ "urls": slow })).await;
    for number in 0..2 {
        world.wait_for_request(&format!("http://slow{number}.test/")).await;
    }
    // Jobs may use half of the fetch concurrency, and none of these pages ever responds.
    let body = json!({ "url": "http://quick.test/", "maxAge": 0, "timeout": 20_000 });
    let response = service.post("/v2/scrape", body.to_string()).await;
    assert_eq!(
        (response.status.as_u16(), &response.body["success"]),
        (200, &Value::Bool(true)),
        "{}",
        response.body
    );
    let in_flight = world.requests().iter().filter(|request| request.url.contains("slow")).count();
    assert_eq!(in_flight, 2, "jobs use more than half of the concurrency");
    delete(&service, &path).await;
}
