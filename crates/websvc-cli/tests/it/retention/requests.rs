//! Requests of every kind, successful and failing, whose every part contains the marker.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::RetentionTest;
use crate::harness::Response;

const JSON: (&str, &str) = ("content-type", "application/json");

impl RetentionTest {
    /// Sends every kind of request that needs no browser, and checks the responses.
    pub(super) async fn send_all_requests(&self) {
        self.search_with_content().await;
        self.search_by_session().await;
        self.call_mcp_tools().await;
        self.read_by_address().await;
        self.send_rejected_requests().await;
        self.send_timed_out_requests().await;
        // Must be last: after failures, the engine is paused.
        self.search_failing_engine().await;
    }

    async fn search(&self, key: &str, mut body: Value) -> Response {
        body["query"] = json!(self.marker.named("query"));
        if let Some(enterprise) = self.enterprise {
            body["enterprise"] = json!([enterprise]);
        }
        self.send(key, body.to_string()).await
    }

    async fn send(&self, key: &str, body: String) -> Response {
        let headers = [("authorization", &format!("Bearer {key}")[..]), JSON];
        self.service.send(Method::POST, "/v2/search", &headers, body).await
    }

    /// Returns scrape options that allow pages to be stored, unless the retention of the request forbids it.
    fn scrape_options(&self) -> Value {
        let tracking =
            json!({ "type": "changeTracking", "modes": ["git-diff"], "tag": self.marker.named("tag") });
        let formats = json!(["markdown", "html", "rawHtml", "links", "images", tracking]);
        let rules = json!({ "blacklist": [self.marker.host("blocked")] });
        json!({ "formats": formats, "onlyMainContent": false, "storeInCache": true, "maxAge": 0, "timeout": 2000,
            "skipTlsVerification": true, "includeTags": ["html"], "excludeTags": [format!(".{}", self.marker.named("selector"))],
            "threatProtection": rules })
    }

    /// Searches every source, and scrapes the results.
    pub(super) async fn search_with_content(&self) {
        let named = |name: &str| self.marker.named(name);
        let plain = self.search(&self.key, json!({ "sources": ["web", "images", "news"] })).await;
        assert_eq!(plain.status, 200, "{}", plain.body);
        let response = self.search(&self.key, json!({ "scrapeOptions": self.scrape_options() })).await;
        assert_eq!(response.status, 200, "{}", response.body);
        let results = response.body["data"]["web"].as_array().unwrap();
        let result =
            |url: &str| results.iter().find(|result| result["url"] == json!(url)).unwrap_or(&Value::Null);
        for url in [&self.web.article, &self.web.moved, &self.web.secure] {
            let (page, raw) = (result(url)["markdown"].to_string(), result(url)["rawHtml"].to_string());
            assert!(
                page.contains(&named("body")) && page.contains(&named("alt")),
                "{url}: {}",
                response.body
            );
            assert!(raw.contains(&named("comment")), "{url}: {raw}");
        }
        let text = result(&self.web.pdf)["markdown"].to_string();
        assert!(text.contains(&named("pdf")), "{}", result(&self.web.pdf));
        assert_eq!(
            result(&self.web.gone)["metadata"]["statusCode"],
            json!(404),
            "{}",
            result(&self.web.gone)
        );
        for url in [&self.web.silent, &self.web.refused, &self.web.blocked, &self.web.unresolved] {
            assert!(result(url)["metadata"]["error"].is_string(), "{url}: {}", response.body);
        }
        // A page that is fetched with custom headers is never stored.
        let options =
            json!({ "formats": ["markdown"], "timeout": 2000, "headers": { "x-asked": named("requested") } });
        let response = self.search(&self.key, json!({ "limit": 1, "scrapeOptions": options })).await;
        assert!(
            response.body["data"]["web"][0]["markdown"].to_string().contains(&named("body")),
            "{}",
            response.body
        );
    }

