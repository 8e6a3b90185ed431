//! Tests of crawls that name the user agent whose rules in robots.txt apply.

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use websvc_server::EmbeddedServerConfig;
use websvc_store::{RobotsAgentPolicy, TeamChange};
use websvc_testkit::{Page, TestWeb};
use websvc_transport::AddressGuard;

use crate::server::{TestServer, json_of};

const ROBOTS: &str = "User-agent: tea-bot\nDisallow: /hidden\n\nUser-agent: *\nDisallow: /private\n";

async fn start() -> (TestWeb, TestServer) {
    let links = "<a href=/private/green>Green</a><a href=/hidden/black>Black</a><a href=/moved>Moved</a>";
    let page = |text: &str| Page::html(format!("<title>{text}</title><p>{text} tea has leaves.</p>{links}"));
    let web = TestWeb::builder()
        .page("http://tea.test/robots.txt", Page::text(ROBOTS))
        .page("http://tea.test/", page("All"))
        .page("http://tea.test/private/green", page("Green"))
        .page("http://tea.test/private/white", page("White"))
        .page("http://tea.test/hidden/black", page("Black"))
        .page("http://tea.test/moved", Page::redirect(302, "http://tea.test/private/white"))
        .start()
        .await;
    let guard = web
        .connect_to()
        .into_iter()
        .fold(AddressGuard::open(), |guard, (from, to)| guard.connect_to(&from, &to).unwrap());
    let server = TestServer::start_with(|config: &mut EmbeddedServerConfig| config.guard = guard).await;
    (web, server)
}

async fn get(server: &TestServer, path: &str, key: &str) -> Value {
    json_of(&server.send_json(Method::GET, path, key, &Value::Null).await)
}

/// Crawls the site, and returns the titles of its documents and the URLs that robots.txt disallows, both sorted.
async fn crawl(server: &TestServer, key: &str, agent: Option<&str>) -> (Vec<String>, Vec<String>) {
    let body = json!({ "url": "http://tea.test/", "sitemap": "skip", "robotsUserAgent": agent });
    let started = server.send_json(Method::POST, "/v2/crawl", key, &body).await;
    assert_eq!(started.status, StatusCode::OK, "{:?}", started.body);
    let path = format!("/v2/crawl/{}", json_of(&started)["id"].as_str().unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut status = get(server, &path, key).await;
    while status["status"] == json!("scraping") {
        assert!(Instant::now() < deadline, "{status}");
        status = get(server, &path, key).await;
    }
    let strings = |values: &Value, of: fn(&Value) -> &Value| {
        let mut strings: Vec<String> =
            values.as_array().unwrap().iter().map(|value| of(value).as_str().unwrap().to_owned()).collect();
        strings.sort_unstable();
        strings
    };
    let titles = strings(&status["data"], |document| &document["metadata"]["title"]);
    let errors = get(server, &format!("{path}/errors"), key).await;
    (titles, strings(&errors["robotsBlocked"], |url| url))
}

#[tokio::test]
async fn rules_of_the_named_agent_apply_to_pages_and_redirects_of_a_team_that_may_name_one() {
    let (_web, server) = start().await;
    let key = server.create_key("red");
    let change = TeamChange { robots_agent: Some(RobotsAgentPolicy::Allowed), ..TeamChange::default() };
    server.store().set_team("red", &change).unwrap();
    let url = |path: &str| format!("http://tea.test/{path}");
    // The second crawl shows that one agent does not get the cached rules of the other.
    let own = crawl(&server, &key, None).await;
    assert_eq!(own, (vec!["All".to_owned(), "Black".to_owned()], vec![url("moved"), url("private/green")]));
    let named = crawl(&server, &key, Some("tea-bot")).await;
    let titles = ["All", "Green", "White"].map(str::to_owned);
    assert_eq!(named, (titles.to_vec(), vec![url("hidden/black")]));
    server.shut_down().await;
}

#[tokio::test]
async fn agent_needs_the_permission_and_a_name() {
    let (_web, server) = start().await;
    let start = async |key: &str, agent: &str| {
        let body = json!({ "url": "http://tea.test/", "robotsUserAgent": agent });
        let response = server.send_json(Method::POST, "/v2/crawl", key, &body).await;
        (response.status.as_u16(), json_of(&response)["error"].as_str().unwrap_or_default().to_owned())
    };
    let (status, error) = start(&server.create_key("red"), "tea-bot").await;
    assert_eq!(status, 403);
    assert!(error.contains("--robots-agent allowed"), "{error}");
    let change = TeamChange { robots_agent: Some(RobotsAgentPolicy::Allowed), ..TeamChange::default() };
    server.store().set_team("blue", &change).unwrap();
    let key = server.create_key("blue");
    for invalid in ["", "  ", &"a".repeat(300)] {
        let (status, error) = start(&key, invalid).await;
        assert_eq!(status, 400, "{invalid:?}");
        assert!(error.contains("/robotsUserAgent"), "{error}");
    }
    server.shut_down().await;
}
