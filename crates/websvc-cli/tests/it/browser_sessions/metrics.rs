//! The metrics of sessions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::live::Viewer;
use super::{SESSIONS, SessionTest, path};
use crate::harness::Service;

/// Returns the samples about sessions.
async fn scrape(service: &Service) -> BTreeMap<String, u64> {
    let metrics = service.text("/metrics").await;
    let samples = metrics.lines().filter_map(|line| line.strip_prefix("websvc_browser_session"));
    let read = samples.filter_map(|line| {
        let (name, value) = line.rsplit_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    });
    read.collect()
}

async fn execute(test: &SessionTest, session: &Value, language: &str, code: &str) {
    let body = json!({"code": code, "language": language, "timeout": 2}).to_string();
    let response = test.service.post(&format!("{}/execute", path(session)), body).await;
    assert_eq!(response.status, 200, "{}", response.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_sessions_their_ends_programs_and_viewers() {
    let Some(test) = SessionTest::start().await else { return };
    let before = scrape(&test.service).await;
    assert_eq!((before["s"], before["s_started_total"]), (0, 0), "{before:?}");
    let session = test.create(json!({"profile": {"name": "shop"}})).await;
    let locked = test.service.post(SESSIONS, r#"{"profile": {"name": "shop"}}"#).await;
    assert_eq!(locked.status, 409, "{}", locked.body);
    execute(&test, &session, "node", "1 + 1").await;
    execute(&test, &session, "node", "throw new Error('no tea')").await;
    execute(&test, &session, "node", "for (;;);").await;
    execute(&test, &session, "bash", "agent-browser get url").await;
    let mut viewer = Viewer::connect(&test, &session["liveViewUrl"]).await;
    viewer.frame().await;
    let during = scrape(&test.service).await;
    for (sample, expected) in [
        ("s", 1),
        ("s_started_total", 1),
        ("s_failed_total{reason=\"profile\"}", 1),
        ("s_failed_total{reason=\"limit\"}", 0),
        ("s_ended_total{reason=\"deleted\"}", 0),
        ("_connections{kind=\"viewer\"}", 1),
        ("_connections{kind=\"client\"}", 0),
        ("_programs_total{language=\"node\",outcome=\"succeeded\"}", 1),
        ("_programs_total{language=\"node\",outcome=\"failed\"}", 1),
        ("_programs_total{language=\"node\",outcome=\"killed\"}", 1),
        ("_programs_total{language=\"bash\",outcome=\"succeeded\"}", 1),
        ("_duration_seconds_count", 0),
    ] {
        assert_eq!(during.get(sample), Some(&expected), "{sample}: {during:#?}");
    }
    assert_eq!(test.delete(&session).await.status, 200);
    let after = scrape(&test.service).await;
    let ended = (after["s"], after["s_ended_total{reason=\"deleted\"}"], after["_duration_seconds_count"]);
    assert_eq!(ended, (0, 1, 1), "{after:#?}");
    assert_eq!(after["_connections{kind=\"viewer\"}"], 0, "{after:#?}");
}