    /// Searches with a session, as the playground of the dashboard does.
    async fn search_by_session(&self) {
        let key = json!({ "key": self.admin }).to_string();
        let headers = [("authorization", ""), JSON];
        let session = self.service.send(Method::POST, "/dashboard/session", &headers, key).await;
        let cookie = session.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let token = session.body["csrfToken"].as_str().unwrap();
        let mut body = json!({ "query": self.marker.named("played"), "limit": 1 });
        body["enterprise"] = self.enterprise.map_or(json!([]), |enterprise| json!([enterprise]));
        let headers = [("authorization", ""), JSON, ("cookie", &cookie[..]), ("x-csrf-token", token)];
        let response = self.service.send(Method::POST, "/v2/search", &headers, body.to_string()).await;
        assert_eq!(response.status, 200, "{}", response.body);
        assert!(
            response.body["data"].to_string().contains(&self.marker.named("result")),
            "{}",
            response.body
        );
        let shown = json!({ "markdown": self.marker.named("rendered") }).to_string();
        self.service.send(Method::POST, "/dashboard/render", &headers, shown).await;
    }

    /// Calls the MCP tools. The scrape tool has no `enterprise` option, so it is called only without one.
    async fn call_mcp_tools(&self) {
        let mut search = json!({ "query": self.marker.named("tool"), "limit": 1 });
        search["scrapeOptions"] = json!({ "formats": ["markdown"], "timeout": 2000, "maxAge": 0 });
        search["enterprise"] = self.enterprise.map_or(json!([]), |enterprise| json!([enterprise]));
        let response = self.tool("search", search).await;
        assert!(response.contains(&self.marker.named("body")), "{response}");
        if self.enterprise.is_some() {
            return;
        }
        for (url, expected) in [(&self.web.moved, "body"), (&self.web.pdf, "pdf"), (&self.web.refused, "")] {
            let response = self.tool("scrape", json!({ "url": url, "maxAge": 0 })).await;
            assert!(
                expected.is_empty() || response.contains(&self.marker.named(expected)),
                "{url}: {response}"
            );
        }
        let response = self.tool(&self.marker.named("tool"), json!({})).await;
        assert!(response.contains("is not offered here"), "{response}");
    }

    /// Reads a page by its URL in the path, which has no `enterprise` option either.
    async fn read_by_address(&self) {
        if self.enterprise.is_some() {
            return;
        }
        let key = format!("Bearer {}", self.key);
        let headers = [("authorization", &key[..]), ("accept", "application/json")];
        let path = format!("/{}", self.web.article);
        let response = self.service.send(Method::GET, &path, &headers, String::new()).await;
        assert!(
            response.body["data"]["content"].to_string().contains(&self.marker.named("body")),
            "{}",
            response.body
        );
    }

    async fn tool(&self, name: &str, arguments: Value) -> String {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        let key = format!("Bearer {}", self.key);
        let accept = ("accept", "application/json, text/event-stream");
        let headers = [("authorization", &key[..]), JSON, accept, ("mcp-protocol-version", "2025-06-18")];
        self.service.send(Method::POST, "/mcp", &headers, call.to_string()).await.body.to_string()
    }

    /// Sends requests that are rejected: malformed ones, and ones over the rights, credits or rate of their key.
    async fn send_rejected_requests(&self) {
        let named = |name: &str| self.marker.named(name);
        let broken = format!("{{\"query\": \"{}\", {}", named("query"), named("broken"));
        assert_eq!(self.send(&self.key, broken).await.status, 400);
        let invalid = json!({ "limit": named("limit"), "scrapeOptions": { named("field"): 1, "formats": [named("format")] } });
        assert_eq!(self.search(&self.key, invalid).await.status, 400);
        assert_eq!(self.search(&self.busy, json!({})).await.status, 200);
        let rules = json!({ "threatProtection": { "blacklist": [self.marker.host("blocked")] } });
        for (key, body, expected) in [
            (&self.unprotected, rules, 403),
            (&self.markdown_only, json!({ "scrapeOptions": self.scrape_options() }), 403),
            (&self.poor, json!({ "limit": 100, "scrapeOptions": self.scrape_options() }), 402),
            (&self.busy, json!({}), 429),
            (&named("key"), json!({}), 401),
        ] {
            let response = self.search(key, body).await;
            assert_eq!(response.status.as_u16(), expected, "{}", response.body);
        }
        let headers = [("authorization", &format!("Bearer {}", self.key)[..]), JSON];
        let path = format!("/v2/search?query={}", named("query"));
        let response = self.service.send(Method::GET, &path, &headers, String::new()).await;
        assert_eq!(response.status, 405, "{}", response.body);
    }

