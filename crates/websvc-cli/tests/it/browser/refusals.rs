//! Tests of blocked connections, exceeded limits, and requests without a browser.

use serde_json::{Value, json};
use websvc_testkit::{Canary, Page, TestWeb};

use super::{BrowserTest, TEA, path_or_skip};
use crate::harness::{Service, Site};

#[tokio::test]
async fn rendered_page_reaches_no_address_that_the_guard_refuses() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let canary = Canary::start().await;
    let target = format!("http://{}/", canary.addr());
    let html = format!(
        "<h1>A page that looks around</h1><p id=out>nothing yet</p><img src={target}i><iframe src={target}f></iframe>
         <script>fetch('{target}x', {{mode: 'no-cors'}}).then(() => out.textContent = 'reached',
         () => out.textContent = 'refused')</script>"
    );
    let world = TestWeb::builder().page("http://spy.test/", Page::html(html));
    let browser = BrowserTest::start(world, chromium, &["http://spy.test/"]).await;
    let (page, warning) = browser.scrape("spy.test", json!({"formats": ["markdown"], "waitFor": 300})).await;
    assert!(page["markdown"].as_str().unwrap_or_default().contains("refused"), "{page}");
    assert!(
        warning.as_str().unwrap_or_default().contains("connection of the page to 127.0.0.1 was blocked"),
        "{warning}"
    );
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn page_over_the_memory_limit_fails_alone_with_a_reason() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let large = "<h1>Large</h1><script>const memories = []; setInterval(() => {
        const memory = new WebAssembly.Memory({initial: 160});
        new Uint8Array(memory.buffer).fill(1); memories.push(memory) }, 10)</script>";
    let world = TestWeb::builder().page("http://large.test/", Page::html(large));
    let world = world.page("http://tea.test/", Page::html(TEA)).start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command.env("WEBSVC__BROWSER__CONCURRENCY", "2").env("WEBSVC__BROWSER__PATH", chromium);
    let service = Service::start(command.env("WEBSVC__BROWSER__PAGE_MEMORY_BYTES", "300000000"));
    let scrape = |url: &str, wait: u64| {
        let body = json!({"url": url, "formats": ["markdown"], "waitFor": wait, "timeout": 60_000});
        service.post("/v2/scrape", body.to_string())
    };
    let (failed, other) =
        tokio::join!(scrape("http://large.test/", 25_000), scrape("http://tea.test/", 5_000));
    assert_eq!(failed.status, 500, "{}", failed.body);
    assert_eq!(failed.body["code"], "SCRAPE_MEMORY_EXCEEDED", "{}", failed.body);
    let error = failed.body["error"].as_str().unwrap_or_default();
    assert!(error.contains("it used more than 286 MiB of memory"), "{error}");
    assert_eq!(other.status, 200, "{}", other.body);
    assert!(other.body["data"]["markdown"].to_string().contains("A script wrote this"), "{}", other.body);
    let metrics = service.text("/metrics").await;
    for line in [
        "websvc_browser_pages_failed_total{kind=\"memory_exceeded\"} 1",
        "websvc_browser_processes_total{event=\"started\"} 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    service.stop();
}

#[tokio::test]
async fn missing_browser_is_reported_in_warnings_and_errors() {
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let service = Service::for_world(&world);
    let request = |options: Value| json!({"query": "tea", "scrapeOptions": options});
    let response =
        service.search(request(json!({"actions": [{"type": "scrape"}], "formats": ["markdown"]}))).await;
    assert_eq!(
        (response.status.as_u16(), &response.body["code"]),
        (400, &json!("SCRAPE_ACTIONS_NOT_SUPPORTED"))
    );
    for (options, option) in [
        (json!({"formats": ["screenshot"]}), "screenshot"),
        (json!({"formats": ["markdown"], "waitFor": 5}), "waitFor"),
    ] {
        let response = service.search(request(options)).await;
        let warning = response.body["warning"].as_str().unwrap();
        assert!(warning.contains(option) && !warning.contains("no screenshot:"), "{warning}");
    }
}
