//! Tests of small models: answers that are wrong in typical ways, and pages that are longer than their prompts.

use serde_json::{Value, json};
use websvc_testkit::FakeModel;

use super::{CHAT, ModelTest, preview};

/// Models that name every passage, and none.
#[tokio::test(flavor = "multi_thread")]
async fn weak_answers_for_highlights_fall_back_to_words_and_cost_nothing() {
    let named = |passages: Value| FakeModel::json(&json!({ "passages": passages }));
    let test = ModelTest::new([named(json!([1, 2, 3, 4, 5])), named(json!([]))]).await;
    for reason in ["named more than half of the page", "named passages with 0 words of the query"] {
        let query = json!({ "type": "highlights", "query": "what does sencha cost" });
        let body = test.scrape(json!({ "formats": [query] })).await;
        let (highlights, warning) =
            (body["data"]["highlights"].as_str().unwrap(), body["warning"].as_str().unwrap());
        assert!(highlights.contains("12 euros") && !highlights.contains("Rooibos"), "{highlights}");
        assert!(
            warning.contains(reason) && warning.contains("chosen by the words of the query"),
            "{warning}"
        );
        assert_eq!(body["data"]["metadata"]["creditsUsed"], 1, "{body}");
    }
}

/// A page of 200 kB for a model that may read 4000 characters: the answer is near its end.
#[tokio::test(flavor = "multi_thread")]
async fn answer_near_the_end_of_a_long_page_reaches_the_model() {
    let settings = [("WEBSVC__LLM__MAX_INPUT_CHARS", "4000")];
    let answers = [FakeModel::text("31 euros"), FakeModel::json(&json!({ "price": 31 }))];
    let test = ModelTest::with(answers, &settings).await;
    let schema = json!({ "type": "object", "properties": { "price": {
        "type": "integer", "description": "the price of a tin of gyokuro" } } });
    let formats = json!([
        { "type": "question", "question": "What does a tin of gyokuro cost?" },
        { "type": "json", "schema": schema },
    ]);
    let body = test.scrape_url("http://book.test/", json!({ "formats": formats })).await;
    assert_eq!(
        (&body["data"]["answer"], &body["data"]["json"]["price"]),
        (&json!("31 euros"), &json!(31)),
        "{body}"
    );
    for request in test.model_requests(CHAT) {
        let prompt = FakeModel::prompt_text(&request);
        assert!(prompt.contains("A tin of gyokuro costs 31 euros."), "{prompt}");
        assert!(
            prompt.contains("# Gardens") && prompt.contains("[\u{2026}]") && prompt.chars().count() <= 4_000
        );
    }
    let warning = body["warning"].as_str().unwrap();
    for format in ["format question: the page has 2", "format json: the page has 2"] {
        assert!(warning.contains(format) && warning.contains("llm.max_input_chars"), "{warning}");
    }
}

/// A model that fills in every option.
#[tokio::test(flavor = "multi_thread")]
async fn crawl_prompt_is_not_widened_by_the_model() {
    let wide = json!({
        "includePaths": ["blog/.*"], "limit": 1_000_000, "allowExternalLinks": true, "allowSubdomains": true,
        "crawlEntireDomain": true, "sitemap": "skip", "delay": 1,
    });
    let test = ModelTest::new([FakeModel::json(&wide), FakeModel::json(&wide)]).await;
    let body = preview(&test.service, "only the blog").await;
    assert_eq!(body["data"], json!({ "url": "site.test", "includePaths": ["blog/.*"] }), "{body}");
    let warning = body["warning"].as_str().unwrap();
    let names = "limit, crawlEntireDomain, allowExternalLinks, allowSubdomains, sitemap, delay";
    assert!(warning.contains(names), "{warning}");
    let body = preview(&test.service, "do not use the sitemap, follow external links").await;
    assert_eq!(
        body["data"],
        json!({ "url": "site.test", "allowExternalLinks": true, "sitemap": "skip" }),
        "{body}"
    );
}
