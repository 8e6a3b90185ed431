//! Tests of rendered pages over the API of a service with a browser.

mod actions;
mod emulation;
mod frameworks;
mod pdf;
mod refusals;
mod screenshots;
mod service;
mod shell;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::harness::{Service, Site, skip};

/// Returns the path in a variable that `cargo xtask test` sets. Without it, the test is skipped.
pub(crate) fn path_or_skip(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skip(&format!("{variable} is not set (cargo xtask test)"));
    }
    path
}

/// A page with a button, an input field, and a text that only a script writes.
const TEA: &str = r#"<!doctype html><html lang="en"><head><title>Tea</title>
<style>body { margin: 0 } #top { background: rgb(0, 128, 0); height: 400px } #late { height: 3000px }</style></head>
<body><div id="top"></div><main><h1>Brewing tea by hand</h1><p>Water of eighty degrees, two minutes, no more, and
the leaves are good for a second and a third infusion.</p><p id="drawn"></p>
<input id="name"><button id="more" onclick="document.querySelector('#drawn').textContent =
'More was asked for by ' + document.querySelector('#name').value + '.'">More</button><div id="late"></div></main>
<script>document.querySelector('#drawn').textContent = 'A script wrote this in ' +
Intl.DateTimeFormat().resolvedOptions().timeZone + ' for ' + navigator.languages[0] + '.'</script></body></html>"#;

pub(crate) struct BrowserTest {
    pub(crate) world: TestWeb,
    pub(crate) service: Service,
    pub(crate) site: Site,
}

impl BrowserTest {
    /// Starts a service with a browser, and indexes `urls`.
    pub(crate) async fn start(world: TestWebBuilder, chromium: PathBuf, urls: &[&str]) -> Self {
        let world = world.start().await;
        let site = Site::new(&world);
        let service = serve(&site, &chromium);
        let documents: Vec<_> =
            urls.iter().map(|url| json!({"url": url, "title": "A page", "body": "listed"})).collect();
        service.post("/v2/index/documents", json!({ "documents": documents }).to_string()).await;
        service.search_until_found("listed").await;
        Self { world, service, site }
    }

    /// Scrapes the page of a host, and returns the result and the warning.
    pub(crate) async fn scrape(&self, host: &str, options: Value) -> (Value, Value) {
        let query = format!("site:{host}");
        let response =
            self.service.search(json!({"query": query, "limit": 1, "scrapeOptions": options})).await;
        assert_eq!(response.status, 200, "{}", response.body);
        (response.body["data"]["web"][0].clone(), response.body["warning"].clone())
    }

    /// Runs actions on the page of a host, and returns their results.
    async fn act(&self, host: &str, actions: Value) -> Value {
        let options = json!({"formats": ["html"], "onlyMainContent": false, "actions": actions});
        let (page, warning) = self.scrape(host, options).await;
        assert_eq!(page["metadata"]["error"], Value::Null, "{page}");
        assert_eq!(warning, Value::Null);
        page["actions"].clone()
    }

    /// Runs actions on the page of a host, and returns the values of its scripts.
    async fn script_values(&self, host: &str, actions: Value) -> Vec<Value> {
        let results = self.act(host, actions).await;
        let returns = results["javascriptReturns"].as_array().unwrap_or_else(|| panic!("{results}"));
        returns.iter().map(|returned| returned["value"].clone()).collect()
    }

    /// Returns the content type and the bytes of a file in a result. The extension of its URL must match the type.
    async fn file(&self, url: &Value) -> (String, Vec<u8>) {
        let path = url.as_str().and_then(|url| url.strip_prefix(&self.service.address));
        let path = path.unwrap_or_else(|| panic!("{url} is not a URL of the service"));
        let (content_type, bytes) = self.service.file(path).await;
        let extension = match content_type.as_str() {
            "image/png" => ".png?",
            "image/jpeg" => ".jpg?",
            "application/pdf" => ".pdf?",
            other => panic!("{other}"),
        };
        assert!(path.contains(extension), "{path} is {content_type}");
        (content_type, bytes)
    }
}

/// Starts a service with a browser.
pub(crate) fn serve(site: &Site, chromium: &Path) -> Service {
    Service::start(&mut serve_command(site, chromium))
}

/// Starts a service with a browser, which writes its log to a file.
pub(crate) fn serve_logging(site: &Site, chromium: &Path, log: &Path) -> Service {
    Service::start_logging(&mut serve_command(site, chromium), log)
}

pub(crate) fn serve_command(site: &Site, chromium: &Path) -> Command {
    let mut command = site.serve_command();
    command.env("WEBSVC__BROWSER__CONCURRENCY", "2");
    command.env("WEBSVC__BROWSER__PATH", chromium);
    command
}

/// Starts a service with a browser and one page per host.
async fn start(pages: &[(&str, &str)]) -> Option<BrowserTest> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let world =
        pages.iter().fold(TestWeb::builder(), |world, (url, html)| world.page(url, Page::html(*html)));
    let urls: Vec<&str> = pages.iter().map(|(url, _)| *url).collect();
    Some(BrowserTest::start(world, chromium, &urls).await)
}

async fn start_with_tea_page() -> Option<BrowserTest> {
    start(&[("http://tea.test/", TEA)]).await
}
