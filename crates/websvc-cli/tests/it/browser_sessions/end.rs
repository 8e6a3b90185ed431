//! The end of sessions: without use, with the browser, and with the program. Nothing of them is left.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SessionTest, path};
use crate::browser::serve;

/// Returns the processes, other than zombies, whose group is that of a child of the service: its browsers.
pub(super) fn browser_groups(service: u32) -> Vec<String> {
    let mut groups: Vec<String> = processes()
        .into_iter()
        .filter(|process| process.parent == service.to_string())
        .map(|p| p.group)
        .collect();
    groups.retain(|group| *group != service.to_string());
    groups.sort();
    groups.dedup();
    groups
}

struct Process {
    group: String,
    parent: String,
}

fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let read = stats.filter_map(|stat| {
        let fields: Vec<String> =
            stat.rsplit(')').next()?.split_ascii_whitespace().map(str::to_owned).collect();
        (fields[0] != "Z").then(|| Process { parent: fields[1].clone(), group: fields[2].clone() })
    });
    read.collect()
}

pub(super) async fn wait_until_gone(groups: &[String]) {
    let gone = async {
        while processes().iter().any(|process| groups.contains(&process.group)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("all browser processes end");
}

impl SessionTest {
    async fn wait_until_destroyed(&self, session: &Value) {
        let destroyed = async {
            while self.listed(session).await["status"] != "destroyed" {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(100), destroyed).await.expect("the session ends");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unused_session_ends() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({"activityTtl": 10})).await;
    let groups = browser_groups(test.service.id());
    assert_eq!(groups.len(), 1, "each session has a browser of its own");
    test.wait_until_destroyed(&session).await;
    wait_until_gone(&groups).await;
    let execute = test.service.post(&format!("{}/execute", path(&session)), r#"{"code": "1"}"#).await;
    assert_eq!(execute.status, 410, "{}", execute.body);
    let ended = test.delete(&session).await;
    assert_eq!((ended.status.as_u16(), &ended.body["creditsBilled"]), (200, &Value::Null));
    assert!(ended.body["sessionDurationMs"].as_u64().unwrap() >= 10_000, "{}", ended.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn ttl_ends_a_session_that_is_in_use() {
    let Some(test) = SessionTest::start().await else { return };
    let session = test.create(json!({"ttl": 30, "activityTtl": 3600})).await;
    let execute = format!("{}/execute", path(&session));
    // Each program is use of the session, and waits in the browser.
    let program = json!({"code": "await page.waitForTimeout(2000)", "timeout": 20}).to_string();
    let mut runs = 0;
    let refused = loop {
        let response = test.service.post(&execute, program.clone()).await;
        if response.status != 200 {
            break response;
        }
        runs += 1;
        assert!(runs < 60, "the session does not end");
    };
    assert_eq!(refused.status, 410, "{}", refused.body);
    assert!(runs > 1, "the session was in use");
    let ended = test.delete(&session).await;
    assert!(ended.body["sessionDurationMs"].as_u64().unwrap() >= 30_000, "{}", ended.body);
    let metrics = test.service.text("/metrics").await;
    assert!(metrics.contains("websvc_browser_sessions_ended_total{reason=\"expired\"} 1\n"), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_browser_ends_its_session_only() {
    let Some(test) = SessionTest::start().await else { return };
    let first = test.create(json!({})).await;
    let groups = browser_groups(test.service.id());
    let second = test.create(json!({})).await;
    assert_eq!(browser_groups(test.service.id()).len(), 2);
    let status = std::process::Command::new("kill").args(["-9", &groups[0]]).status().unwrap();
    assert!(status.success());
    test.wait_until_destroyed(&first).await;
    wait_until_gone(&groups).await;
    assert_eq!(test.listed(&second).await["status"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn restart_destroys_sessions_and_leaves_no_browser() {
    let Some(mut test) = SessionTest::start().await else { return };
    let chromium = std::env::var_os("WEBSVC_TEST_CHROMIUM").unwrap();
    for kills in [true, false] {
        let session = test.create(json!({"profile": {"name": "shop"}})).await;
        let groups = browser_groups(test.service.id());
        assert_eq!(groups.len(), 1);
        if kills {
            test.service.kill();
        } else {
            test.service.terminate();
        }
        test.service.end();
        wait_until_gone(&groups).await;
        test.service = serve(&test.site, std::path::Path::new(&chromium));
        let listed = test.listed(&session).await;
        assert_eq!((&listed["status"], &listed["liveViewUrl"]), (&json!("destroyed"), &json!("")));
        let execute = format!("{}/execute", path(&session));
        assert_eq!(test.service.post(&execute, r#"{"code": "1"}"#).await.status, 410);
        // A killed program leaves the lease of its profile, which expires.
        let free = async {
            while test
                .service
                .post(super::SESSIONS, r#"{"profile": {"name": "shop"}, "ttl": 30}"#)
                .await
                .status
                != 200
            {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(100), free).await.expect("the profile is free");
        let active = test.service.get("/v2/browser?status=active").await.body["sessions"].clone();
        assert_eq!(test.delete(&active[0]).await.status, 200);
    }
}
