//! Runs the official Python SDK against the program.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use websvc_testkit::{Page, TestWeb};

use crate::browser::{path_or_skip, serve};
use crate::harness::{KEY, Service, Site, tea_world};

/// A user's script. Each step prints a line that the test compares.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import BadRequestError, UnauthorizedError

address, key = sys.argv[1], sys.argv[2]
app = Firecrawl(api_key=key, api_url=address)

plain = app.search("green tea water")
first = plain.web[0]
print("plain:", first.url, "|", first.title, "|", bool(first.description))

scraped = app.search("green tea water", scrape_options={"formats": ["markdown"]})
first = scraped.web[0]
print("scraped:", first.metadata.source_url, "|", first.metadata.title, "|", "# Green tea" in first.markdown)

both = app.search("tea", limit=1, sources=["web"], categories=None)
print("limited:", len(both.web))

try:
    Firecrawl(api_key="fc-wrong", api_url=address).search("tea")
    print("wrong key: accepted")
except UnauthorizedError as error:
    print("wrong key: UnauthorizedError", "Invalid token" in str(error))

try:
    app.search("x" * 501)
    print("over limit: accepted")
except BadRequestError as error:
    print("over limit: BadRequestError", "query" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_works_with_the_base_url() {
    let world = tea_world().await;
    let site = Site::new(&world);
    site.succeed(&["index", "crawl", "http://tea.test/", "http://coffee.test/"]);
    let service = site.serve();
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 200);
    let expected = "plain: http://tea.test/green.html | Green tea | True\n\
                    scraped: http://tea.test/green.html | Green tea | True\n\
                    limited: 1\n\
                    wrong key: UnauthorizedError True\n\
                    over limit: BadRequestError True\n";
    check(SCRIPT, &service, expected);
}

/// A script that watches a page. The SDK sends a `maxAge` of four hours with every scrape that has an option.
const WATCHING: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
for _ in range(2):
    formats = ["markdown", {"type": "changeTracking", "modes": ["git-diff"]}]
    changes = app.scrape("http://prices.test/", formats=formats).change_tracking
    print(changes["changeStatus"], changes["previousScrapeAt"] is None)
print([line for line in changes["diff"]["text"].splitlines()[3:] if line[0] in "+-"])
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_sees_changes_at_once() {
    let world = changing_world().await;
    let service = Service::for_world(&world);
    let expected = "new True\nchanged False\n['-Tea costs 1 euros.', '+Tea costs 2 euros.']\n";
    check(WATCHING, &service, expected);
}

/// A script that monitors a page, with every operation of the SDK.
const MONITORING: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])

def run(monitor):
    check = app.run_monitor(monitor.id)
    while check.status in ("queued", "running"):
        check = app.get_monitor_check(monitor.id, check.id)
    return check

targets = [{"type": "scrape", "urls": ["http://prices.test/"]}]
schedule = {"text": "every day at 9:00", "timezone": "Europe/Berlin"}
monitor = app.create_monitor("Prices", schedule, targets, retention_days=7)
print(monitor.schedule.cron, monitor.schedule.timezone, monitor.retention_days, monitor.next_run_at is None)
print(run(monitor).pages[0].status)
changed = run(monitor)
page = changed.pages[0]
print(page.status, [line for line in page.diff.text.splitlines()[3:] if line[0] in "+-"], len(page.diff.json["files"]))
print(changed.summary.changed, changed.billing_status, [check.id for check in app.list_monitor_checks(monitor.id)][0] == changed.id)
updated = app.update_monitor(monitor.id, name="Tea", status="paused")
print(updated.name, updated.status, app.get_monitor(monitor.id).next_run_at, len(app.list_monitors()))
print(app.delete_monitor(monitor.id), app.list_monitors())
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_monitors_a_page() {
    let world = changing_world().await;
    let service = Service::for_world(&world);
    let expected = "0 9 * * * Europe/Berlin 7 False\n\
                    new\n\
                    changed ['-Tea costs 1 euros.', '+Tea costs 2 euros.'] 1\n\
                    1 confirmed True\n\
                    Tea paused None 1\n\
                    True []\n";
    check(MONITORING, &service, expected);
}

/// Serves a page that differs at each visit.
async fn changing_world() -> TestWeb {
    let visits = AtomicU32::new(0);
    let page = move |_: &_| {
        let price = visits.fetch_add(1, Ordering::Relaxed) + 1;
        Page::html(format!(
            "<title>Prices</title><main><h1>Prices</h1><p>Tea costs {price} euros.</p></main>"
        ))
    };
    TestWeb::builder().page_with("http://prices.test/", page).start().await
}

