//! Tests of the part of a design that a language model decides.

use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{SHOP, URL, scrape, with_images};
use crate::browser::path_or_skip;
use crate::harness::{Service, Site};

const BASE: &str = "http://model.test/v1";
const CHAT: &str = "http://model.test/v1/chat/completions";

fn answer(changes: Value) -> Value {
    let mut answer = json!({
        "primaryButton": 1, "secondaryButton": 0, "logo": null, "primaryColor": null, "secondaryColor": null,
        "accentColor": 0, "tone": "traditional", "energy": "low", "targetAudience": "Tea drinkers",
        "framework": "custom", "componentLibrary": null,
        "confidence": { "buttons": 0.9, "colors": 0.8, "overall": 0.85 },
    });
    let Value::Object(changes) = changes else { panic!("{changes}") };
    for (name, value) in changes {
        answer[name] = value;
    }
    answer
}

/// Returns the body of the first request to the model.
fn model_request(world: &TestWeb) -> Value {
    let requests = world.requests();
    let request = requests.iter().find(|request| request.url == CHAT).unwrap();
    serde_json::from_slice(&request.body).unwrap()
}

async fn start(responses: Vec<Page>) -> Option<(Service, TestWeb, Site)> {
    start_with(SHOP, responses).await
}

/// Starts a service with a browser and a model.
async fn start_with(html: &str, responses: Vec<Page>) -> Option<(Service, TestWeb, Site)> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let model = FakeModel::scripted(responses);
    let world = with_images(TestWeb::builder().page(URL, Page::html(html)), URL, html);
    let world = model.serve(world, BASE).start().await;
    let site = Site::new(&world);
    let mut command = site.serve_command();
    command
        .env("WEBSVC__LLM__BASE_URL", BASE)
        .env("WEBSVC__LLM__API_KEY", "sk-of-the-tests")
        .env("WEBSVC__LLM__MODEL", "tiny")
        .env("WEBSVC__BROWSER__CONCURRENCY", "2")
        .env("WEBSVC__BROWSER__PATH", chromium);
    let service = Service::start(&mut command);
    Some((service, world, site))
}

#[tokio::test(flavor = "multi_thread")]
async fn model_chooses_candidates_and_describes_the_page() {
    let responses = vec![FakeModel::json(&answer(json!({})))];
    let Some((service, world, _site)) = start(responses).await else { return };
    let document = scrape(&service, json!({ "formats": ["branding"] })).await;
    let design = &document["branding"];
    assert_eq!(design["components"]["buttonPrimary"]["background"], "#DE6E7C", "{design}");
    assert_eq!(design["components"]["buttonSecondary"]["background"], "#C8102E", "{design}");
    assert_eq!(
        design["personality"],
        json!({ "tone": "traditional", "energy": "low", "targetAudience": "Tea drinkers" })
    );
    assert_eq!(design["designSystem"], json!({ "framework": "custom" }));
    assert_eq!(design["confidence"], json!({ "buttons": 0.9, "colors": 0.8, "overall": 0.85 }));
    assert_eq!(
        (document.get("warning"), &document["metadata"]["creditsUsed"]),
        (None, &json!(1)),
        "{document}"
    );
    let words = FakeModel::prompt_text(&model_request(&world));
    for part in ["Buy now", "#C8102E", "logo.png", "Teapots of iron", "<web-content>"] {
        assert!(words.contains(part), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_answers_and_failures_of_the_model_leave_the_design_as_it_was() {
    let responses = vec![
        FakeModel::json(&answer(json!({ "primaryButton": 99 }))),
        FakeModel::json(&json!({ "tone": "angry" })),
        FakeModel::bad_request("no"),
    ];
    let count = responses.len();
    let Some((service, _world, _site)) = start(responses).await else { return };
    for _ in 0..count {
        let document = scrape(&service, json!({ "formats": ["branding"] })).await;
        let design = &document["branding"];
        assert_eq!(design["components"]["buttonPrimary"]["background"], "#C8102E", "{document}");
        assert!(design.get("personality").is_none() && design.get("confidence").is_none(), "{design}");
        let warning = document["warning"].as_str().unwrap();
        assert!(warning.contains("format branding: "), "{warning}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn personal_data_is_not_sent_to_the_model() {
    let responses = vec![FakeModel::json(&answer(json!({})))];
    let html = SHOP.replace("We sell them since 1990", "Write to jane@brand.test");
    let Some((service, world, _site)) = start_with(&html, responses).await else { return };
    let options = json!({ "formats": ["branding"], "redactPII": { "mode": "fast" } });
    let document = scrape(&service, options).await;
    assert!(document["branding"]["personality"].is_object(), "{document}");
    let warning = document["warning"].as_str().unwrap();
    assert!(warning.contains("not redacted: branding"), "{warning}");
    let words = FakeModel::prompt_text(&model_request(&world));
    assert!(words.contains("Write to <EMAIL>") && !words.contains("jane@"), "{words}");
}

/// The texts of a design are not those of the markdown, so a model that redacts the page may not have read them.
#[tokio::test(flavor = "multi_thread")]
async fn personal_data_that_no_model_has_read_is_not_sent_either() {
    let responses = vec![FakeModel::json(&json!({ "findings": [] })), FakeModel::json(&answer(json!({})))];
    let html = SHOP.replace("We sell them since 1990", "Write to jane@brand.test");
    let Some((service, world, _site)) = start_with(&html, responses).await else { return };
    let options = json!({ "formats": ["branding"], "redactPII": { "mode": "accurate" } });
    let document = scrape(&service, options).await;
    assert!(document["branding"]["personality"].is_object(), "{document}");
    let requests = world.requests();
    let request = requests.iter().rfind(|request| request.url == CHAT).unwrap();
    let words = FakeModel::prompt_text(&serde_json::from_slice(&request.body).unwrap());
    assert!(words.contains("Write to <EMAIL>") && !words.contains("jane@"), "{words}");
}
