//! Code in the sessions of the program (operations.md, acceptance lists 1 and 2): the sandbox runs it, and the guard holds.

use serde_json::json;
use websvc_testkit::{Page, TestWeb, until};

use super::{SessionTest, path};

#[tokio::test(flavor = "multi_thread")]
async fn program_drives_the_page_and_the_next_one_sees_its_changes() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let open = "await page.goto('http://click.test/'); await page.getByRole('button').click(); console.log('clicked')";
    let opened = test.execute(&session, "node", open).await;
    assert_eq!((&opened["exitCode"], &opened["stdout"]), (&json!(0), &json!("clicked\n")), "{opened}");
    let read = test.execute(&session, "node", "({ title: await page.title(), url: page.url() })").await;
    assert_eq!(read["result"], r#"{"title":"1","url":"http://click.test/"}"#, "{read}");
    let tabs = "const other = await context.newPage(); await other.goto('http://tea.test/'); page = other; 1";
    test.execute(&session, "node", tabs).await;
    let current = test.execute(&session, "node", "await page.title()").await;
    assert_eq!(current["result"], "Tea", "{current}");
}

#[tokio::test(flavor = "multi_thread")]
async fn references_of_a_snapshot_serve_later_commands() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({})).await;
    let opened = test.execute(&session, "bash", "agent-browser open http://click.test/").await;
    assert_eq!(opened["exitCode"], 0, "{opened}");
    let snapshot = test.execute(&session, "bash", "agent-browser snapshot -i").await;
    assert_eq!(snapshot["stdout"], "- button \"0\" [ref=e1]\n", "{snapshot}");
    let clicked = test.execute(&session, "bash", "agent-browser click @e1\nagent-browser get text @e1").await;
    assert_eq!((&clicked["exitCode"], &clicked["result"]), (&json!(0), &json!("✓ Done\n1")), "{clicked}");
    let shell = test.execute(&session, "bash", "cat /etc/passwd").await;
    assert_ne!(shell["exitCode"], 0, "{shell}");
}

/// A page that blocks its renderer after a while, once.
const LOOP: &str = "<!DOCTYPE html><title>Loop</title><script>setTimeout(() => { for (;;); }, 300)</script>";

async fn start_with_loop() -> Option<SessionTest> {
    let world = TestWeb::builder().page("http://loop.test/", Page::html(LOOP));
    SessionTest::start_with(world).await
}

#[tokio::test(flavor = "multi_thread")]
async fn page_in_an_endless_loop_serves_the_next_program() {
    let Some(test) = start_with_loop().await else { return };
    let session = test.create(json!({})).await;
    let execute = format!("{}/execute", path(&session));
    test.execute(&session, "node", "await page.goto('http://click.test/')").await;
    let body = json!({"code": "await page.evaluate(() => { for (;;); })", "timeout": 2}).to_string();
    let endless = test.service.post(&execute, body).await.body;
    assert_eq!((&endless["killed"], &endless["exitCode"]), (&json!(true), &json!(124)), "{endless}");
    // The page is still the same.
    let next = test.execute(&session, "node", "await page.textContent('button')").await;
    assert_eq!(next["result"], "0", "{next}");
    let goto = "await page.goto('http://loop.test/'); await page.waitForTimeout(600); 'left'";
    assert_eq!(test.execute(&session, "node", goto).await["result"], "left");
    let title = test.execute(&session, "bash", "agent-browser get title").await;
    assert_eq!(title["result"], "Loop", "{title}");
    // In another tab, which the next program does not use.
    let tab = "const tab = await context.newPage(); await tab.goto('http://loop.test/'); await page.waitForTimeout(600); 1";
    assert_eq!(test.execute(&session, "node", tab).await["result"], "1");
    let both = "(await Promise.all(context.pages().map(page => page.title()))).join()";
    let both = test.execute(&session, "node", both).await;
    assert_eq!(both["result"], "Loop,Loop", "{both}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deletion_of_a_session_stops_its_code() {
    let requested = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&requested);
    let world = TestWeb::builder().page_with("http://started.test/", move |_| {
        seen.store(true, std::sync::atomic::Ordering::Release);
        Page::html("<p>started</p>")
    });
    let Some(test) = SessionTest::start_with(world).await else { return };
    let session = test.create(json!({})).await;
    let execute = format!("{}/execute", path(&session));
    // After the page was opened, the program waits for nothing of the browser.
    let code =
        "await page.goto('http://started.test/'); await new Promise(() => setTimeout(() => {}, 1000000))";
    let running = test.service.post(&execute, json!({"code": code, "timeout": 300}).to_string());
    let is_running =
        || async { until("the program runs", || requested.load(std::sync::atomic::Ordering::Acquire)).await };
    let waiting = async {
        is_running().await;
        test.service.post(&execute, r#"{"code": "1"}"#).await
    };
    let deleting = async {
        is_running().await;
        test.delete(&session).await
    };
    let (running, waiting, deleted) = tokio::join!(running, waiting, deleting);
    assert_eq!(deleted.status, 200, "{}", deleted.body);
    let after = test.service.post(&execute, r#"{"code": "1"}"#).await;
    assert_eq!(after.status, 410, "{}", after.body);
    for stopped in [running, waiting] {
        assert_eq!(
            (stopped.status, &stopped.body["code"]),
            (after.status, &after.body["code"]),
            "{}",
            stopped.body
        );
    }
}
