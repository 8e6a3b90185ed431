//! Tests of the dashboard in a browser.

mod accessibility;
mod agents;
mod code;
mod identity_provider;
mod keyboard;
mod monitors;
mod service;
mod sessions;
mod views;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use websvc_browser::{Browser, BrowserConfig, Matches, RenderRequest, RenderedPage, Step, Viewport};
use websvc_testkit::{FakeModel, Page, TestWeb};
use websvc_transport::{AddressGuard, Client, ClientConfig};

use crate::browser::path_or_skip;
use crate::harness::{Service, Site, assert_fields};

/// A script in the text of a page, which must not run in the dashboard.
const SCRIPT: &str = "window.stolen=1";

/// Functions for the scripts of the tests: to wait for a condition, to find elements and to open a view.
const TOOLS: &str = r##"
globalThis.until = async (name, find) => {
  for (let i = 0; i < 600; i += 1) { const value = find(); if (value) return value; await new Promise((resolve) => setTimeout(resolve, 20)); }
  throw new Error(`${name} did not appear: ${document.querySelector("#alert").textContent} ${document.querySelector("main").innerText.slice(0, 400)}`);
};
globalThis.button = (text, within = document) => [...within.querySelectorAll("button")].find((element) => element.textContent === text);
globalThis.visit = async (page, ready) => { location.hash = `#/${page}`; return until(page, () => document.querySelector("h1")?.textContent.toLowerCase() === page && document.querySelector(ready)); };
globalThis.labelled = (text) => { const label = [...document.querySelectorAll("label")].find((element) => element.textContent === text); return label && document.getElementById(label.htmlFor); };
globalThis.fill = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", { bubbles: true })); };
globalThis.heading = (text) => until(text, () => document.querySelector("h1")?.textContent === text);
globalThis.statusText = () => document.querySelector("#status").textContent;
void 0;
"##;

/// The language model of the tests that configure one.
const MODEL: &str = "http://model.test/v1";

struct DashboardTest {
    /// The HTML of `http://shop.test/tea`, which a test changes.
    tea: Arc<Mutex<String>>,
    browser: Browser,
    service: Service,
    site: Site,
    key: String,
    _world: TestWeb,
}

/// Starts a service with an admin key and a page whose title and text contain markup, and a browser to view it.
async fn start() -> Option<DashboardTest> {
    start_with(&[]).await
}

/// Does the same, with a browser of the service that renders up to `pages` pages at once.
async fn start_with_pages(pages: usize) -> Option<DashboardTest> {
    start_with(&[("WEBSVC__BROWSER__CONCURRENCY", &pages.to_string())]).await
}

/// Does the same, with settings of the service.
async fn start_with(settings: &[(&str, &str)]) -> Option<DashboardTest> {
    let path = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let html = format!(
        "<title>Tea &lt;img src=x onerror={SCRIPT}&gt;</title><main><h1>Brewing tea</h1><p>Water of eighty degrees, \
         &lt;script&gt;{SCRIPT}&lt;/script&gt; and two minutes of patience make a good cup of green tea.</p><pre><code>brew --water 80 \
         {}</code></pre><table><tr><th>Tea</th><th>{}</th></tr><tr><td>Green</td><td>2</td></tr></table></main>",
        "--patience ".repeat(40),
        "Minutes".repeat(40)
    );
    let tea = Arc::new(Mutex::new(String::new()));
    let shown = Arc::clone(&tea);
    let world = TestWeb::builder()
        .page("http://tea.test/", Page::html(html))
        .page_with(monitors::TEA, move |_| Page::html(shown.lock().unwrap().clone()));
    let world = FakeModel::with_responder(agents::respond).serve(world, MODEL).start().await;
    let site = Site::new(&world);
    let key = site.create_key(&["--team", "default", "--admin"]);
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC__BROWSER__PATH", &path).envs(settings.iter().copied());
    let mut service = Service::start(&mut command);
    service.key.clone_from(&key);
    let document = json!({"url": "http://tea.test/", "title": format!("Tea <img src=x onerror={SCRIPT}>"), "body": "the brewing of tea"});
    service.post("/v2/index/documents", json!({ "documents": [document] }).to_string()).await;
    service.search_until_found("brewing").await;
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    let browser = Browser::new(BrowserConfig { path: Some(path), ..BrowserConfig::default() }, client);
    Some(DashboardTest { tea, browser, service, site, key, _world: world })
}

impl DashboardTest {
    async fn open(&self, path: &str, steps: Vec<Step>) -> RenderedPage {
        self.open_with_width(1200, path, steps).await
    }

