//! Answers of weak models: data without values.

use serde_json::{Value, json};

use super::{ExtractTest, SHOP, TEA};

#[tokio::test(flavor = "multi_thread")]
async fn page_without_values_is_not_used_in_the_completion() {
    let test = ExtractTest::new().await;
    let (_, status) = test.run(json!({ "urls": [SHOP, TEA], "urlTrace": true })).await;
    let used: Vec<&Value> =
        status["urlTrace"].as_array().unwrap().iter().map(|page| &page["usedInCompletion"]).collect();
    assert_eq!(used, [&json!(false), &json!(true)], "{status}");
}