    /// Searches until the failing engine is paused. The errors of the engine repeat the query.
    async fn search_failing_engine(&self) {
        let failing =
            json!({ "query": self.marker.named("failing"), "enterprise": self.enterprise.as_slice() });
        let mut warnings = Vec::new();
        for _ in 0..6 {
            let response = self.send(&self.key, failing.to_string()).await;
            assert_eq!(response.status, 200, "the results of the index are missing: {}", response.body);
            warnings.push(response.body["warning"].to_string());
        }
        let (first, last) = (&warnings[0], &warnings[5]);
        assert!(first.contains(&self.marker.named("failing")) && last.contains("paused"), "{warnings:?}");
        assert!(
            self.marker.trace(last.as_bytes()).is_none(),
            "the warning for a paused engine contains the query: {last}"
        );
    }

    /// Scrapes pages in a browser, with screenshots and with actions on one page.
    pub(super) async fn render_pages(&self) {
        let mut rendering = self.scrape_options();
        rendering["formats"] = json!(["markdown", "screenshot"]);
        (rendering["waitFor"], rendering["timeout"]) = (json!(1), json!(15_000));
        let response = self.search(&self.key, json!({ "scrapeOptions": rendering })).await;
        let page = &response.body["data"]["web"][0];
        assert!(page["markdown"].to_string().contains(&self.marker.named("body")), "{}", response.body);
        assert!(page["screenshot"].is_string(), "{}", response.body);
        let script = format!("localStorage.setItem('{0}', '{0}'); return '{0}'", self.marker.named("script"));
        let actions = json!([{ "type": "executeJavascript", "script": script }, { "type": "screenshot" }, { "type": "pdf" },
            { "type": "click", "selector": format!("#{}", self.marker.named("clicked")), "all": true }, { "type": "scrape" }]);
        let acting = json!({ "formats": ["markdown"], "actions": actions, "timeout": 30_000 });
        let response = self.search(&self.key, json!({ "limit": 1, "scrapeOptions": acting })).await;
        let results_of_actions = &response.body["data"]["web"][0]["actions"];
        assert!(
            results_of_actions["javascriptReturns"].to_string().contains(&self.marker.named("script")),
            "{}",
            response.body
        );
        assert!(
            results_of_actions["pdfs"][0].is_string() && results_of_actions["screenshots"][0].is_string(),
            "{}",
            response.body
        );
    }

    /// Searches and scrapes under lockdown, which uses only the cache, and returns the status.
    pub(super) async fn search_under_lockdown(&self, query: &str) -> u16 {
        let mut scrape_options = self.scrape_options();
        scrape_options["lockdown"] = json!(true);
        scrape_options.as_object_mut().unwrap().shift_remove("maxAge");
        let tool = self.tool("scrape", json!({ "url": self.web.article, "lockdown": true })).await;
        let response = self
            .send(&self.key, json!({ "query": query, "scrapeOptions": scrape_options }).to_string())
            .await;
        assert_eq!(tool.contains("is not in the cache"), response.status == 404, "{tool}\n{}", response.body);
        response.status.as_u16()
    }

    /// Searches once, and returns the request ID.
    pub(super) async fn search_once(&self) -> String {
        let response = self.search(&self.key, json!({})).await;
        assert_eq!(response.status, 200, "{}", response.body);
        response.headers["x-request-id"].to_str().unwrap().to_owned()
    }

    /// Sends a search with a short timeout, and one that is cancelled before its response.
    async fn send_timed_out_requests(&self) {
        let slow = json!({ "timeout": 1000, "scrapeOptions": self.scrape_options() });
        let response = self.search(&self.key, slow).await;
        assert!(matches!(response.status.as_u16(), 200 | 408), "{}", response.body);
        self.cancel_search_after(async { self.silent_page_requested().await }).await;
    }

    /// Sends a search that does not end, and cancels it when `until` is done.
    pub(super) async fn cancel_search_after(&self, until: impl Future<Output = ()>) {
        let mut scrape_options = self.scrape_options();
        scrape_options["timeout"] = json!(300_000);
        let slow = json!({ "timeout": 300_000, "scrapeOptions": scrape_options });
        tokio::select! {
            response = self.search(&self.key, slow) => panic!("{}", response.body),
            () = until => {}
        }
    }

    /// Waits for another request for the page that never responds.
    pub(super) async fn silent_page_requested(&self) {
        let before = self.world.count(&self.web.silent);
        let requested = async {
            while self.world.count(&self.web.silent) == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), requested).await.expect("the page is requested");
    }
}
