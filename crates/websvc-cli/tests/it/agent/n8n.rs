//! The requests of the node for n8n (`@mendable/n8n-nodes-firecrawl` 2.1.2) about agent runs.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{AGENT, AgentTest, TEA, price, wait_for_end};
use crate::harness::Response;

/// The headers of the node.
const HEADERS: [(&str, &str); 2] = [("accept", "application/json"), ("content-type", "application/json")];

/// Starts a run as the node does, and polls it until the node would stop.
async fn run(test: &AgentTest, body: Value) -> Value {
    let Response { status, body, .. } =
        test.service.send(Method::POST, AGENT, &HEADERS, body.to_string()).await;
    // The node polls only what has an ID, and takes a missing status for one that is not final.
    assert_eq!((status, body["status"].as_str()), (StatusCode::OK, None), "{body}");
    let path = format!("{AGENT}/{}", body["id"].as_str().unwrap_or_else(|| panic!("{body}")));
    wait_for_end(&test.service, &path).await
}

#[tokio::test(flavor = "multi_thread")]
async fn node_of_n8n_starts_a_run_and_reads_its_data() {
    let test = AgentTest::new().await;
    // The test of the credentials, whose base URL has the version.
    let usage = test.service.send(Method::GET, "/v2/team/credit-usage", &[], "").await;
    assert_eq!(usage.status, StatusCode::OK, "{}", usage.body);
    let tin = json!({ "type": "object", "properties": { "name": { "type": "string" }, "euros": { "type": "integer" } } });
    for body in [
        // A schema that the node makes from an example, with URLs from a text.
        json!({ "integration": "n8n", "prompt": "What does sencha cost?", "urls": [TEA], "schema": tin }),
        json!({ "integration": "n8n", "prompt": "What does sencha cost at http://shop.test/tea?" }),
        // The fields of a custom body follow those of the node.
        json!({ "integration": "n8n", "prompt": "What does sencha cost?", "urls": [TEA], "maxCredits": 50, "effort": "low" }),
    ] {
        let ended = run(&test, body.clone()).await;
        assert_eq!((&ended["status"], &ended["data"]), (&json!("completed"), &price()), "{body}: {ended}");
    }
    let listed = test.service.get(AGENT).await.body;
    assert_eq!(listed["agents"][0]["integration"], "n8n", "{listed}");
    // The prompt is empty at first. The node shows the body.
    let body = json!({ "integration": "n8n", "prompt": "" }).to_string();
    let refused = test.service.send(Method::POST, AGENT, &HEADERS, body).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    assert!(refused.body["error"].as_str().unwrap().contains("prompt"), "{}", refused.body);
}
