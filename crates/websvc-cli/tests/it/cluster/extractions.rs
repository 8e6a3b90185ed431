//! Extractions of several replicas.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb, until};

use super::{Cluster, REPLICAS, Variables};
use crate::agent::{MODEL, wait_for_end};
use crate::harness::assert_fields;

const EXTRACT: &str = "/v2/extract";
const TEA: &str = "http://shop.test/tea";
const COFFEE: &str = "http://shop.test/coffee";

/// Reads the name of a drink, but never that of the tea.
fn hanging_on_tea(body: &Value) -> Page {
    let is_tea = FakeModel::prompt_text(body).contains("A tin of sencha");
    let answer = FakeModel::json(&json!({ "name": if is_tea { "sencha" } else { "arabica" } }));
    if is_tea { answer.delay(Duration::from_secs(600)) } else { answer }
}

#[tokio::test(flavor = "multi_thread")]
async fn extractions_are_read_on_any_replica_and_survive_the_loss_of_theirs() {
    let page = |name: &str| {
        Page::html(format!(
            "<title>{name}</title><main><p>A tin of {name} costs 12 euros in this shop.</p></main>"
        ))
    };
    let world = TestWeb::builder().page(TEA, page("sencha")).page(COFFEE, page("arabica"));
    let world = FakeModel::with_responder(hanging_on_tea).serve(world, MODEL).start().await;
    let settings: Variables = [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")]
        .map(|(name, value)| (name, OsString::from(value)))
        .into();
    let Some(mut cluster) = Cluster::start_with(&world, vec![settings; REPLICAS]).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "100"]);
    let start = async |number: usize, url: &str| -> String {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let body = json!({ "prompt": "The drink", "urls": [url], "schema": schema }).to_string();
        let response = cluster.replica(number).post(EXTRACT, body).await;
        assert_eq!(response.status, 200, "{}", response.body);
        format!("{EXTRACT}/{}", response.body["id"].as_str().unwrap())
    };
    let (done, lost) = (start(0, COFFEE).await, start(0, TEA).await);
    let status = wait_for_end(cluster.replica(1), &done).await;
    let expected = json!({
        "status": "completed", "data": { "name": "arabica" }, "creditsUsed": 5,
    });
    assert_fields(&status, &expected);
    assert_eq!(cluster.replica(2).get(&done).await.body, status);
    let is_asked = || {
        let requests = world.requests();
        let mut asked = requests.iter().filter(|request| request.url.starts_with(MODEL));
        asked.any(|request| String::from_utf8_lossy(&request.body).contains("A tin of sencha"))
    };
    until("the model is asked for the tea", is_asked).await;
    let working = cluster.replica(1).get(&lost).await.body;
    assert_eq!((&working["status"], working.get("data")), (&json!("processing"), None), "{working}");
    cluster.kill(0);
    let status = wait_for_end(cluster.replica(1), &lost).await;
    assert_fields(&status, &json!({ "success": false, "status": "failed", "creditsUsed": 0 }));
    assert!(status["error"].as_str().unwrap().contains("restarted"), "{status}");
    assert_eq!(cluster.replica(2).get(&lost).await.body, status);
    // Only the extraction that has its data is charged.
    assert_eq!(cluster.database.number("SELECT spent FROM grants WHERE current = 1").await, 5);
}
