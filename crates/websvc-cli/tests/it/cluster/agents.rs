//! Agent runs of several replicas.

use std::ffi::OsString;

use serde_json::json;
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{Cluster, REPLICAS, Variables, delete};
use crate::agent::{AGENT, MODEL, check_free_credits, hanging, wait_for_data, wait_for_end};

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
    assert_eq!(
        (&status["status"], &status["stopReason"]),
        (&json!("failed"), &json!("cancelled")),
        "{status}"
    );
    cluster.kill(0);
    let status = wait_for_end(cluster.replica(1), &lost).await;
    assert_eq!(status["stopReason"], "interrupted", "{status}");
    // What the lost replica held is free for the others.
    check_free_credits(cluster.replica(1), 50).await;
}
