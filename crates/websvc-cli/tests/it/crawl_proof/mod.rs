//! End-to-end tests of crawls, by their documents and the requests that the sites received.

mod manual;
mod pace;
mod rules;
mod trapped;
mod turns;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use crate::batch::{read_all, start_at};
use crate::harness::{Service, Site};

const START: &str = "/v2/crawl";

/// Returns a page with links.
fn page(title: &str, links: &[&str]) -> Page {
    let links: String = links.iter().map(|link| format!("<a href='{link}'>x</a> ")).collect();
    Page::html(format!("<title>{title}</title><main><h1>{title}</h1><p>About {title}.</p>{links}</main>"))
}

/// Starts a service with variables of its own.
fn serve_with(site: &Site, variables: &[(&str, &str)]) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    Service::start(command.env("WEBSVC_API_KEY", crate::harness::KEY).envs(variables.iter().copied()))
}

/// Crawls to the end, and returns the addresses of the documents in the order of their completion.
async fn crawl(service: &Service, body: Value) -> Vec<String> {
    let path = start_at(service, START, body).await;
    come_to(service, &path, usize::MAX).await;
    let (documents, _) = read_all(service, &path).await;
    let source = |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().to_owned();
    documents.iter().map(source).collect()
}

/// Waits until a crawl has so many documents, or has ended; it may go on for as long as it makes progress.
async fn come_to(service: &Service, path: &str, documents: usize) {
    let path = format!("{path}?skip=999999999");
    let (mut last, mut since) = (0, Instant::now());
    loop {
        let status = service.get(&path).await.body;
        let completed = status["completed"].as_u64().unwrap();
        if status["status"] != "scraping" || completed >= documents as u64 {
            assert!(documents != usize::MAX || status["status"] == "completed", "{status}");
            return;
        }
        if completed > last {
            (last, since) = (completed, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(60), "the crawl does not go on: {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the requests for pages of a host, in the order of their arrival.
fn pages_of(world: &TestWeb, host: &str) -> Vec<ReceivedRequest> {
    let origin = format!("http://{host}/");
    let is_page =
        |seen: &ReceivedRequest| seen.url.starts_with(&origin) && !seen.url.ends_with("/robots.txt");
    world.requests().into_iter().filter(is_page).collect()
}

fn set<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// Asks for the smallest documents there are, without keeping them elsewhere.
fn bare() -> Value {
    json!({ "formats": ["markdown"], "storeInCache": false })
}
