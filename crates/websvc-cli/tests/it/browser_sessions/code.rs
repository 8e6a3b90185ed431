//! Code in the sessions of the program (operations.md, acceptance lists 1 and 2): the sandbox runs it, and the guard holds.

use serde_json::json;

use super::{SESSIONS, SessionTest, path};

#[tokio::test(flavor = "multi_thread")]
async fn program_drives_the_page_and_the_next_one_sees_its_changes() {
    let name = "program_drives_the_page_and_the_next_one_sees_its_changes";
    let Some(test) = SessionTest::start(name).await else { return };
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
    let Some(test) = SessionTest::start("references_of_a_snapshot_serve_later_commands").await else {
        return;
    };
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

#[tokio::test(flavor = "multi_thread")]
async fn failing_and_endless_programs_end_with_their_reason() {
    let name = "failing_and_endless_programs_end_with_their_reason";
    let Some(test) = SessionTest::start(name).await else { return };
    let session = test.create(json!({})).await;
    let failed = test.execute(&session, "node", "throw new Error('no tea')").await;
    assert_eq!(failed["success"], true, "{failed}");
    assert_eq!(failed["exitCode"], 1, "{failed}");
    for field in ["stderr", "error"] {
        assert!(failed[field].as_str().unwrap().contains("no tea"), "{failed}");
    }
    let body = json!({"code": "for (;;);", "timeout": 2}).to_string();
    let endless = test.service.post(&format!("{}/execute", path(&session)), body).await.body;
    assert_eq!((&endless["killed"], &endless["exitCode"]), (&json!(true), &json!(124)), "{endless}");
    let next = test.execute(&session, "node", "1 + 1").await;
    assert_eq!(next["result"], "2", "{next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn program_reaches_neither_private_addresses_nor_the_machine() {
    let name = "program_reaches_neither_private_addresses_nor_the_machine";
    let Some(test) = SessionTest::start(name).await else { return };
    let session = test.create(json!({})).await;
    for code in [
        "await page.goto('http://169.254.169.254/latest/meta-data/')",
        "await page.goto('file:///etc/passwd')",
        "require('fs').readFileSync('/etc/passwd')",
        "process.env.HOME.length",
    ] {
        let refused = test.execute(&session, "node", code).await;
        assert_ne!(refused["exitCode"], 0, "{code}: {refused}");
    }
    let page = test.service.get(SESSIONS).await.body;
    assert_eq!(page["sessions"].as_array().unwrap().len(), 1, "{page}");
}
