//! Whose turn it is: teams share, and who waits for an answer has room of their own.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb};

use super::serve_with;
use crate::batch::{delete, ended, start_at};
use crate::harness::Site;

const BATCH: &str = "/v2/batch/scrape";

/// Serves so many pages of a host.
fn list(host: &str, pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://{host}.test/{number}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_teams_take_turns_however_much_one_of_them_wants() {
    const MUCH: usize = 60;
    const LITTLE: usize = 12;
    let mut world = TestWeb::builder();
    for url in list("much", MUCH).into_iter().chain(list("little", LITTLE)) {
        world = world.page(&url, Page::html("<title>x</title><p>Text.").delay(Duration::from_millis(20)));
    }
    let world = world.start().await;
    let site = Site::new(&world);
    let key = |team| site.succeed(&["keys", "create", "--team", team]).trim().to_owned();
    let (one, other) = (key("one"), key("other"));
    let mut service = serve_with(
        &site,
        &[
            ("WEBSVC__JOBS__CONCURRENCY", "1"),
            ("WEBSVC__JOBS__PER_HOST", "8"),
            ("WEBSVC__JOBS__PAUSE", "asked"),
        ],
    );
    service.key.clone_from(&one);
    let much = start_at(&service, BATCH, json!({ "urls": list("much", MUCH) })).await;
    service.key = other;
    let little = start_at(&service, BATCH, json!({ "urls": list("little", LITTLE) })).await;
    assert_eq!(ended(&service, &little).await["completed"], json!(LITTLE));
    let asked: Vec<bool> =
        world.requests().iter().map(|seen| seen.url.starts_with("http://little.test")).collect();
    let from = asked.iter().position(|is_little| *is_little).unwrap();
    let to = asked.iter().rposition(|is_little| *is_little).unwrap();
    let turns = &asked[from..=to];
    assert!(turns.windows(2).all(|pair| pair[0] != pair[1]), "one after the other: {turns:?}");
    service.key = one;
    delete(&service, &much).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_page_does_not_wait_for_jobs() {
    let mut world =
        TestWeb::builder().page("http://quick.test/", Page::html("<title>Quick</title><p>Quick."));
    for number in 0..12 {
        world = world.page(&format!("http://slow{number}.test/"), Page::unresponsive());
    }
    let world = world.start().await;
    let site = Site::new(&world);
    let service =
        serve_with(&site, &[("WEBSVC__FETCH__CONCURRENCY", "4"), ("WEBSVC__JOBS__CONCURRENCY", "100")]);
    let urls: Vec<String> = (0..12).map(|number| format!("http://slow{number}.test/")).collect();
    let path = start_at(&service, BATCH, json!({ "urls": urls })).await;
    for number in 0..2 {
        world.wait_for_request(&format!("http://slow{number}.test/")).await;
    }
    // Jobs have half of the places, and none of these pages ever comes.
    let body = json!({ "url": "http://quick.test/", "maxAge": 0, "timeout": 20_000 });
    let answer = service.post("/v2/scrape", body.to_string()).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.body["success"]),
        (200, &Value::Bool(true)),
        "{}",
        answer.body
    );
    let asked = world.requests().iter().filter(|seen| seen.url.contains("slow")).count();
    assert_eq!(asked, 2, "no more than half");
    delete(&service, &path).await;
}
