//! Tests of jobs: requests, their number, and results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use websvc::types::ErrorCode;
use websvc::types::job::{BatchScrapeRequest, CrawlRequest, JobStatus};
use websvc::{Client, JobKind};
use websvc_testkit::{Page, TestWeb};

use crate::support;

const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

fn job_state(status: &str, documents: &[&str], next: Option<&str>) -> Value {
    let data: Vec<Value> = documents.iter().map(|text| json!({ "markdown": text })).collect();
    let mut state = json!({
        "success": true, "status": status, "completed": 3, "total": 4, "creditsUsed": 3, "expiresAt": "x",
        "data": data, "createdAt": "x",
    });
    if let Some(next) = next {
        state["next"] = json!(next);
    }
    state
}

/// Starts a service that returns these states of a crawl in turn, and status 503 for a new batch.
async fn service(states: Vec<Value>) -> (TestWeb, Client) {
    let sent = Arc::new(AtomicUsize::new(0));
    let started = json!({ "success": true, "id": ID, "url": "x" }).to_string();
    let errors = json!({ "success": true, "errors": [], "robotsBlocked": ["http://a.test/"] }).to_string();
    let world = TestWeb::builder()
        .page_with(&format!("http://127.0.0.1/v2/crawl/{ID}"), move |_| {
            let index = sent.fetch_add(1, Ordering::SeqCst);
            support::json(200, &states[index.min(states.len() - 1)].to_string())
        })
        .page("http://127.0.0.1/v2/crawl", support::json(200, &started))
        .page("http://127.0.0.1/v2/batch/scrape", busy())
        .page(&format!("http://127.0.0.1/v2/crawl/{ID}/errors"), support::json(200, &errors))
        .start()
        .await;
    let client = support::client(&world);
    (world, client)
}

fn busy() -> Page {
    support::json(503, r#"{"success": false, "error": "busy"}"#)
}

#[tokio::test]
async fn stream_returns_each_document_once_and_the_final_state() {
    let (world, client) = service(vec![
        job_state("scraping", &[], None),
        job_state("scraping", &["one"], None),
        job_state("completed", &["two"], Some("http://other-host.test/gets-the-key")),
        job_state("completed", &["three"], None),
    ])
    .await;
    let request = CrawlRequest::new("http://a.test/");
    let job = client.job(JobKind::Crawl, client.start_crawl(&request).await.unwrap().id);
    let mut stream = job.watch();
    let mut texts = Vec::new();
    while let Some(document) = stream.next().await.unwrap() {
        texts.push(document.content.markdown.unwrap());
    }
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(stream.state().map(|state| state.status), Some(JobStatus::Completed));
    assert!(stream.next_documents().await.unwrap().is_none());
    assert_eq!(world.count("http://other-host.test/gets-the-key"), 0);
    let seen = world.requests();
    let skipped: Vec<&str> =
        seen.iter().filter_map(|seen| seen.url.split_once("?skip=")).map(|(_, skip)| skip).collect();
    assert_eq!(skipped, ["0", "0", "1", "2"]);
    assert_eq!(job.errors().await.unwrap().robots_blocked, ["http://a.test/"]);
}

#[tokio::test]
async fn job_start_is_not_repeated_after_a_503() {
    let (world, client) = service(vec![job_state("completed", &[], None)]).await;
    let request = BatchScrapeRequest::new(["http://a.test/"]);
    let error = client.start_batch(&request).await.unwrap_err();
    assert_eq!(error.status().map(|status| status.as_u16()), Some(503));
    let starts = world.requests().iter().filter(|seen| seen.url.ends_with("/v2/batch/scrape")).count();
    assert_eq!(starts, 1, "a second request could start a second job");
    let unknown = client.job(JobKind::Batch, "../../v2/crawl").status(0).await.unwrap_err();
    assert_eq!(
        unknown.status().map(|status| status.as_u16()),
        Some(404),
        "an ID with slashes stays one path segment"
    );
    assert_ne!(unknown.code(), Some(ErrorCode::JobEnded));
}