/// A script that starts, uses, lists and ends a browser session. The SDK runs `bash` unless the language is given.
const BROWSING: &str = r##"
import sys
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
session = app.browser(ttl=60, activity_ttl=30, profile={"name": "shop", "save_changes": False}, location={"country": "DE"})
print(session.success, session.cdp_url.startswith("ws://"), session.live_view_url.startswith("http://"))
print([(s.id == session.id, s.status, s.cdp_url == session.cdp_url) for s in app.list_browsers().sessions])
opened = app.browser_execute(session.id, "agent-browser open http://tea.test/green.html && agent-browser get text h1")
print(opened.success, opened.exit_code, opened.killed, opened.stdout.splitlines()[-1])
node = app.browser_execute(session.id, "({ title: await page.title(), url: page.url() })", language="node", timeout=20)
print(node.result, repr(node.stdout), node.error)
failed = app.browser_execute(session.id, "console.log('before'); throw new Error('no tea')", language="node")
print(failed.success, failed.exit_code, failed.stdout.strip(), "no tea" in failed.error, failed.error == failed.stderr)
try:
    app.browser_execute(session.id, "get title", language="python")
except FirecrawlError as error:
    print("execute:", "python is not available" in str(error))
ended = app.delete_browser(session.id)
print(ended.success, ended.session_duration_ms > 0, ended.credits_billed)
print([(s.status, s.cdp_url) for s in app.list_browsers(status="destroyed").sessions])
print(app.list_browsers(status="active").sessions, app.delete_browser(session.id).credits_billed)
try:
    app.browser_execute(session.id, "get title")
except FirecrawlError as error:
    print("ended:", error.status_code, "destroyed" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_controls_browser_sessions() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site, &chromium);
    let expected = "True True True\n\
                    [(True, 'active', True)]\n\
                    True 0 False Green tea\n\
                    {\"title\":\"Green tea\",\"url\":\"http://tea.test/green.html\"} '' None\n\
                    True 1 before True True\n\
                    execute: True\n\
                    True True 2\n\
                    [('destroyed', '')]\n\
                    [] None\n\
                    ended: 410 True\n";
    check(BROWSING, &service, expected);
}

/// A script that interacts with a scraped page. For code that fails, the SDK raises an error with its text.
const INTERACTING: &str = r##"
import sys
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import FirecrawlError

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
scrape = app.scrape("http://tea.test/green.html").metadata.scrape_id
first = app.interact(scrape, "await page.evaluate(() => { document.title = 'Changed' }); await page.locator('h1').textContent()")
print(first.success, first.result, first.exit_code, first.live_view_url.startswith("http://"), first.output)
print(app.interact(scrape, "get title", language="bash", timeout=20).stdout)
for code, prompt in (("throw new Error('no tea')", None), (None, "Click the link")):
    try:
        print(app.interact(scrape, code, prompt=prompt))
    except FirecrawlError as error:
        print("failed:", error.status_code, "no tea" in str(error), "language model" in str(error))
stopped = app.stop_interaction(scrape)
print(stopped.success, stopped.session_duration_ms > 0, stopped.credits_billed, app.stop_interaction(scrape).credits_billed)
try:
    app.interact(scrape, "await page.title()")
except FirecrawlError as error:
    print("ended:", error.status_code, "destroyed" in str(error))
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_interacts_with_a_scraped_page() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = tea_world().await;
    let site = Site::new(&world);
    let service = serve(&site, &chromium);
    let expected = "True Green tea 0 True None\n\
                    Changed\n\n\
                    failed: None True False\n\
                    failed: 501 False True\n\
                    True True 2 None\n\
                    ended: 410 True\n";
    check(INTERACTING, &service, expected);
}

/// Runs a script with the official Python SDK, and compares its output. Without the SDK, the test is skipped.
pub(crate) fn check(script: &str, service: &Service, expected: &str) {
    check_with("WEBSVC_TEST_PYTHON", script, service, expected);
}

/// Does the same with the interpreter that a variable names.
pub(crate) fn check_with(variable: &str, script: &str, service: &Service, expected: &str) {
    let Some(python) = path_or_skip(variable) else { return };
    let output = Command::new(python)
        .args(["-c", script, &service.address, KEY])
        .env_remove("FIRECRAWL_API_KEY")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
