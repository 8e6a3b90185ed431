//! Failures of the endpoint in many kinds, for each feature that uses a model: they never fail a scrape, they cost nothing, and
//! a warning names them. The content of a request names its fault, so that one service has all of them at the same time.

mod browser;
mod kinds;
mod runs;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{BASE, price};
use crate::harness::{Service, Site};
use kinds::{Expected, FAULTS, Fault};

/// The time limit of a request to the model, in milliseconds. It is long enough for an answer on a busy machine.
const TIMEOUT_MS: &str = "5000";

/// The number of requests at the same time that do not wait for their time limit.
const CONCURRENCY: usize = 8;

/// A part of a page that a model removes, personal data that rules know, and a name that they do not know.
const BOILERPLATE: &str = "Share this page with your friends.";
const EMAIL: &str = "anna@tea.test";
const NAME: &str = "Qwlxi Vrtzk";

/// A page without a fault.
const PLAIN: &str = "http://plain.test/";

/// A service whose model fails as its requests say.
struct FaultTest {
    service: Service,
    /// True if the pages have changed.
    is_changed: Arc<AtomicBool>,
    _world: TestWeb,
    _site: Site,
}

impl FaultTest {
    async fn new(base: &str) -> Arc<Self> {
        Self::with_settings(base, |_| ()).await
    }

    /// Starts the service with further settings.
    async fn with_settings(base: &str, set: impl FnOnce(&mut Command)) -> Arc<Self> {
        let is_changed = Arc::new(AtomicBool::new(false));
        let mut web = TestWeb::builder().page(PLAIN, Page::html("<title>Tea</title><h1>Tea</h1>"));
        for fault in FAULTS {
            let is_changed = Arc::clone(&is_changed);
            web = web.page_with(&fault.url(), move |_| fault.page(is_changed.load(Ordering::Relaxed)));
        }
        let world = FakeModel::with_responder(respond).serve(web, BASE).start().await;
        let site = Site::new(&world);
        let mut command = site.serve_command();
        command
            .env("WEBSVC__LLM__BASE_URL", base)
            .env("WEBSVC__LLM__MODEL", "tiny")
            .env("WEBSVC__LLM__TIMEOUT_MS", TIMEOUT_MS)
            .env("WEBSVC__LLM__CONCURRENCY", "500")
            .env("WEBSVC__LIMITS__TOTAL_CONCURRENCY", "1000")
            .env("WEBSVC__AGENT__CONCURRENCY", "100")
            .env("WEBSVC__AGENT__CONCURRENCY_PER_TEAM", "100");
        set(&mut command);
        let service = Service::start(&mut command);
        Arc::new(Self { service, is_changed, _world: world, _site: site })
    }

    /// Runs a check for each of these faults, at the same time as far as they wait, and fails with all reasons.
    async fn check_all<F, C>(self: &Arc<Self>, faults: impl Iterator<Item = &'static Fault>, check: C)
    where
        C: Fn(Arc<Self>, &'static Fault) -> F,
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let permits = Arc::new(Semaphore::new(CONCURRENCY));
        let mut checks = JoinSet::new();
        for fault in faults {
            let (check, permits) = (check(Arc::clone(self), fault), Arc::clone(&permits));
            checks.spawn(async move {
                let _permit = if fault.is_slow { None } else { Some(permits.acquire_owned().await) };
                check.await.map_err(|reason| format!("{}: {reason}", fault.name))
            });
        }
        let reasons: Vec<String> = checks.join_all().await.into_iter().filter_map(Result::err).collect();
        assert!(reasons.is_empty(), "{}", reasons.join("\n"));
        let health = self.service.get("/health").await;
        assert_eq!(health.status, StatusCode::OK, "the service does not work any more: {}", health.body);
    }

    async fn scrape(&self, url: &str, options: &Value) -> Result<Value, String> {
        let mut body = options.clone();
        body["url"] = json!(url);
        let response = self.service.post("/v2/scrape", body.to_string()).await;
        let is_ok = response.status == StatusCode::OK && response.body["data"]["markdown"].is_string();
        if is_ok { Ok(response.body) } else { Err(format!("{} {}", response.status, response.body)) }
    }
}

impl Fault {
    fn url(&self) -> String {
        format!("http://{}.test/", self.name)
    }

