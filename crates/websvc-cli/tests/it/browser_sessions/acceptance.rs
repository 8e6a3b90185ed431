//! Acceptance lists 1 and 2 of operations.md, as far as other tests do not cover them: programs in the page of a scrape, its
//! refusals, and the official Python SDK.

use http::Method;
use serde_json::{Value, json};

use super::{SESSIONS, SessionTest};
use crate::browser::path_or_skip;
use crate::harness::{KEY, assert_fields};

impl SessionTest {
    /// Scrapes the page of a test with these options, and returns the path of its session.
    async fn scrape(&self, mut options: Value) -> String {
        options["url"] = "http://tea.test/".into();
        let scraped = self.service.post("/v2/scrape", options.to_string()).await;
        assert_eq!(scraped.status, 200, "{}", scraped.body);
        let id = &scraped.body["data"]["metadata"]["scrapeId"];
        format!("/v2/scrape/{}/interact", id.as_str().unwrap_or_else(|| panic!("{}", scraped.body)))
    }

    async fn interact(&self, path: &str, body: Value) -> Value {
        let response = self.service.post(path, body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        response.body
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn program_finds_the_page_of_a_scrape_as_the_previous_one_left_it() {
    let Some(test) = SessionTest::start().await else { return };
    let script = "window.mark = 'left by an action'; window.open('about:blank')";
    let actions = json!([{"type": "executeJavascript", "script": script}]);
    let path = test.scrape(json!({ "actions": actions })).await;
    let read = "console.log(await page.evaluate(() => window.mark)); [context.pages().length, page.url()]";
    let first = test.interact(&path, json!({ "code": read })).await;
    assert_fields(&first, &json!({ "success": true, "stdout": "left by an action\n" }));
    assert_eq!(first["result"], r#"[1,"http://tea.test/"]"#, "one tab is open, the page of the scrape");
    let change = "await page.evaluate(() => { document.querySelector('h1').textContent = 'Coffee' }); 1";
    test.interact(&path, json!({ "code": change })).await;
    let second = test.interact(&path, json!({"code": "await page.textContent('h1')"})).await;
    assert_eq!(second["result"], "Coffee", "{second}");
    let object = test.interact(&path, json!({"code": "({ a: [1, 'x'] })"})).await;
    assert_eq!(object["result"], r#"{"a":[1,"x"]}"#, "{object}");
    for (code, reason) in [
        ("throw new Error('no tea')", "no tea"),
        ("await page.goto('http://10.0.0.1/')", "ERR_"),
        ("await page.goto('http://169.254.169.254/latest/meta-data/')", "ERR_"),
    ] {
        let failed = test.interact(&path, json!({ "code": code })).await;
        assert_eq!((&failed["success"], &failed["exitCode"]), (&json!(false), &json!(1)), "{failed}");
        for field in ["stderr", "error"] {
            assert!(failed[field].as_str().unwrap().contains(reason), "{code}: {failed}");
        }
    }
    let endless = test.interact(&path, json!({"code": "for (;;);", "timeout": 2})).await;
    assert_fields(&endless, &json!({ "success": false, "killed": true, "exitCode": 124 }));
    let ended = test.service.send(Method::DELETE, &path, &[], String::new()).await;
    assert_eq!((ended.status.as_u16(), &ended.body["creditsBilled"]), (200, &json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_that_leaves_no_data_opens_no_session() {
    let Some(test) = SessionTest::start().await else { return };
    test.site.succeed(&["teams", "set", "default", "--zdr", "allowed"]);
    // The page that a lockdown reads from the cache.
    test.scrape(json!({})).await;
    for options in [json!({"zeroDataRetention": true}), json!({"lockdown": true})] {
        let path = test.scrape(options.clone()).await;
        let refused = test.service.post(&path, r#"{"code": "1"}"#).await;
        assert_eq!(refused.status, 409, "{options} {}", refused.body);
        let error = refused.body["error"].as_str().unwrap();
        assert!(error.contains("Replay context is unavailable"), "{error}");
    }
    assert_eq!(test.service.get(SESSIONS).await.body["sessions"], json!([]));
}

/// A script that uses sessions.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
session = app.browser(ttl=120, activity_ttl=60)
print("created", session.success, session.cdp_url.startswith("ws://"), session.expires_at[-1])
print("node", app.browser_execute(session.id, "await page.goto('http://tea.test/'); await page.title()", language="node").result)
print("bash", app.browser_execute(session.id, "agent-browser get title").result)
failed = app.browser_execute(session.id, "throw new Error('no tea')", language="node")
print("failed", failed.success, failed.exit_code, "no tea" in failed.error)
listed = app.list_browsers()
print("listed", [(one.id == session.id, one.status, one.stream_web_view) for one in listed.sessions])
ended = app.delete_browser(session.id)
print("ended", ended.success, ended.credits_billed, ended.session_duration_ms > 0)
listed = app.list_browsers(status="destroyed")
print("listed", [(one.id == session.id, one.status, one.cdp_url) for one in listed.sessions])
print("active", app.list_browsers(status="active").sessions)
page = app.scrape("http://tea.test/")
print("scraped", app.interact(page.metadata.scrape_id, "await page.title()").result)
print("stopped", app.stop_interaction(page.metadata.scrape_id).credits_billed)
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_uses_sessions() {
    let Some(python) = path_or_skip("WEBSVC_TEST_PYTHON") else { return };
    let Some(test) = SessionTest::start().await else { return };
    let mut command = tokio::process::Command::new(python);
    command.args(["-c", SCRIPT, &test.service.address, KEY]).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let expected = "created True True Z\nnode Tea\nbash Tea\nfailed True 1 True\nlisted [(True, 'active', True)]\n\
                    ended True 2 True\nlisted [(True, 'destroyed', '')]\nactive []\nscraped Tea\nstopped 2\n";
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout, expected, "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn storage_of_a_session_is_not_visible_to_another() {
    let Some(test) = SessionTest::start().await else { return };
    let (session, other) = tokio::join!(test.create(json!({})), test.create(json!({})));
    let write = "await page.goto('http://tea.test/');
        await page.evaluate(() => { localStorage.setItem('own', '1'); document.cookie = 'own=1' }); 1";
    assert_eq!(test.execute(&session, "node", write).await["result"], "1");
    let read = "await page.goto('http://tea.test/');
        await page.evaluate(() => localStorage.getItem('own') + '|' + document.cookie)";
    assert_eq!(test.execute(&other, "node", read).await["result"], "null|");
}
