//! End-to-end tests of crawls: they compare the documents, and the requests that the sites received.

mod fairness;
mod manual;
mod pace;
mod rules;
mod trapped;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{Page, ReceivedRequest, TestWeb};

use crate::batch::{read_all, start_at};
use crate::harness::{Service, Site};

const START: &str = "/v2/crawl";

/// Returns a page with links.
pub(crate) fn page(title: &str, links: &[&str]) -> Page {
    let links: String = links.iter().map(|link| format!("<a href='{link}'>x</a> ")).collect();
    Page::html(format!("<title>{title}</title><main><h1>{title}</h1><p>About {title}.</p>{links}</main>"))
}

/// Starts a service with additional environment variables.
fn serve_with(site: &Site, variables: &[(&str, &str)]) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    Service::start(command.env("WEBSVC_API_KEY", crate::harness::KEY).envs(variables.iter().copied()))
}

/// Runs a crawl to its end, and returns the URLs of the documents in order of completion.
async fn crawl(service: &Service, body: Value) -> Vec<String> {
    let path = start_at(service, START, body).await;
    wait_for_documents(service, &path, usize::MAX).await;
    let (documents, _) = read_all(service, &path).await;
    let source = |document: &Value| document["metadata"]["sourceURL"].as_str().unwrap().to_owned();
    documents.iter().map(source).collect()
}

/// Waits until a crawl has `documents` documents or has ended. Fails after a minute without progress.
async fn wait_for_documents(service: &Service, path: &str, documents: usize) {
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
        assert!(since.elapsed() < Duration::from_secs(60), "the crawl makes no progress: {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the requests for pages of a host in order of arrival, without `robots.txt`.
fn page_requests(world: &TestWeb, host: &str) -> Vec<ReceivedRequest> {
    let origin = format!("http://{host}/");
    let is_page =
        |request: &ReceivedRequest| request.url.starts_with(&origin) && !request.url.ends_with("/robots.txt");
    world.requests().into_iter().filter(is_page).collect()
}

fn set<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// Returns scrape options for the smallest documents, which are not cached.
fn minimal_options() -> Value {
    json!({ "formats": ["markdown"], "storeInCache": false })
}
