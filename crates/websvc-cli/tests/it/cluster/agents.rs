//! Agent runs of several replicas.

use std::ffi::OsString;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{Cluster, REPLICAS, Variables, delete};
use crate::agent::sessions::{SHOP, check_session_events, hesitating, shop};
use crate::agent::{AGENT, MODEL, check_free_credits, hanging, wait_for_data, wait_for_end, wait_until};
use crate::browser::path_or_skip;
use crate::harness::assert_fields;

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_read_and_cancelled_on_any_replica_and_survive_the_loss_of_theirs() {
    let page = Page::html("<title>Tea</title><main><p>A tin of sencha costs 12 euros.</p></main>");
    let world = TestWeb::builder().page("http://shop.test/tea", page);
    let world = FakeModel::with_responder(hanging).serve(world, MODEL).start().await;
    let settings: Variables = [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")]
        .map(|(name, value)| (name, OsString::from(value)))
        .into();
    let Some(mut cluster) = Cluster::start_with(&world, vec![settings; REPLICAS]).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "60"]);
    let body = json!({ "prompt": "What does sencha cost?", "urls": ["http://shop.test/tea"],
        "schema": crate::agent::price_schema() });
    let start = async |number: usize| -> String {
        let response = cluster.replica(number).post(AGENT, body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        format!("{AGENT}/{}", response.body["id"].as_str().unwrap())
    };
    let (cancelled, lost) = (start(0).await, start(0).await);
    for path in [&cancelled, &lost] {
        wait_for_data(cluster.replica(1), path).await;
    }
    assert_eq!(delete(cluster.replica(1), &cancelled).await.status, 200);
    let status = wait_for_end(cluster.replica(2), &cancelled).await;
    assert_fields(&status, &json!({ "status": "failed", "stopReason": "cancelled" }));
    cluster.kill(0);
    let status = wait_for_end(cluster.replica(1), &lost).await;
    assert_eq!(status["stopReason"], "interrupted", "{status}");
    // What the lost replica held is free for the others.
    check_free_credits(cluster.replica(1), 50).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_session_of_a_run_is_shown_by_every_replica_and_lost_with_its_own() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = FakeModel::with_responder(hesitating).serve(shop(), MODEL).start().await;
    let mut settings: Variables = [
        ("WEBSVC__LLM__BASE_URL", MODEL),
        ("WEBSVC__LLM__MODEL", "tiny"),
        ("WEBSVC__BROWSER__CONCURRENCY", "2"),
        ("WEBSVC__REPLICA__ADDRESS", "127.0.0.1"),
    ]
    .map(|(name, value)| (name, OsString::from(value)))
    .into();
    settings.push(("WEBSVC__BROWSER__PATH", chromium.into()));
    let Some(mut cluster) = Cluster::start_with(&world, vec![settings; REPLICAS]).await else { return };
    let body = json!({ "prompt": "List the orders.", "urls": [SHOP], "allowInteract": true }).to_string();
    let started = cluster.replica(0).post(AGENT, body).await;
    assert_eq!(started.status, 200, "{}", started.body);
    let path = format!("{AGENT}/{}", started.body["id"].as_str().unwrap());
    let trace = format!("{path}/trace?liveView=true");
    let is_open =
        |body: &Value| body["activeBrowserSessions"].as_array().is_some_and(|open| !open.is_empty());
    let open = wait_until(cluster.replica(0), &trace, is_open).await["activeBrowserSessions"].clone();
    for number in 1..REPLICAS {
        assert_eq!(cluster.replica(number).get(&trace).await.body["activeBrowserSessions"], open, "{number}");
    }
    cluster.kill(0);
    let status = wait_for_end(cluster.replica(1), &path).await;
    assert_eq!(status["stopReason"], "interrupted", "{status}");
    let ended = cluster.replica(2).get(&trace).await.body;
    assert_eq!(ended["activeBrowserSessions"], json!([]), "{ended}");
    let (started, _) = check_session_events(ended["events"].as_array().unwrap());
    assert_eq!(started["sessionId"], open[0]["id"]);
}