    /// Opens a path in a window of this width.
    async fn open_with_width(&self, width: u32, path: &str, steps: Vec<Step>) -> RenderedPage {
        let url = format!("{}{path}", self.service.address).parse().unwrap();
        let request = RenderRequest::new(url, Instant::now() + Duration::from_secs(600));
        let viewport = Some(Viewport { width, height: 900 });
        let rendered = self.browser.render(&RenderRequest { steps, viewport, ..request }).await.unwrap();
        assert!(rendered.warnings.is_empty(), "{:?}", rendered.warnings);
        rendered
    }

    /// Returns the steps that sign in with a key.
    fn sign_in(key: &str) -> Vec<Step> {
        vec![
            Step::WaitFor("input[type=password]".to_owned()),
            Step::Click { selector: "input[type=password]".to_owned(), matches: Matches::First },
            Step::Write(key.to_owned()),
            Step::Press("Enter".to_owned()),
            Step::Script(TOOLS.to_owned()),
        ]
    }

    /// Signs in, runs a script, and returns its value.
    async fn run_signed_in(&self, script: &str) -> Value {
        let mut steps = Self::sign_in(&self.key);
        steps.push(Step::WaitFor("nav a".to_owned()));
        steps.push(Step::Script(format!("(async () => {{ {script} }})()")));
        let rendered = self.open("/", steps).await;
        rendered.returns.last().unwrap().value.clone()
    }
}

#[tokio::test]
async fn playground_search_renders_markup_as_text() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            const query = await until("the form", () => document.querySelector("input[type=search]"));
            query.value = "brewing of the tea";
            document.querySelector("fieldset input[value=markdown]").checked = true;
            query.form.requestSubmit();
            const card = await until("a result", () => document.querySelector(".result"));
            const parts = [...document.querySelectorAll("main details")].filter((element) => element.closest("[aria-label=Response]"));
            for (const part of parts) part.open = true;
            const rendered = await until("the content", () => document.querySelector(".rendered"));
            return { title: card.querySelector("h3").textContent, rendered: rendered.innerText, marked: [...document.querySelectorAll("mark")].map((element) => element.textContent.toLowerCase()),
              scripts: rendered.querySelectorAll("script, img").length, stolen: window.stolen ?? null, status: statusText(),
              code: [...document.querySelectorAll("main summary")].map((element) => element.textContent),
              curl: document.querySelector("main").textContent.includes('"formats": [\n      "markdown"') };
            "#,
        )
        .await;
    assert_eq!(found["title"], json!(format!("Tea <img src=x onerror={SCRIPT}>")));
    let rendered = found["rendered"].as_str().unwrap();
    assert!(rendered.contains("Water of eighty degrees") && rendered.contains("<script>"), "{found}");
    let marked = found["marked"].as_array().unwrap();
    assert!(marked.iter().all(|word| word == "brewing" || word == "tea"), "stop words are marked: {found}");
    assert!(marked.contains(&json!("tea")), "{found}");
    assert_eq!((&found["scripts"], &found["stolen"]), (&json!(0), &Value::Null), "{found}");
    assert!(found["status"].as_str().unwrap().contains("credits"), "{found}");
    for language in ["curl", "Python", "JavaScript", "Rust", "Response as JSON"] {
        assert!(found["code"].as_array().unwrap().contains(&json!(language)), "{found}");
    }
    assert_eq!(found["curl"], json!(true), "{found}");
}

#[tokio::test]
async fn playground_shows_screenshot_and_system_shows_browser() {
    let Some(dashboard) = start_with_pages(1).await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            const query = await until("the form", () => document.querySelector("input[type=search]"));
            query.value = "brewing";
            document.querySelector("fieldset input[value=screenshot]").checked = true;
            query.form.requestSubmit();
            const image = await until("the image", () => [...document.querySelectorAll(".screenshot")].find((element) => element.naturalWidth > 0));
            const { width } = image.getBoundingClientRect();
            await visit("system", "[aria-label=Browser] dl");
            return { naturalWidth: image.naturalWidth, isVisible: width > 0, alt: image.alt, browser: document.querySelector("[aria-label=Browser]").textContent };
            "#,
        )
        .await;
    assert!(found["naturalWidth"].as_u64().unwrap() > 100 && found["isVisible"] == json!(true), "{found}");
    assert_eq!(found["alt"], json!("Screenshot of http://tea.test/"), "{found}");
    assert!(found["browser"].as_str().unwrap().contains("1 opened"), "{found}");
}

