//! Tests of overload: requests are queued or rejected, and none is lost.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use websvc_testkit::{Page, TestWeb};

use crate::harness::{KEY, Service, Site};

/// Starts a web with a slow page.
async fn slow_world(delay: Duration) -> TestWeb {
    let page = Page::html("<h1>Late</h1><p>A slow page.").delay(delay);
    TestWeb::builder().page("http://slow.test/", page).start().await
}

/// Starts a service with these limits, whose index contains the slow page.
async fn serve_with_limits(site: &Site, limits: &[(&str, &str)]) -> Service {
    let mut command = site.serve_command();
    for (name, value) in limits {
        command.env(format!("WEBSVC__LIMITS__{name}"), value);
    }
    let service = Service::start(&mut command);
    service.index_pages(&[("slow", "http://slow.test/")]).await;
    service
}

/// Returns a search that fetches the page without the cache.
fn uncached_search() -> Value {
    json!({ "query": "slow", "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false } })
}

async fn metric(service: &Service, name: &str) -> u64 {
    let metrics = service.text("/metrics").await;
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_completes_queued_requests() {
    let world = slow_world(Duration::from_millis(400)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "2"), ("QUEUE_WAIT_MS", "60000")];
    let service = serve_with_limits(&site, &limits).await;
    let stop = async {
        while metric(&service, "websvc_requests_queued").await < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.terminate();
    };
    let search = || service.search(uncached_search());
    let (one, two, three, four, five, six, ()) =
        tokio::join!(search(), search(), search(), search(), search(), search(), stop);
    for response in [one, two, three, four, five, six] {
        assert_eq!(response.status, 200, "{response:?}");
        assert!(
            response.body["data"]["web"][0]["markdown"].as_str().unwrap().contains("Late"),
            "{response:?}"
        );
    }
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn queue_time_counts_against_the_timeout() {
    let world = slow_world(Duration::from_millis(1_500)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "1"), ("QUEUE_WAIT_MS", "60000")];
    let service = serve_with_limits(&site, &limits).await;
    let late = async {
        while world.count("http://slow.test/") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.search(json!({ "query": "slow", "timeout": 1000 })).await
    };
    let (first, late) = tokio::join!(service.search(uncached_search()), late);
    assert_eq!(first.status, 200);
    assert_eq!(late.status, 408, "the timeout passed while the request was queued: {late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn team_over_its_concurrency_is_rejected() {
    let world = slow_world(Duration::from_millis(300)).await;
    let site = Site::new(&world);
    let service = serve_with_limits(&site, &[]).await;
    site.succeed(&["teams", "set", "default", "--concurrency", "1"]);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let (one, two) = tokio::join!(service.search(uncached_search()), service.search(uncached_search()));
        let statuses = [one.status.as_u16(), two.status.as_u16()];
        if statuses.contains(&429) {
            assert!(statuses.contains(&200), "{statuses:?}");
            let rejected = if two.status == 429 { two } else { one };
            assert_eq!(rejected.headers["retry-after"], "1");
            assert!(
                rejected.body["error"].as_str().unwrap().contains("concurrency limit of 1 reached"),
                "{rejected:?}"
            );
            return;
        }
        assert!(std::time::Instant::now() < deadline, "the changed concurrency is not applied");
    }
}

/// Sends a search over a new connection. Returns the status, and whether the response has a retry-after header.
async fn search_on_new_connection(address: &str, body: &str) -> (u16, bool) {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v2/search HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    connection.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response).to_ascii_lowercase();
    let status = response.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    (status, response.contains("\r\nretry-after: 1\r\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn overload_completes_or_rejects_every_request() {
    const CONNECTIONS: usize = 300;
    let world = slow_world(Duration::from_millis(30)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "8"), ("QUEUE_LEN", "16")];
    let service = serve_with_limits(&site, &limits).await;
    let address = service.address.strip_prefix("http://").unwrap().to_owned();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(
                async move { search_on_new_connection(&address, &uncached_search().to_string()).await },
            )
        })
        .collect();
    let (mut completed, mut rejected) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            (200, _) => completed += 1,
            (429, true) => rejected += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(
        completed >= 8 + 16,
        "the requests in flight and in the queue must complete: {completed} completed, {rejected} rejected"
    );
    assert!(rejected > 0 && completed + rejected == CONNECTIONS, "{completed}, {rejected}");
    for name in ["websvc_requests_in_flight", "websvc_requests_queued", "websvc_admission_tracked_accounts"] {
        assert_eq!(metric(&service, name).await, 0, "{name}");
    }
    let response = service.send(
        Method::POST,
        "/v2/search",
        &[("content-type", "application/json")],
        uncached_search().to_string(),
    );
    assert_eq!(response.await.status, 200, "the service does not work after the overload");
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_during_overload_loses_no_response() {
    const CONNECTIONS: usize = 48;
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log");
    let mut command = site.serve_command();
    // More connections than slots and queue entries, so that some requests are rejected on any machine.
    command.env("WEBSVC_LOG_FORMAT", "pretty");
    command.env("WEBSVC__LIMITS__SEARCH_CONCURRENCY", "1");
    command.env("WEBSVC__LIMITS__TOTAL_CONCURRENCY", "8").env("WEBSVC__LIMITS__QUEUE_LEN", "8");
    let service = Service::start_logging(&mut command, &log);
    service.index_pages(&[("kettle", "http://tea.test/")]).await;
    let logged = |status: &str| {
        let log = std::fs::read_to_string(&log).unwrap();
        log.lines().filter(|line| line.contains("/v2/search") && line.contains(status)).count()
    };
    let before = logged("status=200");
    let address = service.address.strip_prefix("http://").unwrap().to_owned();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(async move { search_until_closed(&address).await })
        })
        .collect();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while logged("status=429") == 0 || logged("status=200") < before + 100 {
        assert!(std::time::Instant::now() < deadline, "there are too few completed and rejected searches");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.terminate();
    let (mut completed, mut rejected) = (0, 0);
    for task in tasks {
        let (task_completed, task_rejected) = task.await.unwrap();
        completed += task_completed;
        rejected += task_rejected;
    }
    assert!(service.stop().success());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("aborted=0"), "a connection was aborted: {text}");
    assert_eq!(completed, logged("status=200") - before, "a completed response did not arrive");
    assert_eq!(rejected, logged("status=429"));
}

/// Searches over one connection until the service closes it. Returns the numbers of responses with status 200 and 429.
async fn search_until_closed(address: &str) -> (usize, usize) {
    let body = json!({ "query": "kettle" }).to_string();
    let request = format!(
        "POST /v2/search HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(address).await.unwrap();
    let (mut completed, mut rejected) = (0, 0);
    while connection.write_all(request.as_bytes()).await.is_ok() {
        match read_response(&mut connection).await {
            Some((200, _)) => completed += 1,
            Some((429, true)) => rejected += 1,
            None => break,
            other => panic!("{other:?}"),
        }
    }
    (completed, rejected)
}

/// Reads a response. Returns its status and whether it has a retry-after header, or `None` if the connection is closed.
async fn read_response(connection: &mut TcpStream) -> Option<(u16, bool)> {
    let mut response = Vec::new();
    loop {
        let read = connection.read_buf(&mut response).await.unwrap_or_default();
        if read == 0 {
            assert!(response.is_empty(), "incomplete response: {}", String::from_utf8_lossy(&response));
            return None;
        }
        let text = String::from_utf8_lossy(&response).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            return Some((status, head.contains("\r\nretry-after: 1")));
        }
    }
}
