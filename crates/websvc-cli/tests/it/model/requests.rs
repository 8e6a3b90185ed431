//! The requests to the model: the order of schemas and data, and what the requests about one page share.

use serde_json::{Value, json};
use websvc_testkit::FakeModel;

use super::{CHAT, ModelTest, json_format};

#[tokio::test(flavor = "multi_thread")]
async fn schema_and_data_keep_their_order() {
    let schema = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"answer":{"type":"integer"},"a":{}}}"#;
    let data = r#"{"reasoning":"The page says so.","answer":12,"a":[{"z":1,"b":2}]}"#;
    let test = ModelTest::new([FakeModel::text(data)]).await;
    let format = json!({ "type": "json", "schema": serde_json::from_str::<Value>(schema).unwrap() });
    let body = test.scrape(json!({ "formats": [format] })).await;
    assert_eq!(body["data"]["json"].to_string(), data, "{body}");
    let request = &test.model_requests(CHAT)[0];
    assert_eq!(request["response_format"]["json_schema"]["schema"].to_string(), schema);
    assert!(FakeModel::prompt_text(request).contains(schema), "{request}");
}

/// With `llm.combine`, the page is sent once for several formats. A field that cannot be used is requested again.
#[tokio::test(flavor = "multi_thread")]
async fn formats_of_a_page_can_share_one_request() {
    let formats = || {
        let question = json!({ "type": "question", "question": "What does a tin cost?" });
        json!({ "formats": ["summary", question, json_format()["formats"][0]] })
    };
    let data = json!({ "tea": "sencha", "euros": 12 });
    let single = || [FakeModel::text("Tea."), FakeModel::text("12 euros."), FakeModel::json(&data)];
    let combined =
        |data: &Value| FakeModel::json(&json!({ "summary": "Tea.", "answer": "12 euros.", "json": data }));
    let sent = |test: &ModelTest| -> usize {
        test.model_requests(CHAT).iter().map(|body| FakeModel::prompt_text(body).len()).sum()
    };
    let check = async |test: &ModelTest, requests: usize| {
        let body = test.scrape(formats()).await;
        let found = &body["data"];
        assert_eq!((&found["summary"], &found["answer"]), (&json!("Tea."), &json!("12 euros.")), "{body}");
        assert_eq!((&found["json"], body.get("warning")), (&data, None), "{body}");
        assert_eq!(found["metadata"]["creditsUsed"], 1 + 4 + 4, "{body}");
        assert_eq!(test.world.count(CHAT), requests);
    };
    let apart = ModelTest::new(single()).await;
    check(&apart, 3).await;
    let settings: &[(&str, &str)] = &[("WEBSVC__LLM__COMBINE", "true")];
    let together = ModelTest::with([combined(&data)], settings).await;
    check(&together, 1).await;
    let (together_bytes, apart_bytes) = (sent(&together), sent(&apart));
    assert!(together_bytes * 10 < apart_bytes * 8, "{together_bytes} of {apart_bytes} bytes");
    let schema = &together.model_requests(CHAT)[0]["response_format"]["json_schema"]["schema"];
    assert_eq!(schema["required"], json!(["summary", "answer", "json"]), "{schema}");
    // The data violates its schema, and the whole request fails.
    let invalid = ModelTest::with([combined(&json!({ "tea": 1 })), FakeModel::json(&data)], settings).await;
    check(&invalid, 2).await;
    let failing = [FakeModel::text("I would rather not.")].into_iter().chain(single());
    check(&ModelTest::with(failing, settings).await, 4).await;
}

/// The content of a page is at the beginning of each request about it, so that a server with a cache reads it once.
#[tokio::test(flavor = "multi_thread")]
async fn formats_of_a_page_share_the_beginning_of_their_requests() {
    let responses = [
        FakeModel::text("Tea."),
        FakeModel::json(&json!({ "tea": "sencha", "euros": 12 })),
        FakeModel::json(&json!({ "passages": [4] })),
    ];
    let test = ModelTest::new(responses).await;
    let highlights = json!({ "type": "highlights", "query": "prices" });
    let json_format = json_format()["formats"][0].clone();
    let body = test.scrape(json!({ "formats": [highlights, "summary", json_format] })).await;
    assert_eq!(
        (&body["data"]["summary"], &body["data"]["json"]["euros"]),
        (&json!("Tea."), &json!(12)),
        "{body}"
    );
    let messages: Vec<(String, String)> = test
        .model_requests(CHAT)
        .iter()
        .map(|body| {
            let text = |index: usize| body["messages"][index]["content"].as_str().unwrap().to_owned();
            (text(0), text(1))
        })
        .collect();
    let [(system, summary), (other_system, data), _highlights] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert_eq!(system, other_system);
    let end = summary.find("\n</web-content>\n").unwrap();
    assert!(summary[..end].contains("A tin of sencha costs 12 euros."), "{summary}");
    assert_eq!(summary.get(..end), data.get(..end));
}
