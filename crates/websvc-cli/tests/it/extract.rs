//! Tests of extractions: the wire format, merged data, sources, sites, searches, budgets and restarts, with a scripted model.

mod answers;
mod credits;
mod n8n;
mod property_order;
mod requests;
mod sdk;
mod time;
mod work;

use http::StatusCode;
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use crate::agent::MODEL;
use crate::harness::{Response, Service, Site};

const EXTRACT: &str = "/v2/extract";
const EXTRACT_V1: &str = "/v1/extract";
const SHOP: &str = "http://shop.test/";
const TEA: &str = "http://shop.test/tea";
const COFFEE: &str = "http://shop.test/coffee";
const OOLONG: &str = "http://other.test/oolong";
const STALLS: &str = "http://stalls.test/";
const STALL: &str = "http://stalls.test:8081/tea";
const GONE: &str = "http://shop.test/gone";
const HOOK: &str = "http://hook.test/in";
const UNKNOWN: &str = "0b1f8c1e-6f0f-4f0a-9a53-6f1b2c3d4e5f";

/// A service with a shop, a webhook receiver and a language model.
struct ExtractTest {
    world: TestWeb,
    site: Site,
    service: Service,
}

impl ExtractTest {
    /// With a model that reads the drinks of a page.
    async fn new() -> Self {
        Self::with(reading).await
    }

    async fn with(model: impl Fn(&Value) -> Page + Send + Sync + 'static) -> Self {
        Self::with_credits(model, None).await
    }

    /// With a budget of the team.
    async fn with_credits(
        model: impl Fn(&Value) -> Page + Send + Sync + 'static,
        credits: Option<&str>,
    ) -> Self {
        let page = |name: &str, price: u32| {
            Page::html(format!(
                "<title>{name}</title><main><h1>{name}</h1><p>A tin of {name} costs {price} euros in this shop, \
                 and is sent to every place in the country.</p></main>"
            ))
        };
        let start = Page::html(
            "<title>Leaf</title><main><h1>Leaf</h1><p>Leaf is a shop for drinks from every place.</p>\
             <a href='/tea'>Tea</a> <a href='/coffee'>Coffee</a></main>",
        );
        let world = TestWeb::builder()
            .page(SHOP, start)
            .page(TEA, page("sencha", 12))
            .page(COFFEE, page("arabica", 7))
            .page(OOLONG, page("oolong", 9))
            .page(STALLS, Page::html(format!("<title>Stalls</title><a href='{STALL}'>Sencha</a>")))
            .page("http://stalls.test/tea", page("sencha", 12))
            .page(GONE, Page::html("<title>Gone</title><main>This page does not exist.</main>").status(404))
            .page(time::SLOW, Page::unresponsive())
            .page(time::SLOW_HOOK, Page::unresponsive())
            .page_with(HOOK, |_| Page::text(""));
        let world = FakeModel::with_responder(model).serve(world, MODEL).start().await;
        let site = Site::new(&world);
        if let Some(credits) = credits {
            site.succeed(&["teams", "set", "default", "--credits", credits]);
        }
        let service = serve(&site);
        Self { world, site, service }
    }

    /// Sends a request for the drinks of pages with these fields; others have values that are valid.
    async fn try_start(&self, path: &str, fields: Value) -> Response {
        let mut request = json!({ "prompt": "The drinks", "urls": [TEA, COFFEE], "schema": drinks_schema() });
        for (name, value) in fields.as_object().unwrap() {
            request[name] = value.clone();
        }
        self.service.post(path, request.to_string()).await
    }

    /// Runs an extraction to its end, and returns the response of its start and its status.
    async fn run(&self, fields: Value) -> (Value, Value) {
        let Response { status, body, .. } = self.try_start(EXTRACT, fields).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        let ended = self.wait_for_end(EXTRACT, &body).await;
        (body, ended)
    }

    async fn wait_for_end(&self, path: &str, started: &Value) -> Value {
        let path = format!("{path}/{}", started["id"].as_str().unwrap());
        crate::agent::wait_for_end(&self.service, &path).await
    }

    /// Returns the URLs of the pages that were requested, in alphabetical order.
    fn requested(&self) -> Vec<String> {
        let urls = self.world.requests().into_iter().map(|request| request.url);
        let is_page = |url: &String| [SHOP, TEA, COFFEE, GONE].contains(&url.as_str());
        let mut urls: Vec<String> = urls.filter(is_page).collect();
        urls.sort();
        urls
    }
}

fn serve(site: &Site) -> Service {
    site.serve_with(&[
        ("WEBSVC__LLM__BASE_URL", MODEL),
        ("WEBSVC__LLM__API_KEY", "sk-of-the-tests"),
        ("WEBSVC__LLM__MODEL", "tiny"),
    ])
}

fn drinks_schema() -> Value {
    let drink = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "euros": { "type": "integer" } },
        "required": ["name", "euros"],
    });
    json!({
        "type": "object",
        "properties": { "shop": { "type": "string" }, "drinks": { "type": "array", "items": drink } },
        "required": ["drinks"],
    })
}

/// The data of the pages for sencha and arabica together.
fn drinks() -> Value {
    json!({
        "shop": "Leaf",
        "drinks": [{ "name": "sencha", "euros": 12 }, { "name": "arabica", "euros": 7 }],
    })
}

/// Reads the drinks of a page. One page names the shop, and a drink of another page.
fn reading(body: &Value) -> Page {
    let text = FakeModel::prompt_text(body);
    let data = if text.contains("A tin of sencha") {
        json!({ "shop": null, "drinks": [{ "name": "sencha", "euros": 12 }] })
    } else if text.contains("A tin of arabica") {
        let again = json!({ "name": "Sencha", "euros": null });
        json!({ "shop": "Leaf", "drinks": [{ "name": "arabica", "euros": 7 }, again] })
    } else {
        json!({ "shop": null, "drinks": [] })
    };
    FakeModel::json(&data)
}
