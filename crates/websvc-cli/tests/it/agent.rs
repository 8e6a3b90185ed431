//! Tests of agent runs: the wire format, threads, traces, budgets, cancellation and restarts, with a scripted model.

mod command;
mod credits;
mod events;
mod lifecycle;
mod n8n;
mod property_order;
mod recipes;
mod requests;
mod rights;
mod safety;
mod sdk;
pub(crate) mod sessions;
mod tools;

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::harness::{Response, Service, Site};

pub(crate) const AGENT: &str = "/v2/agent";
const TEA: &str = "http://shop.test/tea";
const COFFEE: &str = "http://shop.test/coffee";
const HOOK: &str = "http://hook.test/in";
pub(crate) const MODEL: &str = "http://model.test/v1";

/// How long a run may take.
const TIMEOUT: Duration = Duration::from_secs(150);

/// A service with a shop, a webhook receiver and a language model.
struct AgentTest {
    world: TestWeb,
    site: Site,
    service: Service,
}

impl AgentTest {
    /// With a model that collects each start page, and then answers.
    async fn new() -> Self {
        Self::with(collecting, &[]).await
    }

    async fn with(model: impl Fn(&Value) -> Page + Send + Sync + 'static, settings: &[(&str, &str)]) -> Self {
        Self::with_credits(model, settings, None).await
    }

    /// With a budget of the team.
    async fn with_credits(
        model: impl Fn(&Value) -> Page + Send + Sync + 'static,
        settings: &[(&str, &str)],
        credits: Option<&str>,
    ) -> Self {
        let page = |name: &str, price: u32| {
            Page::html(format!(
                "<title>{name}</title><main><h1>{name}</h1><p>A tin of {name} costs {price} euros in this shop.</p>\
                 <p><a href='{COFFEE}'>Coffee</a></p></main>"
            ))
        };
        let world = TestWeb::builder()
            .page(TEA, page("sencha", 12))
            .page(COFFEE, page("arabica", 7))
            .page_with(HOOK, |_| Page::text(""));
        let world = FakeModel::with_responder(model).serve(world, MODEL).start().await;
        let site = Site::new(&world);
        if let Some(credits) = credits {
            site.succeed(&["teams", "set", "default", "--credits", credits]);
        }
        let service = serve(&site, settings);
        Self { world, site, service }
    }

    /// Sends a request that starts a run with these fields; others have values that are valid.
    async fn try_start(&self, fields: Value) -> Response {
        let mut request =
            json!({ "prompt": "What does sencha cost?", "urls": [TEA], "schema": price_schema() });
        for (name, value) in fields.as_object().unwrap() {
            request[name] = value.clone();
        }
        self.service.post(AGENT, request.to_string()).await
    }

    /// Starts a run, and returns its path.
    async fn start(&self, fields: Value) -> String {
        let Response { status, body, .. } = self.try_start(fields).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(body["success"], true, "{body}");
        format!("{AGENT}/{}", body["id"].as_str().unwrap())
    }

    /// Runs a run to its end, and returns its path and status.
    async fn run(&self, fields: Value) -> (String, Value) {
        let path = self.start(fields).await;
        let status = wait_for_end(&self.service, &path).await;
        (path, status)
    }

    async fn remaining_credits(&self) -> u64 {
        let usage = self.service.get("/v2/team/credit-usage").await;
        usage.body["data"]["remainingCredits"].as_u64().unwrap()
    }

    async fn cancel(&self, path: &str) -> Response {
        self.service.send(Method::DELETE, path, &[], "").await
    }

    async fn trace(&self, path: &str) -> Vec<Value> {
        let body = self.service.get(&format!("{path}/trace")).await.body;
        body["events"].as_array().unwrap_or_else(|| panic!("{body}")).clone()
    }

    /// Returns the URLs of the pages that were requested.
    fn requested(&self, host: &str) -> Vec<String> {
        let urls = self.world.requests().into_iter().map(|request| request.url);
        urls.filter(|url| url.starts_with(host) && !url.ends_with("/robots.txt")).collect()
    }
}