    /// Returns the words by which a request names the fault.
    fn mark(&self) -> String {
        format!("(fault {} here)", self.name)
    }

    fn page(&self, is_changed: bool) -> Page {
        let (mark, price) = (self.mark(), if is_changed { 13 } else { 12 });
        Page::html(format!(
            "<title>Tea {mark}</title><main><h1>Tea {mark}</h1><p>A tin of sencha costs {price} euros {mark}.</p>\
             <p>Write to {EMAIL} or to {NAME}, who packs the tea.</p><p>Rooibos grows in South Africa, and is red.</p>\
             <p>{BOILERPLATE}</p></main>"
        ))
    }
}

/// Returns the response of the endpoint to a request: that of the fault which it names.
fn respond(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    match FAULTS.iter().find(|fault| text.contains(&fault.mark())) {
        Some(fault) => (fault.respond)(&answer(&text)),
        None => FakeModel::text(&answer(&text)),
    }
}

/// Returns the right answer. The instructions or the schema in them tell the feature.
fn answer(text: &str) -> String {
    let wants = |property: &str| text.contains(&format!("\"{property}\""));
    let named = |words: &str| -> Vec<usize> {
        let passages = text.split("\n[").skip(1).filter(|passage| passage.contains(words));
        passages.filter_map(|passage| passage.split(']').next()?.parse().ok()).collect()
    };
    let answer = match () {
        () if wants("boilerplate") => json!({ "boilerplate": named(BOILERPLATE) }),
        () if wants("passages") => json!({ "passages": named("A tin of") }),
        () if wants("findings") => json!({ "findings": [
            { "text": EMAIL, "entity": "EMAIL" }, { "text": NAME, "entity": "PERSON" },
        ] }),
        () if wants("meaningfulChanges") => json!({
            "reason": "Judged.", "meaningful": false, "confidence": "high", "meaningfulChanges": [],
        }),
        () if wants("note") => {
            json!({ "note": "", "action": "done", "ref": "", "text": "It costs 12 euros." })
        }
        () if wants("action") => {
            json!({ "why": "It is read.", "action": "done", "ref": "", "text": "" })
        }
        () if wants("targetAudience") => brand(),
        () if wants("includePaths") => json!({ "includePaths": ["blog/.*"] }),
        () if wants("tea") => {
            json!({ "tea": "sencha", "euros": if text.contains("costs 13") { 13 } else { 12 } })
        }
        () => return "A tin of sencha costs 12 euros.".to_owned(),
    };
    answer.to_string()
}

/// Returns an answer about the brand of a page, which names no candidates.
fn brand() -> Value {
    let sure = json!({ "buttons": 0.5, "colors": 0.5, "overall": 0.5 });
    json!({
        "primaryButton": null, "secondaryButton": null, "logo": null, "primaryColor": null, "secondaryColor": null,
        "accentColor": null, "tone": "modern", "energy": "low", "targetAudience": "People who drink tea",
        "framework": "unknown", "componentLibrary": null, "confidence": sure,
    })
}

/// A feature of a scrape.
struct ScrapeFeature {
    name: &'static str,
    options: Value,
    /// True if the model answers with a text.
    is_text: bool,
    /// The price without an answer, and with one.
    credits: (u64, u64),
    /// Returns whether the data has the answer of the model.
    has_answer: fn(&Value) -> bool,
}

impl ScrapeFeature {
    /// Returns whether the feature tries to use the text of a fault in place of JSON.
    fn takes_text(&self, fault: &Fault) -> bool {
        self.name == "onlyCleanContent" && fault.text == Expected::Answer
    }
}

fn scrape_features() -> Vec<ScrapeFeature> {
    let formats = |format: Value| json!({ "formats": ["markdown", format] });
    let feature = |name, options, is_text, credits, has_answer| ScrapeFeature {
        name,
        options,
        is_text,
        credits,
        has_answer,
    };
    let json_format = json!({ "type": "json", "schema": price() });
    let question = json!({ "type": "question", "question": "What does sencha cost?" });
    let highlights = json!({ "type": "highlights", "query": "the tin" });
    let clean = json!({ "formats": ["markdown"], "onlyCleanContent": true });
    let redact = json!({ "formats": ["markdown"], "redactPII": { "mode": "accurate" } });
    vec![
        feature("json", formats(json_format), false, (1, 5), |data| !data["json"].is_null()),
        feature("question", formats(question), true, (1, 5), |data| !data["answer"].is_null()),
        feature("summary", formats(json!("summary")), true, (1, 1), |data| !data["summary"].is_null()),
        feature("highlights", formats(highlights), false, (1, 5), |data| {
            data["metadata"]["creditsUsed"] == 5
        }),
        feature("onlyCleanContent", clean, false, (1, 1), |data| !has_text(data, BOILERPLATE)),
        feature("redactPII", redact, false, (5, 5), |data| !has_text(data, NAME)),
    ]
}

fn has_text(data: &Value, text: &str) -> bool {
    data["markdown"].as_str().is_some_and(|markdown| markdown.contains(text))
}

/// Checks the result of a feature: the answer, or a free failure that a warning names.
fn check_scrape(fault: &Fault, feature: &ScrapeFeature, body: &Value) -> Result<(), String> {
    let (data, warning) = (&body["data"], body["warning"].as_str().unwrap_or_default());
    let expected = if feature.is_text { fault.text } else { fault.json };
    let (has_answer, credits) = ((feature.has_answer)(data), data["metadata"]["creditsUsed"].as_u64());
    let (without, with) = feature.credits;
    let words = match expected {
        // The warning about parts that were not read gives no reason, and a text may be cleaned markdown.
        Expected::Failure(_) if feature.name == "redactPII" || feature.takes_text(fault) => "",
        Expected::Failure(words) => words,
        Expected::Answer | Expected::Either => "",
    };
    let is_free_failure = !has_answer
        && credits == Some(without)
        && !warning.is_empty()
        && warning.contains(words)
        && !(feature.name == "redactPII" && has_text(data, EMAIL));
    let is_answer = has_answer && credits == Some(with);
    let is_expected = match expected {
        Expected::Answer => is_answer,
        Expected::Failure(_) => is_free_failure,
        Expected::Either => is_answer || is_free_failure,
    };
    if is_expected { Ok(()) } else { Err(format!("{} is not {expected:?}: {body}", feature.name)) }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_model_are_free_warnings_of_every_format() {
    let test = FaultTest::new(BASE).await;
    test.check_all(FAULTS.iter(), |test, fault| async move {
        let features = scrape_features();
        let scrapes = features.into_iter().map(|feature| {
            let test = Arc::clone(&test);
            async move {
                let body = test.scrape(&fault.url(), &feature.options).await;
                body.and_then(|body| check_scrape(fault, &feature, &body))
            }
        });
        all(scrapes).await
    })
    .await;
}

/// Runs checks at the same time, and joins their reasons.
async fn all<F>(checks: impl Iterator<Item = F>) -> Result<(), String>
where
    F: Future<Output = Result<(), String>> + Send + 'static,
{
    let checks: JoinSet<Result<(), String>> = checks.collect();
    let reasons: Vec<String> = checks.join_all().await.into_iter().filter_map(Result::err).collect();
    if reasons.is_empty() { Ok(()) } else { Err(reasons.join("\n")) }
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoint_that_refuses_connections_is_a_free_warning_of_every_format() {
    let refused = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let test = FaultTest::new(&refused).await;
    let fault =
        Fault { name: "parts", json: Expected::Failure(""), text: Expected::Failure(""), ..FAULTS[0] };
    let scrapes = scrape_features().into_iter().map(|feature| {
        let (test, fault) = (Arc::clone(&test), Fault { ..fault });
        async move {
            let body = test.scrape(&fault.url(), &feature.options).await?;
            check_scrape(&fault, &feature, &body)?;
            let warning = body["warning"].as_str().unwrap_or_default();
            let is_named = warning.contains("cannot be reached") || feature.name == "redactPII";
            if is_named { Ok(()) } else { Err(warning.to_owned()) }
        }
    });
    all(scrapes).await.unwrap();
}
