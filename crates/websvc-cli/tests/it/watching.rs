//! Sockets that tell how a job goes, over the running program.

mod client;
mod frames;
mod refusals;

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Page, TestWeb, until};

use self::client::{Watch, watch};
use crate::batch::{ask_until, delete, ended, read_all, sources, start_at};
use crate::harness::{Service, Site};

pub(crate) const BATCH: &str = "/v2/batch/scrape";

/// A site of so many pages, and one that never comes.
async fn site_of(pages: usize, answer_time: Duration, text: &str) -> TestWeb {
    let mut world = TestWeb::builder().page("http://slow.test/", Page::unresponsive());
    for number in 0..pages {
        let page = Page::html(format!("<title>{number}</title><p>Page {number}. {text}</p>"));
        world = world.page(&format!("http://list.test/{number}"), page.delay(answer_time));
    }
    world.start().await
}

fn urls(pages: usize) -> Vec<String> {
    (0..pages).map(|number| format!("http://list.test/{number}")).collect()
}

fn never_ending(pages: usize) -> Value {
    let mut urls = urls(pages);
    urls.push("http://slow.test/".to_owned());
    json!({ "urls": urls })
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_come_once_and_in_their_order_while_a_batch_runs() {
    const PAGES: usize = 20;
    let world = site_of(PAGES, Duration::from_millis(100), "").await;
    let service = Service::of(&world);
    // The first one is named twice.
    let mut all = [urls(PAGES), urls(1)].concat();
    all.push("http://192.168.0.1/secret".to_owned());
    let path = start_at(&service, BATCH, json!({ "urls": all })).await;
    let seen = watch(&service, &path).await.into_seen().await;
    assert_eq!(seen.closed, Some((1000, r#"{"type":"done"}"#.to_owned())));
    assert_eq!(seen.first["data"]["status"], "scraping", "it was watched from its beginning");
    assert!(seen.errors.is_empty(), "a page that cannot be had does not end the watching: {:?}", seen.errors);
    let (documents, _) = read_all(&service, &path).await;
    assert_eq!(documents.len(), PAGES + 1);
    assert_eq!(seen.documents(), documents);
    let last = seen.last.unwrap();
    let status = service.get(&path).await.body;
    assert_eq!((&last["type"], &last["data"]), (&json!("status"), &status));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_is_told_as_a_batch_is() {
    let world = crate::harness::tea_world().await;
    let service = Service::of(&world);
    let path = start_at(&service, "/v2/crawl", json!({ "url": "http://tea.test/", "sitemap": "skip" })).await;
    let seen = watch(&service, &path).await.into_seen().await;
    assert_eq!(seen.closed.as_ref().map(|(code, _)| *code), Some(1000));
    let status = ended(&service, &path).await;
    assert_eq!(seen.documents(), *status["data"].as_array().unwrap());
    let told = seen.last.as_ref().unwrap_or(&seen.first);
    assert_eq!(told["data"], status);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_is_one_frame_or_as_many_as_it_takes() {
    let world = site_of(120, Duration::ZERO, "").await;
    let service = Service::of(&world);
    let small = start_at(&service, BATCH, json!({ "urls": urls(3) })).await;
    let status = ended(&service, &small).await;
    for _ in 0..2 {
        let seen = watch(&service, &small).await.into_seen().await;
        assert_eq!((&seen.first["type"], &seen.first["data"]), (&json!("catchup"), &status));
        assert_eq!((seen.last, seen.closed.unwrap().0), (None, 1000));
    }
    let large = start_at(&service, BATCH, json!({ "urls": urls(120) })).await;
    ended(&service, &large).await;
    let seen = watch(&service, &large).await.into_seen().await;
    // Official clients stop at the first frame that says that it has ended.
    assert_eq!(seen.first["data"]["status"], "scraping");
    assert_eq!(seen.first["data"]["data"].as_array().unwrap().len(), 100);
    assert!(seen.first["data"]["next"].is_null());
    assert_eq!(seen.documents(), read_all(&service, &large).await.0);
    let last = seen.last.unwrap();
    assert_eq!((&last["data"]["status"], &last["data"]["completed"]), (&json!("completed"), &json!(120)));
    assert!(last["data"]["next"].as_str().unwrap().ends_with("?skip=100"), "{}", last["data"]["next"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_cancelled_or_fails_says_so() {
    let world = site_of(3, Duration::ZERO, "").await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--credits", "3"]);
    let service = site.serve();
    let path = start_at(&service, BATCH, never_ending(1)).await;
    let watch_it = watch(&service, &path).await;
    ask_until(&service, &path, |body| body["completed"] == 1).await;
    let cancelling = async {
        assert_eq!(delete(&service, &path).await.status, 200);
    };
    let (seen, ()) = tokio::join!(watch_it.into_seen(), cancelling);
    let last = seen.last.as_ref().unwrap();
    assert_eq!((&last["data"]["status"], seen.documents().len()), (&json!("cancelled"), 1));
    assert_eq!(seen.closed.as_ref().unwrap().0, 1000);
    let path = start_at(&service, BATCH, json!({ "urls": urls(3), "maxConcurrency": 1 })).await;
    let seen = watch(&service, &path).await.into_seen().await;
    let told = &seen.last.as_ref().unwrap_or(&seen.first)["data"];
    assert_eq!(told["status"], "failed", "{told}");
    assert!(told["error"].as_str().unwrap().starts_with("Insufficient credits"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_hears_at_once() {
    let world = site_of(1, Duration::from_secs(1), "").await;
    let service = Service::of(&world);
    let path = start_at(&service, BATCH, never_ending(1)).await;
    let mut watching = watch(&service, &path).await;
    assert_eq!(watching.next().await["data"]["data"], json!([]));
    // Looking again without being told would take until the next ping.
    let told = tokio::time::timeout(Duration::from_secs(20), watching.next()).await.expect("it is told");
    assert_eq!(told["data"]["metadata"]["sourceURL"], "http://list.test/0");
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_closes_sockets_and_does_not_wait_for_them() {
    let world = site_of(1, Duration::ZERO, "").await;
    let service = Service::of(&world);
    let path = start_at(&service, BATCH, never_ending(1)).await;
    let mut watching = watch(&service, &path).await;
    let mut deaf = watch(&service, &path).await;
    watching.next().await;
    deaf.next().await;
    let started = std::time::Instant::now();
    let stopping = tokio::task::spawn_blocking(move || service.stop());
    let seen = watching.into_seen().await;
    assert_eq!(seen.closed.unwrap().0, 1001);
    assert!(stopping.await.unwrap().success());
    // The one that answers nothing is cut.
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    drop(deaf);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_after_a_kill_is_told_everything_again() {
    const PAGES: usize = 30;
    let world = site_of(PAGES, Duration::from_millis(100), "").await;
    let site = Site::new(&world);
    let mut service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES) })).await;
    let mut watching = watch(&service, &path).await;
    for _ in 0..8 {
        watching.next().await;
    }
    service.kill();
    assert_eq!(watching.into_seen().await.closed, None);
    drop(service);
    service = site.serve();
    let seen = watch(&service, &path).await.into_seen().await;
    let sources = sources(&seen.documents());
    assert_eq!((sources.len(), seen.documents().len()), (PAGES, PAGES), "{sources:?}");
    assert_eq!(seen.documents(), read_all(&service, &path).await.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_next_without_a_pause_over_many_pages_comes_to_an_end() {
    const PAGES: usize = 120;
    let world = site_of(PAGES, Duration::ZERO, "").await;
    let service = Service::of(&world);
    let path = start_at(&service, BATCH, never_ending(PAGES)).await;
    // While they come: each request brings documents, or is the last.
    let (documents, requests) = read_all(&service, &format!("{path}?limit=5")).await;
    assert!(requests <= documents.len() / 5 + 1, "{requests} requests for {} documents", documents.len());
    ask_until(&service, &path, |body| body["completed"] == PAGES).await;
    let (documents, requests) = read_all(&service, &format!("{path}?limit=5")).await;
    assert_eq!((documents.len(), requests), (PAGES, PAGES / 5));
    delete(&service, &path).await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn what_slow_readers_do_not_take_is_not_kept_in_memory() {
    const PAGES: usize = 24;
    const SOCKETS: usize = 60;
    let world = site_of(PAGES, Duration::ZERO, &"many words ".repeat(25_000)).await;
    let service = Service::of(&world);
    let path = start_at(&service, BATCH, json!({ "urls": urls(PAGES), "formats": ["rawHtml"] })).await;
    ended(&service, &path).await;
    let (documents, _) = read_all(&service, &path).await;
    let whole: usize = documents.iter().map(|document| document.to_string().len()).sum();
    let before = resident(&service);
    let mut slow = Vec::new();
    for _ in 0..SOCKETS {
        slow.push(watch(&service, &path).await);
    }
    let open = || async { service.text("/metrics").await.contains(&format!("websvc_sockets {SOCKETS}\n")) };
    assert!(open().await);
    // One that reads gets everything meanwhile.
    let seen = slow.remove(0).into_seen().await;
    assert_eq!(seen.documents(), documents);
    let grown = resident(&service).saturating_sub(before);
    assert!(grown < SOCKETS * whole / 2, "{grown} bytes for {SOCKETS} sockets over {whole} bytes");
}

/// Returns the bytes of memory of a service.
#[cfg(target_os = "linux")]
fn resident(service: &Service) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_has_its_lines_in_the_log_and_no_key_in_them() {
    let world = site_of(2, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", crate::harness::KEY).env("WEBSVC_LOG", "trace");
    let service = Service::start_logging(&mut command, &log);
    let path = start_at(&service, BATCH, json!({ "urls": urls(2) })).await;
    ended(&service, &path).await;
    let offered = [("authorization", ""), ("sec-websocket-protocol", crate::harness::KEY)];
    let watching = Watch::open(&service, &path, &offered).await;
    assert_eq!(watching.headers["sec-websocket-protocol"], crate::harness::KEY);
    assert_eq!(watching.into_seen().await.closed.unwrap().0, 1000);
    let lines = || -> Vec<Value> {
        let text = std::fs::read_to_string(&log).unwrap();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let closed = || lines().into_iter().find(|line| line["message"] == "socket closed");
    until("the socket is closed", || closed().is_some()).await;
    let closed = closed().unwrap()["fields"].clone();
    assert_eq!(
        (&closed["code"], &closed["frames"], &closed["path"]),
        (&json!(1000), &json!(1), &json!(path))
    );
    let opened = lines().into_iter().find(|line| line["fields"]["status"] == 101).unwrap();
    assert_eq!(opened["fields"]["id"], closed["id"]);
    assert!(!std::fs::read_to_string(&log).unwrap().contains(crate::harness::KEY));
    let metrics = service.text("/metrics").await;
    assert!(metrics.contains("websvc_sockets 0\n") && metrics.contains("websvc_socket_frames_total 1\n"));
}
