//! The requests of the node for n8n (`@mendable/n8n-nodes-firecrawl` 2.1.2) about extractions.

use serde_json::{Value, json};

use super::{COFFEE, EXTRACT, ExtractTest, TEA, drinks, drinks_schema};

/// Returns a request of the node. It sends all of its fields, also those that the user left as they were.
fn request(urls: &Value, prompt: &str, schema: &Value) -> Value {
    json!({
        "integration": "n8n", "urls": urls, "prompt": prompt, "schema": schema, "ignoreSitemap": true,
        "includeSubdomains": false, "enableWebSearch": false, "showSources": false,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn node_of_n8n_starts_an_extraction_and_reads_its_data() {
    let test = ExtractTest::new().await;
    let with_options = {
        let mut request = request(&json!([TEA, COFFEE]), "The drinks", &drinks_schema());
        request["scrapeOptions"] = json!({ "onlyMainContent": true, "waitFor": 0, "mobile": false, "timeout": 30_000,
            "includeTags": ["main"], "excludeTags": [], "skipTlsVerification": false, "removeBase64Images": true,
            "blockAds": true, "storeInCache": true, "proxy": "basic", "location": { "country": "DE", "languages": ["de"] } });
        request
    };
    for body in [request(&json!([TEA, COFFEE]), "", &drinks_schema()), with_options] {
        let started = test.service.post(EXTRACT, body.to_string()).await.body;
        assert_eq!(started["success"], true, "{started}");
        let status = test.wait_for_end(EXTRACT, &started).await;
        assert_eq!((&status["status"], &status["data"]), (&json!("completed"), &drinks()), "{status}");
    }
    // The schema of the node is one of names and types until the user writes one. Unknown keywords of a schema demand nothing.
    let names = json!({ "property1": "string", "property2": "number" });
    let started =
        test.service.post(EXTRACT, request(&json!([TEA]), "The drinks", &names).to_string()).await.body;
    let status = test.wait_for_end(EXTRACT, &started).await;
    assert_eq!(status["status"], "completed", "{status}");
    // Formats of its scrape options also get to the top level of the body.
    let mut with_formats = request(&json!([TEA]), "The drinks", &names);
    with_formats["formats"] = json!(["markdown"]);
    let refused = test.service.post(EXTRACT, with_formats.to_string()).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.body["details"][0]["path"]),
        (400, &json!("/formats")),
        "{}",
        refused.body
    );
    // Without URLs, the node sends an empty list.
    let body = request(&json!([]), "", &names);
    let refused = test.service.post(EXTRACT, body.to_string()).await;
    assert_eq!(refused.status.as_u16(), 400, "{}", refused.body);
}
