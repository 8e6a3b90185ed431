//! Jobs by the client: what is asked, how often, and what comes of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use websvc::types::ErrorCode;
use websvc::types::job::{BatchScrapeRequest, CrawlRequest, JobStatus};
use websvc::{Client, JobKind};
use websvc_testkit::{Page, TestWeb};

use crate::support;

const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

fn status(phase: &str, documents: &[&str], next: Option<&str>) -> Value {
    let data: Vec<Value> = documents.iter().map(|text| json!({ "markdown": text })).collect();
    let mut status = json!({
        "success": true, "status": phase, "completed": 3, "total": 4, "creditsUsed": 3, "expiresAt": "x",
        "data": data, "createdAt": "x",
    });
    if let Some(next) = next {
        status["next"] = json!(next);
    }
    status
}

/// A service that answers these in turn to those who ask for the job, and `refused` to who begins one.
async fn service(answers: Vec<Value>) -> (TestWeb, Client) {
    let given = Arc::new(AtomicUsize::new(0));
    let started = json!({ "success": true, "id": ID, "url": "x" }).to_string();
    let errors = json!({ "success": true, "errors": [], "robotsBlocked": ["http://a.test/"] }).to_string();
    let world = TestWeb::builder()
        .page_with(&format!("http://127.0.0.1/v2/crawl/{ID}"), move |_| {
            let at = given.fetch_add(1, Ordering::SeqCst);
            support::json(200, &answers[at.min(answers.len() - 1)].to_string())
        })
        .page("http://127.0.0.1/v2/crawl", support::json(200, &started))
        .page("http://127.0.0.1/v2/batch/scrape", refused())
        .page(&format!("http://127.0.0.1/v2/crawl/{ID}/errors"), support::json(200, &errors))
        .start()
        .await;
    let client = support::client(&world);
    (world, client)
}

fn refused() -> Page {
    support::json(503, r#"{"success": false, "error": "busy"}"#)
}

#[tokio::test]
async fn documents_arrive_each_once_and_the_end_is_told() {
    let (world, client) = service(vec![
        status("scraping", &[], None),
        status("scraping", &["one"], None),
        status("completed", &["two"], Some("http://elsewhere.test/steals-the-key")),
        status("completed", &["three"], None),
    ])
    .await;
    let request = CrawlRequest { url: "http://a.test/".to_owned(), ..CrawlRequest::default() };
    let job = client.job(JobKind::Crawl, client.start_crawl(&request).await.unwrap().id);
    let mut watch = job.watch();
    let mut texts = Vec::new();
    while let Some(document) = watch.next().await.unwrap() {
        texts.push(document.content.markdown.unwrap());
    }
    assert_eq!(texts, ["one", "two", "three"]);
    assert_eq!(watch.state().map(|state| state.status), Some(JobStatus::Completed));
    assert!(watch.next_part().await.unwrap().is_none());
    assert_eq!(world.count("http://elsewhere.test/steals-the-key"), 0);
    let seen = world.requests();
    let skipped: Vec<&str> =
        seen.iter().filter_map(|seen| seen.url.split_once("?skip=")).map(|(_, skip)| skip).collect();
    assert_eq!(skipped, ["0", "0", "1", "2"]);
    assert_eq!(job.errors().await.unwrap().robots_blocked, ["http://a.test/"]);
}

#[tokio::test]
async fn a_job_is_begun_once_whatever_is_answered() {
    let (world, client) = service(vec![status("completed", &[], None)]).await;
    let request =
        BatchScrapeRequest { urls: vec!["http://a.test/".to_owned()], ..BatchScrapeRequest::default() };
    let error = client.start_batch(&request).await.unwrap_err();
    assert_eq!(error.status().map(|status| status.as_u16()), Some(503));
    let begun = world.requests().iter().filter(|seen| seen.url.ends_with("/v2/batch/scrape")).count();
    assert_eq!(begun, 1, "another might begin a second one");
    let unknown = client.job(JobKind::Batch, "../../v2/crawl").status(0).await.unwrap_err();
    assert_eq!(unknown.status().map(|status| status.as_u16()), Some(404), "an identifier is no path");
    assert_ne!(unknown.code(), Some(ErrorCode::JobEnded));
}
