//! Tests of monitors: checks of pages, sites and searches, with their changes, events, judgments and history.

mod channels;
mod checks;
mod conditions;
mod emails;
mod events;
mod requests;
mod runs;
mod slack;
pub(crate) mod tools;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, ReceivedRequest, TestWeb};

use crate::harness::{Response, Service, Site};

const MONITOR: &str = "/v2/monitor";
const TEA: &str = "http://shop.test/tea";
const HOOK: &str = "http://hook.test/in";
const MODEL: &str = "http://model.test/v1";

/// How long a check may take.
const TIMEOUT: Duration = Duration::from_secs(150);

/// The pages of a shop, which a test changes. A page without content does not exist.
#[derive(Clone, Default)]
struct Shop(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    tea: Option<Page>,
    /// Names of the pages to which the start page links.
    links: Vec<&'static str>,
}

impl Shop {
    fn set_tea(&self, lines: &[&str]) {
        let lines: String = lines.iter().map(|line| format!("<p>{line}</p>\n")).collect();
        self.respond(Some(Page::html(format!("<title>Tea</title><main><h1>Tea</h1>{lines}</main>"))));
    }

    fn respond(&self, page: Option<Page>) {
        self.0.lock().unwrap().tea = page;
    }

    fn link(&self, names: &[&'static str]) {
        self.0.lock().unwrap().links = names.to_vec();
    }

    fn tea(&self) -> Page {
        self.0.lock().unwrap().tea.clone().unwrap_or_else(|| Page::html("<p>Gone</p>").status(404))
    }

    fn start(&self) -> Page {
        let links = self
            .0
            .lock()
            .unwrap()
            .links
            .iter()
            .map(|name| format!("<a href='/{name}'>{name}</a> "))
            .collect::<String>();
        Page::html(format!("<title>Shop</title><main><h1>Shop</h1><p>All pages: {links}</p></main>"))
    }

    /// Returns a page that exists only while the start page links to it.
    fn linked(&self, name: &'static str) -> Page {
        match self.0.lock().unwrap().links.contains(&name) {
            true => {
                Page::html(format!("<title>{name}</title><main><h1>{name}</h1><p>About {name}.</p></main>"))
            }
            false => Page::html("<p>Gone</p>").status(404),
        }
    }
}

/// A service with the shop, a webhook receiver and a language model.
struct MonitorTest {
    shop: Shop,
    world: TestWeb,
    site: Site,
    service: Service,
}

impl MonitorTest {
    async fn new() -> Self {
        Self::with_settings(&[]).await
    }

    async fn with_settings(settings: &[(&str, &str)]) -> Self {
        Self::with(|_| FakeModel::bad_request("no model in this test"), settings).await
    }

    async fn with(model: impl Fn(&Value) -> Page + Send + Sync + 'static, settings: &[(&str, &str)]) -> Self {
        let shop = Shop::default();
        shop.set_tea(&["Sencha costs 12 euros.", "Rooibos costs 5 euros."]);
        let (tea, start) = (shop.clone(), shop.clone());
        let mut world = TestWeb::builder()
            .page_with("http://shop.test/", move |_| start.start())
            .page_with(TEA, move |_| tea.tea())
            .page_with(HOOK, |_| Page::text(""))
            .page_with(slack::WEBHOOK, |_| Page::text("ok"))
            .page_with(channels::NTFY_SERVER, |_| Page::text("{}"))
            .page_with(channels::JSON_RECEIVER, |_| Page::text("ok"))
            .page_with(slack::BUSY, |_| Page::text("busy").status(503));
        for name in ["one", "two"] {
            let shop = shop.clone();
            world = world.page_with(&format!("http://shop.test/{name}"), move |_| shop.linked(name));
        }
        let world = FakeModel::with_responder(model).serve(world, MODEL).start().await;
        let site = Site::new(&world);
        let service = serve(&site, settings);
        Self { shop, world, site, service }
    }

    /// Creates a monitor, and returns its path.
    async fn create(&self, fields: Value) -> String {
        let Response { status, body, .. } = self.try_create(fields).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        format!("{MONITOR}/{}", body["data"]["id"].as_str().unwrap())
    }

    /// Sends a request that creates a monitor with these fields; others have values that are valid.
    async fn try_create(&self, fields: Value) -> Response {
        let mut monitor = json!({
            "name": "Tea",
            "schedule": { "cron": "0 0 1 1 *" },
            "targets": [{ "type": "scrape", "urls": [TEA] }],
        });
        for (name, value) in fields.as_object().unwrap() {
            monitor[name] = value.clone();
        }
        self.service.post(MONITOR, monitor.to_string()).await
    }

    /// Starts a check, and returns its path.
    async fn start(&self, monitor: &str) -> String {
        let Response { status, body, .. } = self.service.post(&format!("{monitor}/run"), "").await;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!((&body["data"]["status"], &body["data"]["trigger"]), (&json!("queued"), &json!("manual")));
        format!("{monitor}/checks/{}", body["id"].as_str().unwrap())
    }

    /// Runs a check, and returns it with its pages.
    async fn run(&self, monitor: &str) -> Value {
        let check = self.start(monitor).await;
        wait_for_end(&self.service, &check).await
    }

    async fn patch(&self, path: &str, body: Value) -> Response {
        let headers = [("content-type", "application/json")];
        self.service.send(Method::PATCH, path, &headers, body.to_string()).await
    }

    /// Returns the events that the receiver got.
    fn events(&self) -> Vec<ReceivedRequest> {
        self.world.requests().into_iter().filter(|request| request.url.starts_with(HOOK)).collect()
    }
}

fn serve(site: &Site, settings: &[(&str, &str)]) -> Service {
    site.serve_with(settings)
}

fn with_model() -> [(&'static str, &'static str); 2] {
    [("WEBSVC__LLM__BASE_URL", MODEL), ("WEBSVC__LLM__MODEL", "tiny")]
}

/// Waits until a check has ended, and returns it with its pages.
pub(crate) async fn wait_for_end(service: &Service, check: &str) -> Value {
    let polling = async {
        loop {
            let Response { status, body, .. } = service.get(check).await;
            assert_eq!(status, StatusCode::OK, "{body}");
            if !["queued", "running"].contains(&body["data"]["status"].as_str().unwrap()) {
                return body["data"].clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.expect("the check ends")
}

/// Reads a check until its notifications fulfil a condition, and returns them.
async fn wait_for_notifications(
    service: &Service,
    monitor: &str,
    check: &Value,
    is_expected: impl Fn(&Value) -> bool,
) -> Value {
    let path = format!("{monitor}/checks/{}", check["id"].as_str().unwrap());
    let reading = async {
        loop {
            let status = service.get(&path).await.body["data"]["notificationStatus"].clone();
            if is_expected(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, reading).await.expect("the notifications reach the expected state")
}

/// Returns the statuses of the pages of a check by URL, sorted.
fn statuses(check: &Value) -> Vec<(String, String)> {
    let pages = check["pages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut statuses: Vec<_> = pages.map(|page| (text(&page["url"]), text(&page["status"]))).collect();
    statuses.sort();
    statuses
}

#[track_caller]
fn check_summary(check: &Value, expected: &Value) {
    let summary = check["summary"].as_object().unwrap();
    let counted: serde_json::Map<String, Value> = summary
        .iter()
        .filter(|(_, count)| **count != 0)
        .map(|(name, count)| (name.clone(), count.clone()))
        .collect();
    assert_eq!(Value::Object(counted), *expected, "{check}");
}
