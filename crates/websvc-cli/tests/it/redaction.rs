//! Tests of `redactPII` with a language model.

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::harness::{Service, Site, assert_fields};

const BASE: &str = "http://model.test/v1";
const CHAT: &str = "http://model.test/v1/chat/completions";
const PAGE: &str = "http://team.test/";

/// A text in the second part of the page, for which the model fails.
const UNREAD: &str = "Second part";

fn finding(text: &str, entity: &str) -> Value {
    json!({ "text": text, "entity": entity })
}

/// The findings of the model: a name that no rule knows, an address, two texts that are not in the page, and two that the form
/// of their kind excludes.
fn findings() -> Value {
    json!({ "findings": [
        finding("Qwlxi Vrtzk", "PERSON"),
        finding("tea@team.test", "EMAIL"),
        finding("42 Harbour Steps", "LOCATION"),
        finding("Nobody Here", "PERSON"),
        finding("tea", "PERSON"),
        finding("from", "SECRET"),
        finding("Anna", "COMPANY"),
    ] })
}

fn page(second: &str) -> Page {
    Page::html(format!(
        "<title>Tea of Qwlxi Vrtzk</title><main><h1>Team</h1><p>Qwlxi Vrtzk brings tea from 42 Harbour Steps every \
         morning. Write to tea@team.test, and ask <code>Qwlxi Vrtzk</code>.</p>{second}</main>"
    ))
}

struct RedactionTest {
    world: TestWeb,
    service: Service,
    _site: Site,
}

impl RedactionTest {
    async fn new(second: &str) -> Self {
        Self::with_findings(second, findings()).await
    }

    async fn with_findings(second: &str, findings: Value) -> Self {
        let model = FakeModel::with_responder(move |request| {
            let prompt = FakeModel::prompt_text(request);
            match () {
                () if prompt.contains(UNREAD) => FakeModel::bad_request("too hard"),
                () if prompt.contains("personal data") => FakeModel::json(&findings),
                () => FakeModel::text("A summary."),
            }
        });
        let world = TestWeb::builder().page(PAGE, page(second));
        let world = model.serve(world, BASE).start().await;
        let site = Site::new(&world);
        let service = site.serve_with(&[("WEBSVC__LLM__BASE_URL", BASE), ("WEBSVC__LLM__MODEL", "tiny")]);
        Self { world, service, _site: site }
    }

    async fn scrape(&self, formats: Value, redact: Value) -> Value {
        let body = json!({ "url": PAGE, "formats": formats, "redactPII": redact });
        let response = self.service.post("/v2/scrape", body.to_string()).await;
        assert_eq!(response.status, StatusCode::OK, "{}", response.body);
        response.body
    }

    fn prompts(&self) -> Vec<String> {
        let requests = self.world.requests().into_iter().filter(|request| request.url == CHAT);
        requests
            .map(|request| FakeModel::prompt_text(&serde_json::from_slice(&request.body).unwrap()))
            .collect()
    }
}

fn markdown(body: &Value) -> &str {
    body["data"]["markdown"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn model_names_personal_data_and_only_texts_of_the_page_are_removed() {
    let test = RedactionTest::new("").await;
    let body = test.scrape(json!(["markdown"]), json!(true)).await;
    let expected =
        "<PERSON> brings tea from <LOCATION> every morning. Write to <EMAIL>, and ask `Qwlxi Vrtzk`.";
    assert!(markdown(&body).contains(expected), "{body}");
    assert_eq!(body["data"]["metadata"]["title"], "Tea of <PERSON>");
    assert_eq!((body.get("warning"), body["data"].get("warning")), (None, None), "{body}");
    assert_eq!(body["data"]["metadata"]["creditsUsed"], 5, "{body}");
    // One request for the metadata, and one for the markdown.
    assert_eq!(test.prompts().len(), 2);

    let only = json!({ "entities": ["LOCATION"], "replaceStyle": "remove" });
    let body = test.scrape(json!(["markdown"]), only).await;
    assert!(markdown(&body).contains("Qwlxi Vrtzk brings tea from  every morning"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn aggressive_uses_model_and_rules_and_fast_the_rules_alone() {
    let test = RedactionTest::new("").await;
    let body = test.scrape(json!(["markdown"]), json!({ "mode": "aggressive" })).await;
    assert!(markdown(&body).contains("<PERSON> brings tea") && markdown(&body).contains("<EMAIL>"), "{body}");
    let asked = test.prompts().len();
    let body = test.scrape(json!(["markdown"]), json!({ "mode": "fast" })).await;
    assert!(markdown(&body).contains("Qwlxi Vrtzk brings") && markdown(&body).contains("<EMAIL>"), "{body}");
    assert_eq!((test.prompts().len(), body.get("warning")), (asked, None), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn generated_formats_read_the_redacted_text() {
    let test = RedactionTest::new("").await;
    let body = test.scrape(json!(["summary"]), json!(true)).await;
    assert_fields(&body["data"], &json!({ "summary": "A summary.", "markdown": null }));
    let prompts = test.prompts();
    let summary = prompts.iter().find(|prompt| prompt.contains("Summarise")).unwrap();
    assert!(
        summary.contains("<PERSON> brings tea") && summary.contains("Title: Tea of <PERSON>"),
        "{summary}"
    );
}
