//! Tests of the WebSocket of a job, against the running program.

mod client;
mod frames;
mod refusals;

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, until};

pub(crate) use self::client::request_upgrade;
use self::client::{JobSocket, open_socket};
use crate::batch::{delete, poll_until, read_all, source_counts, start_at, wait_for_end};
use crate::harness::{Service, Site, assert_fields};

pub(crate) const BATCH: &str = "/v2/batch/scrape";

/// Starts a site of `pages` pages, and a page that never responds.
async fn site_of(pages: usize, response_time: Duration, text: &str) -> TestWeb {
    let mut world = TestWeb::builder().page("http://slow.test/", Page::unresponsive());
    for number in 0..pages {
        let page = Page::html(format!("<title>{number}</title><p>Page {number}. {text}</p>"));
        world = world.page(&format!("http://list.test/{number}"), page.delay(response_time));
    }
    world.start().await
}

fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://list.test/{number}")).collect()
}

fn never_ending_batch(pages: usize) -> Value {
    let mut urls = urls(pages);
    urls.push("http://slow.test/".to_owned());
    json!({ "urls": urls })
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_documents_arrive_once_and_in_order() {
    const PAGES: usize = 20;
    let world = site_of(PAGES, Duration::from_millis(100), "").await;
    let service = Service::for_world(&world);
    // The first URL appears twice.
    let mut all = [urls(PAGES), urls(1)].concat();
    all.push("http://192.168.0.1/secret".to_owned());
    let path = start_at(&service, BATCH, json!({ "urls": all })).await;
    let events = open_socket(&service, &path).await.into_events().await;
    assert_eq!(events.closed, Some((1000, r#"{"type":"done"}"#.to_owned())));
    assert_eq!(
        events.first["data"]["status"], "scraping",
        "the socket was opened after the end of the batch"
    );
    assert!(events.errors.is_empty(), "a page that fails must not close the socket: {:?}", events.errors);
    let (documents, _) = read_all(&service, &path).await;
    assert_eq!(documents.len(), PAGES + 1);
    assert_eq!(events.documents(), documents);
    let last = events.last.unwrap();
    let status = service.get(&path).await.body;
    assert_eq!((&last["type"], &last["data"]), (&json!("status"), &status));
}

#[tokio::test(flavor = "multi_thread")]
async fn crawl_socket_sends_documents_and_final_status() {
    let world = crate::harness::tea_world().await;
    let service = Service::for_world(&world);
    let path = start_at(&service, "/v2/crawl", json!({ "url": "http://tea.test/", "sitemap": "skip" })).await;
    let events = open_socket(&service, &path).await.into_events().await;
    assert_eq!(events.closed.as_ref().map(|(code, _)| *code), Some(1000));
    let status = wait_for_end(&service, &path).await;
    assert_eq!(events.documents(), *status["data"].as_array().unwrap());
    let last = events.last.as_ref().unwrap_or(&events.first);
    assert_eq!(last["data"], status);
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_job_is_sent_in_one_or_several_frames() {
    let world = site_of(120, Duration::ZERO, "").await;
    let service = Service::for_world(&world);
    let small = start_at(&service, BATCH, json!({ "urls": urls(3) })).await;
    let status = wait_for_end(&service, &small).await;
    for _ in 0..2 {
        let events = open_socket(&service, &small).await.into_events().await;
        assert_eq!((&events.first["type"], &events.first["data"]), (&json!("catchup"), &status));
        assert_eq!((events.last, events.closed.unwrap().0), (None, 1000));
    }
    let large = start_at(&service, BATCH, json!({ "urls": urls(120) })).await;
    wait_for_end(&service, &large).await;
    let events = open_socket(&service, &large).await.into_events().await;
    // Official clients stop at the first frame with a final status, so the first of several frames says "scraping".
    assert_eq!(events.first["data"]["status"], "scraping");
    assert_eq!(events.first["data"]["data"].as_array().unwrap().len(), 100);
    assert!(events.first["data"]["next"].is_null());
    assert_eq!(events.documents(), read_all(&service, &large).await.0);
    let last = events.last.unwrap();
    assert_eq!((&last["data"]["status"], &last["data"]["completed"]), (&json!("completed"), &json!(120)));
    assert!(last["data"]["next"].as_str().unwrap().ends_with("?skip=100"), "{}", last["data"]["next"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_and_failed_jobs_send_their_status() {
    let world = site_of(3, Duration::ZERO, "").await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "3"]);
    let service = site.serve();
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let socket = open_socket(&service, &path).await;
    poll_until(&service, &path, |body| body["completed"] == 1).await;
    let cancelling = async {
        assert_eq!(delete(&service, &path).await.status, 200);
    };
    let (events, ()) = tokio::join!(socket.into_events(), cancelling);
    let last = events.last.as_ref().unwrap();
    assert_eq!((&last["data"]["status"], events.documents().len()), (&json!("cancelled"), 1));
    assert_eq!(events.closed.as_ref().unwrap().0, 1000);
    let path = start_at(&service, BATCH, json!({ "urls": urls(3), "maxConcurrency": 1 })).await;
    let events = open_socket(&service, &path).await.into_events().await;
    let status = &events.last.as_ref().unwrap_or(&events.first)["data"];
    assert_eq!(status["status"], "failed", "{status}");
    assert!(status["error"].as_str().unwrap().starts_with("Insufficient credits"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_sent_as_soon_as_they_complete() {
    let world = site_of(1, Duration::from_secs(1), "").await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let mut socket = open_socket(&service, &path).await;
    assert_eq!(socket.next().await["data"]["data"], json!([]));
    // Without a notification, the socket would send the document only with the next ping.
    let frame = tokio::time::timeout(Duration::from_secs(20), socket.next()).await.expect("a frame arrives");
    assert_eq!(frame["data"]["metadata"]["sourceURL"], "http://list.test/0");
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_closes_sockets_without_waiting_for_clients() {
    let world = site_of(1, Duration::ZERO, "").await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let mut socket = open_socket(&service, &path).await;
    let mut silent = open_socket(&service, &path).await;
    socket.next().await;
    silent.next().await;
    let started = std::time::Instant::now();
    let stopping = tokio::task::spawn_blocking(move || service.stop());
    let events = socket.into_events().await;
    assert_eq!(events.closed.unwrap().0, 1001);
    assert!(stopping.await.unwrap().success());
    // The connection of the client that does not respond is closed after a timeout.
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    drop(silent);
}

#[tokio::test(flavor = "multi_thread")]
async fn reconnect_after_a_kill_receives_all_documents() {
    const PAGES: usize = 30;
    let world = site_of(PAGES, Duration::from_millis(100), "").await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES) })).await;
    let mut socket = open_socket(&service, &path).await;
    for _ in 0..8 {
        socket.next().await;
    }
    service.kill();
    assert_eq!(socket.into_events().await.closed, None);
    drop(service);
    service = site.serve();
    let events = open_socket(&service, &path).await.into_events().await;
    let source_counts = source_counts(&events.documents());
    assert_eq!((source_counts.len(), events.documents().len()), (PAGES, PAGES), "{source_counts:?}");
    assert_eq!(events.documents(), read_all(&service, &path).await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn following_next_over_many_pages_terminates() {
    const PAGES: usize = 120;
    let world = site_of(PAGES, Duration::ZERO, "").await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, never_ending_batch(PAGES)).await;
    // While pages complete, each response except the last contains documents.
    let (documents, requests) = read_all(&service, &format!("{path}?limit=5")).await;
    assert!(requests <= documents.len() / 5 + 1, "{requests} requests for {} documents", documents.len());
    poll_until(&service, &path, |body| body["completed"] == PAGES).await;
    let (documents, requests) = read_all(&service, &format!("{path}?limit=5")).await;
    assert_eq!((documents.len(), requests), (PAGES, PAGES / 5));
    delete(&service, &path).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn slow_readers_do_not_grow_memory() {
    const PAGES: usize = 24;
    const SOCKETS: usize = 60;
    let world = site_of(PAGES, Duration::ZERO, &"many words ".repeat(25_000)).await;
    let service = Service::for_world(&world);
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES), "formats": ["rawHtml"] })).await;
    wait_for_end(&service, &path).await;
    let (documents, _) = read_all(&service, &path).await;
    let size: usize = documents.iter().map(|document| document.to_string().len()).sum();
    let before = resident_bytes(&service);
    let mut slow = Vec::new();
    for _ in 0..SOCKETS {
        slow.push(open_socket(&service, &path).await);
    }
    let open =
        || async { service.text("/metrics").await.contains(&format!("websvc_websockets_open {SOCKETS}\n")) };
    assert!(open().await);
    // Meanwhile, a client that reads receives all documents.
    let events = slow.remove(0).into_events().await;
    assert_eq!(events.documents(), documents);
    let grown = resident_bytes(&service).saturating_sub(before);
    assert!(grown < SOCKETS * size / 2, "{grown} bytes for {SOCKETS} sockets over {size} bytes");
}

/// Returns the resident memory of a service in bytes.
#[cfg(target_os = "linux")]
fn resident_bytes(service: &Service) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_log_lines_contain_no_key() {
    let world = site_of(2, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let mut command = site.serve_command();
    command.env("WEBSVC_LOG", "trace");
    let service = Service::start_logging(&mut command, &log);
    let path = start_at(&service, BATCH, json!({ "urls": urls(2) })).await;
    wait_for_end(&service, &path).await;
    let offered = [("authorization", ""), ("sec-websocket-protocol", crate::harness::KEY)];
    let socket = JobSocket::open(&service, &path, &offered).await;
    assert_eq!(socket.headers["sec-websocket-protocol"], crate::harness::KEY);
    assert_eq!(socket.into_events().await.closed.unwrap().0, 1000);
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&log).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let closed = || lines().into_iter().find(|line| line["message"] == "WebSocket closed");
    until("the socket is closed", || closed().is_some()).await;
    let closed = closed().unwrap()["fields"].clone();
    assert_fields(&closed, &json!({ "code": 1000, "frames": 1, "path": path }));
    let opened = lines().into_iter().find(|line| line["fields"]["status"] == 101).unwrap();
    assert_eq!(opened["fields"]["id"], closed["id"]);
    assert!(!std::fs::read_to_string(&log).unwrap().contains(crate::harness::KEY));
    let metrics = service.text("/metrics").await;
    assert!(
        metrics.contains("websvc_websockets_open 0\n")
            && metrics.contains("websvc_websocket_frames_sent_total 1\n")
    );
}
