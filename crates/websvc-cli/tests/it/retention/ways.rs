//! The ways in which a service is asked, each with marks in all that is asked; what fails, too.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::Stage;
use crate::harness::Answer;

const JSON: (&str, &str) = ("content-type", "application/json");

impl Stage {
    /// Asks in every way that needs no browser, and makes sure that it was answered with what was asked for.
    pub(super) async fn drive(&self) {
        self.search_with_content().await;
        self.search_by_session().await;
        self.ask_tools().await;
        self.be_refused().await;
        self.be_too_late().await;
        // Last, because an engine that fails is left alone for a while.
        self.ask_an_engine_that_fails().await;
    }

    async fn search(&self, key: &str, mut body: Value) -> Answer {
        body["query"] = json!(self.mark.named("query"));
        if let Some(enterprise) = self.enterprise {
            body["enterprise"] = json!([enterprise]);
        }
        self.send(key, body.to_string()).await
    }

    async fn send(&self, key: &str, body: String) -> Answer {
        let headers = [("authorization", &format!("Bearer {key}")[..]), JSON];
        self.service.send(Method::POST, "/v2/search", &headers, body).await
    }

    /// Returns options under which pages may be stored, as far as the request allows that at all.
    fn content(&self) -> Value {
        let formats = ["markdown", "html", "rawHtml", "links", "images"];
        let rules = json!({ "blacklist": [self.mark.host("blocked")] });
        json!({ "formats": formats, "onlyMainContent": false, "storeInCache": true, "maxAge": 0, "timeout": 2000,
            "skipTlsVerification": true, "includeTags": ["html"], "excludeTags": [format!(".{}", self.mark.named("selector"))],
            "threatProtection": rules })
    }

    /// Searches every source, and gets what each result leads to.
    pub(super) async fn search_with_content(&self) {
        let named = |name: &str| self.mark.named(name);
        let plain = self.search(&self.key, json!({ "sources": ["web", "images", "news"] })).await;
        assert_eq!(plain.status, 200, "{}", plain.body);
        let answer = self.search(&self.key, json!({ "scrapeOptions": self.content() })).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let results = answer.body["data"]["web"].as_array().unwrap();
        let of = |url: &str| results.iter().find(|one| one["url"] == json!(url)).unwrap_or(&Value::Null);
        for url in [&self.web.article, &self.web.moved, &self.web.secure] {
            let (page, raw) = (of(url)["markdown"].to_string(), of(url)["rawHtml"].to_string());
            assert!(page.contains(&named("body")) && page.contains(&named("alt")), "{url}: {}", answer.body);
            assert!(raw.contains(&named("comment")), "{url}: {raw}");
        }
        let text = of(&self.web.pdf)["markdown"].to_string();
        assert!(text.contains(&named("pdf")), "{}", of(&self.web.pdf));
        assert_eq!(of(&self.web.gone)["metadata"]["statusCode"], json!(404), "{}", of(&self.web.gone));
        for url in [&self.web.silent, &self.web.refused, &self.web.blocked, &self.web.unresolved] {
            assert!(of(url)["metadata"]["error"].is_string(), "{url}: {}", answer.body);
        }
        // Headers of the caller's own: the page is never stored, whoever asks.
        let options =
            json!({ "formats": ["markdown"], "timeout": 2000, "headers": { "x-asked": named("asked") } });
        let answer = self.search(&self.key, json!({ "limit": 1, "scrapeOptions": options })).await;
        assert!(
            answer.body["data"]["web"][0]["markdown"].to_string().contains(&named("body")),
            "{}",
            answer.body
        );
    }