#[tokio::test]
async fn created_key_is_shown_once_works_and_is_revoked() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            await visit("keys", "form");
            labelled("Name").value = "<b>for the test</b>";
            document.querySelector("form").requestSubmit();
            const secret = (await until("the secret", () => document.querySelector(".secret"))).textContent;
            const row = await until("the row of the key", () => [...document.querySelectorAll("tbody tr")].find((element) => element.textContent.includes("<b>for the test</b>")));
            const request = async () => (await fetch("/v2/index/stats", { headers: { authorization: `Bearer ${secret}` }, credentials: "omit" })).status;
            const before = await request();
            button("Revoke", row).click();
            const dialog = await until("the dialog", () => document.querySelector("dialog[open]"));
            button("Revoke", dialog).click();
            await until("the status", () => statusText().includes("was revoked"));
            const after = await request();
            await visit("teams", "table");
            await visit("keys", "form");
            return { before, after, secret: secret.slice(0, 3), shown: document.querySelectorAll(".secret").length, bold: document.querySelectorAll("main b").length };
            "#,
        )
        .await;
    assert_eq!(found, json!({"before": 200, "after": 401, "secret": "fc-", "shown": 0, "bold": 0}));
    let listed = dashboard.site.succeed(&["keys", "list"]);
    assert!(listed.contains("<b>for the test</b>") && listed.contains("revoked"), "{listed}");
}

#[tokio::test]
async fn created_team_and_usage_are_shown() {
    let Some(dashboard) = start().await else { return };
    let found = dashboard
        .run_signed_in(
            r#"
            await visit("teams", "table");
            button("New team").click();
            const form = await until("the form", () => document.querySelector("form"));
            const inputs = form.querySelectorAll("input");
            inputs[0].value = "<i>guests</i>";
            inputs[1].value = "7";
            form.requestSubmit();
            await until("the team", () => [...document.querySelectorAll("tbody td")].some((cell) => cell.textContent === "<i>guests</i>"));
            const italic = document.querySelectorAll("main i").length;
            await visit("playground", "input[type=search]");
            document.querySelector("input[type=search]").value = "brewing";
            document.querySelector("form").requestSubmit();
            await until("a result", () => document.querySelector(".result"));
            await visit("usage", "svg");
            const usage = await until("the search", () => [...document.querySelectorAll("tbody tr")].map((row) => row.textContent).find((text) => text.includes("search")));
            const budget = [...document.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)).find(([name]) => name === "<i>guests</i>");
            await visit("requests", "table");
            const request = document.querySelector("tbody").textContent;
            await visit("system", "dl");
            const system = document.querySelector("main").textContent;
            return { italic, usage, budget, request, system };
            "#,
        )
        .await;
    assert_fields(&found, &json!({ "italic": 0, "budget": ["<i>guests</i>", "7", "7"] }));
    assert!(found["usage"].as_str().unwrap().contains("default"), "{found}");
    assert!(found["request"].as_str().unwrap().contains("search"), "{found}");
    assert!(found["system"].as_str().unwrap().contains("Documents"), "{found}");
}

#[tokio::test]
async fn dashboard_requires_an_admin_key_and_its_revocation_ends_the_session() {
    let Some(dashboard) = start().await else { return };
    let non_admin_key = dashboard.site.succeed(&["keys", "create", "--team", "default"]);
    let alert = "(async () => until('an alert', () => document.querySelector('#alert').textContent))()";
    for (key, expected) in
        [("fc-00000000000000000000000000000000", "Unauthorized"), (non_admin_key.trim(), "admin")]
    {
        let mut steps = DashboardTest::sign_in(key);
        steps.push(Step::Script(alert.to_owned()));
        let text = dashboard.open("/", steps).await.returns.last().unwrap().value.clone();
        assert!(text.as_str().unwrap().contains(expected), "{key}: {text}");
    }
    let found = dashboard
        .run_signed_in(
            r#"
            const { csrfToken } = await (await fetch("/dashboard/session")).json();
            const status = async (method, path, headers = {}) => (await fetch(path, { method, headers })).status;
            const forged = await status("POST", "/dashboard/keys", { "content-type": "application/json" });
            const searched = await status("POST", "/v2/search", { "content-type": "application/json" });
            const readable = document.cookie;
            const keys = await (await fetch("/dashboard/keys")).json();
            const own = keys.keys.find((key) => key.admin).id;
            const revoked = await status("DELETE", `/dashboard/keys/${own}`, { "x-csrf-token": csrfToken });
            const after = await status("GET", "/dashboard/keys");
            await visit("keys", "input[type=password]").catch(() => {});
            return { forged, searched, readable, revoked, after, title: document.title };
            "#,
        )
        .await;
    assert_eq!(
        found,
        json!({"forged": 403, "searched": 403, "readable": "", "revoked": 200, "after": 401, "title": "Sign in - websvc"})
    );
}