/// Checks that the team has exactly as many free credits as a search that reads `limit` pages may cost.
pub(crate) async fn check_free_credits(service: &Service, limit: u32) {
    let search = async |limit: u32| {
        let options = json!({ "formats": ["markdown"] });
        service.search(json!({ "query": "zzyzx", "limit": limit, "scrapeOptions": options })).await
    };
    let granted = async {
        loop {
            let Response { status, body, .. } = search(limit).await;
            if status != StatusCode::PAYMENT_REQUIRED {
                return (status, body);
            }
            // A hold ends a moment after the end of its run is visible.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (status, body) = tokio::time::timeout(TIMEOUT, granted).await.expect("the credits are free");
    assert_eq!(status, StatusCode::OK, "{body}");
    let refused = search(limit + 1).await;
    assert_eq!(refused.status, StatusCode::PAYMENT_REQUIRED, "{}", refused.body);
}

fn serve(site: &Site, settings: &[(&str, &str)]) -> Service {
    let mut command = site.serve_command();
    command
        .env("WEBSVC__LLM__BASE_URL", MODEL)
        .env("WEBSVC__LLM__API_KEY", "sk-of-the-tests")
        .env("WEBSVC__LLM__MODEL", "tiny");
    for (name, value) in settings {
        command.env(name, value);
    }
    Service::start(&mut command)
}

/// Waits until a run has ended, and returns its status.
pub(crate) async fn wait_for_end(service: &Service, path: &str) -> Value {
    wait_until(service, path, |status| status["status"] != "processing").await
}

/// Reads a path until its response fulfils a condition.
pub(crate) async fn wait_until(service: &Service, path: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    let polling = async {
        loop {
            let Response { status, body, .. } = service.get(path).await;
            assert_eq!(status, StatusCode::OK, "{body}");
            if is_expected(&body) {
                return body;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.expect("the expected state")
}

pub(crate) fn price_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "euros": { "type": "integer" } },
        "required": ["name", "euros"],
    })
}

fn price() -> Value {
    json!({ "name": "sencha", "euros": 12 })
}

fn decision(action: &str, reference: &str, text: &str) -> Page {
    FakeModel::json(&json!({ "why": "It is next.", "action": action, "ref": reference, "text": text }))
}

/// Returns the number of a step; `None` for a request about data.
fn step(body: &Value) -> Option<u32> {
    let text = FakeModel::prompt_text(body);
    let line = text.split("## Step\n").nth(1)?;
    line.strip_prefix("Step ")?.split(' ').next()?.parse().ok()
}

/// Collects the first page, and then answers with the price of the sencha.
fn collecting(body: &Value) -> Page {
    match step(body) {
        Some(1) => decision("collect", "p1", ""),
        Some(_) => decision("done", "", ""),
        None => FakeModel::json(&price()),
    }
}

/// Looks for other words until its steps are used.
fn wandering(body: &Value) -> Page {
    match step(body) {
        Some(number) => decision("find", "", &format!("word {number}")),
        None => FakeModel::json(&price()),
    }
}

/// Does the same, and then answers with what no page states.
fn inventing(body: &Value) -> Page {
    match step(body) {
        Some(_) => wandering(body),
        None => FakeModel::json(&json!({ "name": "oolong", "euros": 99 })),
    }
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Collects the page, and then never answers in time.
pub(crate) fn hanging(body: &Value) -> Page {
    match step(body) {
        Some(1) => decision("collect", "p1", ""),
        Some(_) => decision("done", "", "").delay(Duration::from_secs(600)),
        None => FakeModel::json(&price()),
    }
}

/// Waits until a run has data in its trace.
pub(crate) async fn wait_for_data(service: &Service, path: &str) {
    wait_until(service, &format!("{path}/trace"), |body| {
        body["events"].as_array().unwrap().iter().any(|event| event["type"] == "artifact.updated")
    })
    .await;
}