    /// Asks as the playground of the dashboard does.
    async fn search_by_session(&self) {
        let key = json!({ "key": self.admin }).to_string();
        let headers = [("authorization", ""), JSON];
        let begun = self.service.send(Method::POST, "/dashboard/session", &headers, key).await;
        let cookie = begun.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let token = begun.body["csrfToken"].as_str().unwrap();
        let mut body = json!({ "query": self.mark.named("played"), "limit": 1 });
        body["enterprise"] = self.enterprise.map_or(json!([]), |enterprise| json!([enterprise]));
        let headers = [("authorization", ""), JSON, ("cookie", &cookie[..]), ("x-csrf-token", token)];
        let answer = self.service.send(Method::POST, "/v2/search", &headers, body.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.body["data"].to_string().contains(&self.mark.named("result")), "{}", answer.body);
        let shown = json!({ "markdown": self.mark.named("rendered") }).to_string();
        self.service.send(Method::POST, "/dashboard/render", &headers, shown).await;
    }

    /// Asks by the tools of MCP. The one for pages has no `enterprise`: it leaves nothing where that is the rule of the team.
    async fn ask_tools(&self) {
        let mut search = json!({ "query": self.mark.named("tool"), "limit": 1 });
        search["scrapeOptions"] = json!({ "formats": ["markdown"], "timeout": 2000, "maxAge": 0 });
        search["enterprise"] = self.enterprise.map_or(json!([]), |enterprise| json!([enterprise]));
        let answer = self.tool("search", search).await;
        assert!(answer.contains(&self.mark.named("body")), "{answer}");
        if self.enterprise.is_some() {
            return;
        }
        for (url, expected) in [(&self.web.moved, "body"), (&self.web.pdf, "pdf"), (&self.web.refused, "")] {
            let answer = self.tool("scrape", json!({ "url": url, "maxAge": 0 })).await;
            assert!(expected.is_empty() || answer.contains(&self.mark.named(expected)), "{url}: {answer}");
        }
        let answer = self.tool(&self.mark.named("tool"), json!({})).await;
        assert!(answer.contains("there is no tool"), "{answer}");
    }

    async fn tool(&self, name: &str, arguments: Value) -> String {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
        let key = format!("Bearer {}", self.key);
        let accept = ("accept", "application/json, text/event-stream");
        let headers = [("authorization", &key[..]), JSON, accept, ("mcp-protocol-version", "2025-06-18")];
        self.service.send(Method::POST, "/mcp", &headers, call.to_string()).await.body.to_string()
    }

    /// Asks for what is refused: by its form, its rights, its means and its number.
    async fn be_refused(&self) {
        let named = |name: &str| self.mark.named(name);
        let broken = format!("{{\"query\": \"{}\", {}", named("query"), named("broken"));
        assert_eq!(self.send(&self.key, broken).await.status, 400);
        let wrong = json!({ "limit": named("limit"), "scrapeOptions": { named("field"): 1, "formats": [named("format")] } });
        assert_eq!(self.search(&self.key, wrong).await.status, 400);
        assert_eq!(self.search(&self.busy, json!({})).await.status, 200);
        let rules = json!({ "threatProtection": { "blacklist": [self.mark.host("blocked")] } });
        for (key, body, expected) in [
            (&self.unprotected, rules, 403),
            (&self.narrow, json!({ "scrapeOptions": self.content() }), 403),
            (&self.poor, json!({ "limit": 100, "scrapeOptions": self.content() }), 402),
            (&self.busy, json!({}), 429),
            (&named("key"), json!({}), 401),
        ] {
            let answer = self.search(key, body).await;
            assert_eq!(answer.status.as_u16(), expected, "{}", answer.body);
        }
        let headers = [("authorization", &format!("Bearer {}", self.key)[..]), JSON];
        let asked = format!("/v2/search?query={}", named("query"));
        let answer = self.service.send(Method::GET, &asked, &headers, String::new()).await;
        assert_eq!(answer.status, 405, "{}", answer.body);
    }

