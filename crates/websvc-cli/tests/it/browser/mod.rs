//! Pages that need a browser, through the interface: a page of the loopback web for each thing that one can do.

mod actions;
mod emulation;
mod frameworks;
mod pictures;
mod printing;
mod refusals;
mod service;
mod shell;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, TestWebBuilder};

use crate::harness::{KEY, Service, Site, skip};

/// Returns the path that `cargo xtask test` provides for a browser test.
pub(crate) fn provided(variable: &str, test: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skip(test, &format!("{variable} is not set (cargo xtask test)"));
    }
    path
}

/// A page with a button, a field, and a text that only scripts write.
const TEA: &str = r#"<!doctype html><html lang="en"><head><title>Tea</title>
<style>body { margin: 0 } #top { background: rgb(0, 128, 0); height: 400px } #late { height: 3000px }</style></head>
<body><div id="top"></div><main><h1>Brewing tea by hand</h1><p>Water of eighty degrees, two minutes, no more, and
the leaves are good for a second and a third infusion.</p><p id="drawn"></p>
<input id="name"><button id="more" onclick="document.querySelector('#drawn').textContent =
'More was asked for by ' + document.querySelector('#name').value + '.'">More</button><div id="late"></div></main>
<script>document.querySelector('#drawn').textContent = 'A script wrote this in ' +
Intl.DateTimeFormat().resolvedOptions().timeZone + ' for ' + navigator.languages[0] + '.'</script></body></html>"#;

pub(crate) struct Stage {
    pub(crate) world: TestWeb,
    pub(crate) service: Service,
    pub(crate) site: Site,
}

impl Stage {
    /// Starts a service with a browser, and an index that finds `urls` by their hosts.
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

    /// Scrapes the page of this host, and returns it with the warning.
    pub(crate) async fn scrape(&self, host: &str, options: Value) -> (Value, Value) {
        let query = format!("site:{host}");
        let answer = self.service.search(json!({"query": query, "limit": 1, "scrapeOptions": options})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (answer.body["data"]["web"][0].clone(), answer.body["warning"].clone())
    }

    /// Does this on the page of this host, and returns what the actions left.
    async fn act(&self, host: &str, actions: Value) -> Value {
        let options = json!({"formats": ["html"], "onlyMainContent": false, "actions": actions});
        let (page, warning) = self.scrape(host, options).await;
        assert_eq!(page["metadata"]["error"], Value::Null, "{page}");
        assert_eq!(warning, Value::Null);
        page["actions"].clone()
    }

    /// Does this on the page of this host, and returns what its scripts gave.
    async fn returns(&self, host: &str, actions: Value) -> Vec<Value> {
        let done = self.act(host, actions).await;
        let returns = done["javascriptReturns"].as_array().unwrap_or_else(|| panic!("{done}"));
        returns.iter().map(|returned| returned["value"].clone()).collect()
    }

    /// Returns the type and the bytes of a file that a result names; its URL ends as its type says.
    async fn file(&self, url: &Value) -> (String, Vec<u8>) {
        let path = url.as_str().and_then(|url| url.strip_prefix(&self.service.address));
        let path = path.unwrap_or_else(|| panic!("{url} is no URL of the service"));
        let (kind, bytes) = self.service.file(path).await;
        let ending = match kind.as_str() {
            "image/png" => ".png?",
            "image/jpeg" => ".jpg?",
            "application/pdf" => ".pdf?",
            other => panic!("{other}"),
        };
        assert!(path.contains(ending), "{path} is {kind}");
        (kind, bytes)
    }
}

/// Starts a service with a browser.
pub(crate) fn serve(site: &Site, chromium: &Path) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC__BROWSER__CONCURRENCY", "2");
    Service::start(command.env("WEBSVC__BROWSER__PATH", chromium))
}

/// Starts a service with a browser and these pages, each the first one of its host.
async fn stage(test: &str, pages: &[(&str, &str)]) -> Option<Stage> {
    let chromium = provided("WEBSVC_TEST_CHROMIUM", test)?;
    let world =
        pages.iter().fold(TestWeb::builder(), |world, (url, html)| world.page(url, Page::html(*html)));
    let urls: Vec<&str> = pages.iter().map(|(url, _)| *url).collect();
    Some(Stage::start(world, chromium, &urls).await)
}

async fn tea(test: &str) -> Option<Stage> {
    stage(test, &[("http://tea.test/", TEA)]).await
}
