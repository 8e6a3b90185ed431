//! The order of properties in schemas and data of extractions.

use serde_json::{Value, json};
use websvc_testkit::FakeModel;

use super::{COFFEE, ExtractTest, TEA};

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_merged_data_keep_their_order() {
    let text = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"price":{"type":"string"},"a":{"type":"string"}}}"#;
    let schema: Value = serde_json::from_str(text).unwrap();
    let test = ExtractTest::with(|body| {
        let is_tea = FakeModel::prompt_text(body).contains("A tin of sencha");
        let second = r#"{"reasoning":null,"price":null,"a":"arabica","note":"x"}"#;
        FakeModel::text(if is_tea { r#"{"reasoning":"It says so.","price":"12 euros"}"# } else { second })
    })
    .await;
    let (_, status) = test.run(json!({ "urls": [TEA, COFFEE], "schema": schema })).await;
    let data = r#"{"reasoning":"It says so.","price":"12 euros","a":"arabica","note":"x"}"#;
    assert_eq!(status["data"].to_string(), data, "{status}");
    let requests = test.world.requests();
    let sent = requests.iter().find(|request| request.url.starts_with(crate::agent::MODEL)).unwrap();
    let sent: Value = serde_json::from_slice(&sent.body).unwrap();
    let properties = sent["response_format"]["json_schema"]["schema"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["reasoning", "price", "a"]);
}
