//! Tests of requests that a browser rejects, and of errors without a browser.

use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, TestWeb};

use super::{Stage, TEA, provided};
use crate::harness::{KEY, Service, Site};

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
    let world = TestWeb::builder().page("http://spy.test/", Page::html(html));
    let stage = Stage::start(world, chromium, &["http://spy.test/"]).await;
    let (page, warning) = stage.scrape("spy.test", json!({"formats": ["markdown"], "waitFor": 300})).await;
    assert!(page["markdown"].as_str().unwrap_or_default().contains("refused"), "{page}");
    assert!(
        warning.as_str().unwrap_or_default().contains("connection of the page to 127.0.0.1 was blocked"),
        "{warning}"
    );
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn page_that_takes_too_much_memory_fails_alone_and_says_why() {
    let test = "page_that_takes_too_much_memory_fails_alone_and_says_why";
    let Some(chromium) = provided("WEBSVC_TEST_CHROMIUM", test) else { return };
    let large = "<h1>Large</h1><script>const kept = []; setInterval(() => {
        const memory = new WebAssembly.Memory({initial: 160});
        new Uint8Array(memory.buffer).fill(1); kept.push(memory) }, 10)</script>";
    let world = TestWeb::builder().page("http://large.test/", Page::html(large));
    let world = world.page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("WEBSVC_API_KEY", KEY)
        .env("WEBSVC__BROWSER__CONCURRENCY", "2")
        .env("WEBSVC__BROWSER__PATH", chromium);
    let service = Service::start(command.env("WEBSVC__BROWSER__PAGE_MEMORY_BYTES", "300000000"));
    let scrape = |url: &str, wait: u64| {
        let body = json!({"url": url, "formats": ["markdown"], "waitFor": wait, "timeout": 60_000});
        service.post("/v2/scrape", body.to_string())
    };
    let (failed, beside) =
        tokio::join!(scrape("http://large.test/", 25_000), scrape("http://tea.test/", 5_000));
    assert_eq!(failed.status, 500, "{}", failed.body);
    assert_eq!(failed.body["code"], "SCRAPE_MEMORY_EXCEEDED", "{}", failed.body);
    let error = failed.body["error"].as_str().unwrap_or_default();
    assert!(error.contains("it used more than 286 MiB of memory"), "{error}");
    assert_eq!(beside.status, 200, "{}", beside.body);
    assert!(beside.body["data"]["markdown"].to_string().contains("A script wrote this"), "{}", beside.body);
    let figures = service.text("/metrics").await;
    for line in [
        "websvc_browser_pages_failed_total{kind=\"memory_exceeded\"} 1",
        "websvc_browser_processes_total{event=\"started\"} 1",
    ] {
        assert!(figures.lines().any(|found| found == line), "{line}\n{figures}");
    }
    service.stop();
}

#[tokio::test]
async fn without_a_browser_nothing_is_silently_left_out() {
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
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
        assert!(warning.contains(named) && !warning.contains("no screenshot:"), "{warning}");
    }
}

#[tokio::test]
async fn more_actions_or_more_waiting_than_there_may_be_is_refused() {
    let service = Service::of(&TestWeb::builder().start().await);
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
