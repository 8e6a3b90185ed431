//! Tests of pages by their URL in the path, as Jina Reader has them.

use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, Method};
use serde_json::json;
use websvc_server::Authentication;
use websvc_store::{KeyRights, KeyScope};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::FetchResponse;

use crate::server::{TestServer, json_of, send};

const HTML: &str = "<title>Green tea</title><nav>Menu of the shop</nav><main><h1>Green tea</h1><p>Sencha wants water of seventy \
                    degrees and patience.</p><p id=price>Nine euros</p></main>";

struct ReaderTest {
    web: TestWeb,
    server: TestServer,
    key: String,
}

impl ReaderTest {
    async fn start() -> Self {
        Self::start_with(Authentication::Required).await
    }

    async fn start_with(authentication: Authentication) -> Self {
        let web = TestWeb::builder()
            .page("http://tea.test/green", Page::html(HTML))
            .page(
                "http://tea.test/a//b/?x=1&u=http://c.test/d",
                Page::html("<title>Odd</title><p>An odd address</p>"),
            )
            .start()
            .await;
        let server = TestServer::start_with(|config| {
            config.guard = web.guard();
            config.authentication = authentication;
        })
        .await;
        let key = server.create_key("red");
        Self { web, server, key }
    }

    async fn get(&self, path: &str, headers: &[(&'static str, &str)]) -> FetchResponse {
        self.get_with(&self.key, path, headers).await
    }

    async fn get_with(&self, key: &str, path: &str, headers: &[(&'static str, &str)]) -> FetchResponse {
        let bearer = format!("Bearer {key}");
        let mut all: Vec<(HeaderName, &str)> =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), *value)).collect();
        if !key.is_empty() {
            all.push((AUTHORIZATION, &bearer));
        }
        send(Method::GET, &format!("{}{path}", self.server.address), &all, None).await
    }

    /// Returns the text of a page.
    async fn text(&self, path: &str, headers: &[(&'static str, &str)]) -> String {
        let response = self.get(path, headers).await;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        assert_eq!(response.status, 200, "{text}");
        assert_eq!(response.headers[CONTENT_TYPE], "text/plain; charset=utf-8");
        text
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_text_or_json() {
    let test = ReaderTest::start().await;
    let text = test.text("/http://tea.test/green", &[]).await;
    let start = "Title: Green tea\n\nURL Source: http://tea.test/green\n\nMarkdown Content:\n";
    assert!(text.starts_with(start) && text.contains("Sencha wants water"), "{text}");
    assert!(!text.contains("Menu of the shop"), "{text}");
    let whole = test.text("/http:/tea.test/green", &[("x-return-format", "markdown")]).await;
    assert!(whole.contains("Menu of the shop"), "{whole}");
    let html = test.text("/http://tea.test/green", &[("x-return-format", "html")]).await;
    assert!(html.contains("<title>Green tea</title>"), "{html}");
    let headers = [("accept", "application/json"), ("x-engine", "browser")];
    let page = json_of(&test.get("/http://tea.test/green", &headers).await);
    assert_eq!((&page["code"], &page["data"]["title"]), (&json!(200), &json!("Green tea")), "{page}");
    assert!(page["data"]["content"].as_str().unwrap().contains("Sencha"), "{page}");
    assert_eq!(page["data"]["warning"], json!("headers without effect: x-engine"), "{page}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn selectors_cache_and_odd_addresses_work() {
    let test = ReaderTest::start().await;
    let price = test.text("/http://tea.test/green", &[("x-target-selector", "#price")]).await;
    assert!(price.contains("Nine euros") && !price.contains("Sencha"), "{price}");
    let rest = test.text("/http://tea.test/green", &[("x-remove-selector", "#price")]).await;
    assert!(rest.contains("Sencha") && !rest.contains("Nine euros"), "{rest}");
    let count = test.web.count("http://tea.test/green");
    test.text("/http://tea.test/green", &[]).await;
    assert_eq!(test.web.count("http://tea.test/green"), count, "the page is cached");
    test.text("/http://tea.test/green", &[("x-no-cache", "true")]).await;
    assert_eq!(test.web.count("http://tea.test/green"), count + 1);
    let odd = test.text("/http://tea.test/a//b/?x=1&u=http://c.test/d", &[]).await;
    assert!(odd.contains("An odd address"), "{odd}");
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn request_has_the_rules_of_a_scrape() {
    let test = ReaderTest::start().await;
    let path = "/http://tea.test/green";
    assert_eq!(test.get_with("", path, &[]).await.status, 401);
    let create = |rights: KeyRights| {
        test.server.store().create_key_with("red", "", &rights).unwrap().secret.expose().to_owned()
    };
    let search_only = create(KeyRights { scopes: Some([KeyScope::Search].into()), ..KeyRights::default() });
    assert_eq!(test.get_with(&search_only, path, &[]).await.status, 403);
    let markdown_only =
        create(KeyRights { formats: Some(["markdown".to_owned()].into()), ..KeyRights::default() });
    assert_eq!(test.get_with(&markdown_only, path, &[]).await.status, 200);
    assert_eq!(test.get_with(&markdown_only, path, &[("x-return-format", "html")]).await.status, 403);
    for (path, headers, status, expected) in [
        (path, vec![("x-timeout", "0")], 400, "/timeout"),
        (path, vec![("x-timeout", "soon")], 400, "not a number of seconds"),
        (path, vec![("x-return-format", "text")], 400, "is not one of content"),
        (path, vec![("x-target-selector", "p[")], 400, "/includeTags"),
        ("/http://127.0.0.1/", vec![], 403, "only public addresses"),
        ("/http://?x", vec![], 404, "Not found"),
        ("/https:/%20/", vec![], 400, "url"),
    ] {
        let response = test.get(path, &headers).await;
        let error = json_of(&response)["error"].as_str().unwrap_or_default().to_owned();
        assert!(response.status == status && error.contains(expected), "{path} {headers:?}: {error}");
    }
    test.server.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_keys_pages_of_other_sites_cannot_send_requests() {
    let test = ReaderTest::start_with(Authentication::Open).await;
    let path = "/http://tea.test/green";
    for (site, expected) in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)] {
        let response = test.get_with("", path, &[("sec-fetch-site", site)]).await;
        assert_eq!(response.status, expected, "{site}");
    }
    assert_eq!(test.get_with("", path, &[]).await.status, 200, "programs send no such header");
    test.server.shut_down().await;
}
