//! What a browser does not do, and what is said without one.

use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, World};

use super::{Stage, TEA, provided};
use crate::harness::Service;

#[tokio::test]
async fn a_page_in_the_browser_reaches_nothing_that_the_guard_refuses() {
    let test = "a_page_in_the_browser_reaches_nothing_that_the_guard_refuses";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let html = format!(
        "<h1>A page that looks around</h1><p id=out>nothing yet</p><img src={target}i><iframe src={target}f></iframe>
         <script>fetch('{target}x', {{mode: 'no-cors'}}).then(() => out.textContent = 'reached',
         () => out.textContent = 'refused')</script>"
    );
    let world = World::builder().page("http://spy.test/", Page::html(html));
    let stage = Stage::start(world, chromium, &["http://spy.test/"]).await;
    let (page, warning) = stage.scrape("spy.test", json!({"formats": ["markdown"], "waitFor": 300})).await;
    assert!(page["markdown"].as_str().unwrap_or_default().contains("refused"), "{page}");
    assert!(warning.as_str().unwrap_or_default().contains("refused a connection to 127.0.0.1"), "{warning}");
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn without_a_browser_nothing_is_silently_left_out() {
    let world = World::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let service = Service::of(&world);
    let request = |options: Value| json!({"query": "tea", "scrapeOptions": options});
    let answer =
        service.search(request(json!({"actions": [{"type": "scrape"}], "formats": ["markdown"]}))).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (400, &json!("SCRAPE_ACTIONS_NOT_SUPPORTED")));
    for (options, named) in [
        (json!({"formats": ["screenshot"]}), "screenshot"),
        (json!({"formats": ["markdown"], "waitFor": 5}), "waitFor"),
    ] {
        let answer = service.search(request(options)).await;
        let warning = answer.body["warning"].as_str().unwrap();
        assert!(warning.contains(named) && !warning.contains("there is no screenshot"), "{warning}");
    }
}

#[tokio::test]
async fn more_actions_or_more_waiting_than_there_may_be_is_refused() {
    let service = Service::of(&World::builder().start().await);
    let many: Vec<Value> = (0..51).map(|_| json!({"type": "scrape"})).collect();
    let waits = json!([{"type": "wait", "milliseconds": 40_000}, {"type": "wait", "milliseconds": 15_000}]);
    for (options, code, says) in [
        (json!({"actions": many}), "too_long", "at most 50 items, not 51"),
        (json!({"actions": waits, "waitFor": 5001}), "too_big", "at most 60000 ms in all, not 60001"),
    ] {
        let answer = service.search(json!({"query": "tea", "scrapeOptions": options})).await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        let violation = &answer.body["details"][0];
        assert_eq!(violation["path"], "/scrapeOptions/actions", "{violation}");
        let message = violation["message"].as_str().unwrap_or_default();
        assert!(violation["code"] == code && message.contains(says), "{violation}");
    }
}
