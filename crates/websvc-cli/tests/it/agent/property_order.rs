//! The order of properties: the model gets the schema as the caller wrote it, and the caller gets the data as the model wrote it.

use serde_json::{Value, json};
use websvc_testkit::FakeModel;

use super::{AgentTest, decision, step};

const SCHEMA: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"euros":{"type":"integer"},"a":{"type":"string"}},"required":["reasoning","euros","a"]}"#;
const DATA: &str = r#"{"reasoning":"A tin of sencha costs 12 euros","euros":12,"a":"sencha"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_data_of_a_run_keep_their_order() {
    for collects in [true, false] {
        let model = move |body: &Value| match step(body) {
            Some(1) if collects => decision("collect", "p1", ""),
            Some(_) => decision("done", "", ""),
            None => FakeModel::text(DATA),
        };
        let test = AgentTest::with(model, &[]).await;
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let (_, status) = test.run(json!({ "schema": schema })).await;
        assert_eq!(status["data"].to_string(), DATA, "{status}");
        let answer =
            test.world.requests().into_iter().filter(|request| request.url.starts_with(super::MODEL));
        let bodies: Vec<String> =
            answer.map(|request| String::from_utf8(request.body.to_vec()).unwrap()).collect();
        assert!(bodies.last().unwrap().contains(&format!("\"schema\":{SCHEMA}")), "{bodies:?}");
        let why = bodies[0].find("\"why\":{").unwrap();
        assert!(why < bodies[0].find("\"action\":{").unwrap(), "the reason is before the action");
    }
}