    /// Asks until the engine is left alone, which repeats in its refusals what it was asked.
    async fn ask_an_engine_that_fails(&self) {
        let failing =
            json!({ "query": self.mark.named("failing"), "enterprise": self.enterprise.as_slice() });
        let mut warnings = Vec::new();
        for _ in 0..6 {
            let answer = self.send(&self.key, failing.to_string()).await;
            assert_eq!(answer.status, 200, "the index answers all the same: {}", answer.body);
            warnings.push(answer.body["warning"].to_string());
        }
        let (first, last) = (&warnings[0], &warnings[5]);
        assert!(first.contains(&self.mark.named("failing")) && last.contains("paused"), "{warnings:?}");
        assert!(self.mark.trace(last.as_bytes()).is_none(), "what others are told of it: {last}");
    }

    /// Asks for pages that a browser draws, does something on one, and takes pictures.
    pub(super) async fn draw(&self) {
        let mut drawn = self.content();
        drawn["formats"] = json!(["markdown", "screenshot"]);
        (drawn["waitFor"], drawn["timeout"]) = (json!(1), json!(15_000));
        let answer = self.search(&self.key, json!({ "scrapeOptions": drawn })).await;
        let page = &answer.body["data"]["web"][0];
        assert!(page["markdown"].to_string().contains(&self.mark.named("body")), "{}", answer.body);
        assert!(page["screenshot"].is_string(), "{}", answer.body);
        let script = format!("localStorage.setItem('{0}', '{0}'); return '{0}'", self.mark.named("script"));
        let actions = json!([{ "type": "executeJavascript", "script": script }, { "type": "screenshot" }, { "type": "pdf" },
            { "type": "click", "selector": format!("#{}", self.mark.named("clicked")), "all": true }, { "type": "scrape" }]);
        let acted = json!({ "formats": ["markdown"], "actions": actions, "timeout": 30_000 });
        let answer = self.search(&self.key, json!({ "limit": 1, "scrapeOptions": acted })).await;
        let done = &answer.body["data"]["web"][0]["actions"];
        assert!(
            done["javascriptReturns"].to_string().contains(&self.mark.named("script")),
            "{}",
            answer.body
        );
        assert!(done["pdfs"][0].is_string() && done["screenshots"][0].is_string(), "{}", answer.body);
    }

    /// Asks what only the cache may answer, as a request with this query, and returns the status.
    pub(super) async fn ask_the_cache(&self, query: &str) -> u16 {
        let mut content = self.content();
        content["lockdown"] = json!(true);
        content.as_object_mut().unwrap().remove("maxAge");
        let tool = self.tool("scrape", json!({ "url": self.web.article, "lockdown": true })).await;
        let answer =
            self.send(&self.key, json!({ "query": query, "scrapeOptions": content }).to_string()).await;
        assert_eq!(tool.contains("is not in the cache"), answer.status == 404, "{tool}\n{}", answer.body);
        answer.status.as_u16()
    }

    /// Asks once, and returns the identifier of the request.
    pub(super) async fn ask(&self) -> String {
        let answer = self.search(&self.key, json!({})).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.headers["x-request-id"].to_str().unwrap().to_owned()
    }

    /// Asks for more than there is time for, and goes away before the answer is there.
    async fn be_too_late(&self) {
        let slow = json!({ "timeout": 1000, "scrapeOptions": self.content() });
        let answer = self.search(&self.key, slow).await;
        assert!(matches!(answer.status.as_u16(), 200 | 408), "{}", answer.body);
        self.hang(async { self.web_was_asked_for_the_silent_page().await }).await;
    }

    /// Asks for what takes forever, and goes away when this is done.
    pub(super) async fn hang(&self, until: impl Future<Output = ()>) {
        let mut content = self.content();
        content["timeout"] = json!(300_000);
        let slow = json!({ "timeout": 300_000, "scrapeOptions": content });
        tokio::select! {
            answer = self.search(&self.key, slow) => panic!("{}", answer.body),
            () = until => {}
        }
    }

    /// Waits until the page that never answers was asked for once more.
    pub(super) async fn web_was_asked_for_the_silent_page(&self) {
        let before = self.world.count(&self.web.silent);
        let asked = async {
            while self.world.count(&self.web.silent) == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), asked).await.expect("the page is asked for");
    }
}
