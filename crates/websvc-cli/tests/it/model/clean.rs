//! Tests of the option `onlyCleanContent`.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::FakeModel;

use super::{CHAT, ModelTest};

#[tokio::test(flavor = "multi_thread")]
async fn clean_content_omits_boilerplate_passages() {
    let test = ModelTest::new([FakeModel::json(&json!({ "boilerplate": [5] }))]).await;
    let body = test.scrape(json!({ "formats": ["markdown"], "onlyCleanContent": true })).await;
    let markdown = body["data"]["markdown"].as_str().unwrap();
    assert!(markdown.contains("Rooibos") && !markdown.contains("PWNED"), "{markdown}");
    assert_eq!(
        body["warning"],
        "onlyCleanContent: 36 of 129 characters of the text were removed as boilerplate"
    );
    let body = test.scrape(json!({ "formats": ["markdown"], "onlyCleanContent": true })).await;
    assert!(
        body["data"]["markdown"].as_str().unwrap().contains("PWNED"),
        "without a model response, the page is unchanged: {body}"
    );
    assert!(body["warning"].as_str().unwrap().contains("onlyCleanContent"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clean_content_under_zero_retention_is_skipped_with_a_warning() {
    let test = ModelTest::new([]).await;
    let check = |body: &Value| {
        let warning = body["warning"].as_str().unwrap_or_default();
        assert!(warning.contains("onlyCleanContent has no effect with zero data retention"), "{body}");
    };
    test.scrape(json!({})).await;
    let body = test.scrape(json!({ "lockdown": true, "onlyCleanContent": true })).await;
    check(&body);
    assert!(body["data"]["markdown"].as_str().unwrap().contains("PWNED"), "{body}");
    test.site.succeed(&["teams", "set", "default", "--zdr", "forced"]);
    // Until the service has read the change, it forbids the option.
    let zero = json!({ "url": "http://tea.test/", "zeroDataRetention": true }).to_string();
    while test.service.post("/v2/scrape", zero.clone()).await.status == StatusCode::FORBIDDEN {
        tokio::task::yield_now().await;
    }
    check(&test.scrape(json!({ "onlyCleanContent": true })).await);
    let search =
        json!({ "query": "tea", "scrapeOptions": { "formats": ["markdown"], "onlyCleanContent": true } });
    check(&test.service.search(search).await.body);
    assert_eq!(test.model_requests(CHAT).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_long_page_is_not_cleaned() {
    let settings = [("WEBSVC__LLM__MAX_INPUT_CHARS", "4000")];
    let test = ModelTest::with([FakeModel::json(&json!({ "boilerplate": [1] }))], &settings).await;
    let body = test
        .scrape_url("http://long.test/", json!({ "formats": ["markdown"], "onlyCleanContent": true }))
        .await;
    let markdown = body["data"]["markdown"].as_str().unwrap();
    let (length, warning) = (markdown.chars().count(), body["warning"].as_str().unwrap());
    assert!(markdown.contains("Garden 1 ") && markdown.contains("Garden 99 "), "{markdown}");
    assert!(warning.contains(&format!("{length} characters")) && warning.contains("4000"), "{warning}");
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_formats_use_the_clean_content() {
    let clean = || FakeModel::json(&json!({ "boilerplate": [5] }));
    let test = ModelTest::new([clean(), FakeModel::text("Tea.")]).await;
    let body = test.scrape(json!({ "formats": ["summary"], "onlyCleanContent": true })).await;
    assert_eq!((&body["data"]["summary"], body["data"].get("markdown")), (&json!("Tea."), None), "{body}");
    assert!(body["warning"].as_str().unwrap().starts_with("onlyCleanContent: 36 of"), "{body}");
    let requests = test.model_requests(CHAT);
    let words = FakeModel::prompt_text(&requests[1]);
    assert!(requests.len() == 2 && words.contains("Rooibos") && !words.contains("PWNED"), "{words}");
    let body = test.scrape(json!({ "formats": ["html"], "onlyCleanContent": true })).await;
    assert!(body["warning"].as_str().unwrap().contains("onlyCleanContent: no format"), "{body}");
    assert_eq!(test.model_requests(CHAT).len(), 2);
}
