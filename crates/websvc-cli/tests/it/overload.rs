//! More requests than the service works on: they wait or are turned away, and none is lost.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use websvc_testkit::{Page, TestWeb};

use crate::harness::{KEY, Service, Site};

/// A page that takes a while, in the index of a service that does little at a time.
async fn slow_world(delay: Duration) -> TestWeb {
    let page = Page::html("<h1>Late</h1><p>A page that takes its time.").delay(delay);
    TestWeb::builder().page("http://slow.test/", page).start().await
}

async fn narrow(site: &Site, limits: &[(&str, &str)]) -> Service {
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("WEBSVC_API_KEY", KEY);
    for (name, value) in limits {
        command.env(format!("WEBSVC__LIMITS__{name}"), value);
    }
    let service = Service::start(&mut command);
    service.list(&[("slow", "http://slow.test/")]).await;
    service
}

/// A search that fetches the page each time.
fn request() -> Value {
    json!({ "query": "slow", "scrapeOptions": { "formats": ["markdown"], "maxAge": 0, "storeInCache": false } })
}

async fn figure(service: &Service, name: &str) -> u64 {
    let metrics = service.text("/metrics").await;
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_those_that_wait_too() {
    let world = slow_world(Duration::from_millis(400)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "2"), ("QUEUE_WAIT_MS", "60000")];
    let service = narrow(&site, &limits).await;
    let stop = async {
        while figure(&service, "websvc_requests_queued").await < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.terminate();
    };
    let ask = || service.search(request());
    let (one, two, three, four, five, six, ()) = tokio::join!(ask(), ask(), ask(), ask(), ask(), ask(), stop);
    for answer in [one, two, three, four, five, six] {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body["data"]["web"][0]["markdown"].as_str().unwrap().contains("Late"), "{answer:?}");
    }
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_waiting_is_time_of_the_request() {
    let world = slow_world(Duration::from_millis(1_500)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "1"), ("QUEUE_WAIT_MS", "60000")];
    let service = narrow(&site, &limits).await;
    let late = async {
        while world.count("http://slow.test/") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        service.search(json!({ "query": "slow", "timeout": 1000 })).await
    };
    let (first, late) = tokio::join!(service.search(request()), late);
    assert_eq!(first.status, 200);
    assert_eq!(late.status, 408, "its second was over when its turn came: {late:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_that_asks_for_too_much_at_a_time_is_told_so() {
    let world = slow_world(Duration::from_millis(300)).await;
    let site = Site::new(&world);
    let service = narrow(&site, &[]).await;
    site.succeed(&["teams", "set", "default", "--concurrency", "1"]);
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let (one, two) = tokio::join!(service.search(request()), service.search(request()));
        let statuses = [one.status.as_u16(), two.status.as_u16()];
        if statuses.contains(&429) {
            assert!(statuses.contains(&200), "{statuses:?}");
            let refused = if two.status == 429 { two } else { one };
            assert_eq!(refused.headers["retry-after"], "1");
            assert!(
                refused.body["error"].as_str().unwrap().contains("concurrency limit of 1 reached"),
                "{refused:?}"
            );
            return;
        }
        assert!(std::time::Instant::now() < deadline, "the change is never seen");
    }
}

/// Asks over a connection of its own, and returns the status and whether it was said when to come again.
async fn ask_alone(address: &str, body: &str) -> (u16, bool) {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /v2/search HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    let status = answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    (status, answer.contains("\r\nretry-after: 1\r\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn far_too_many_connections_get_an_answer_or_are_told_when_to_come_again() {
    const CONNECTIONS: usize = 300;
    let world = slow_world(Duration::from_millis(30)).await;
    let site = Site::new(&world);
    let limits = [("TOTAL_CONCURRENCY", "8"), ("QUEUE", "16")];
    let service = narrow(&site, &limits).await;
    let address = service.address.strip_prefix("http://").unwrap().to_owned();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(async move { ask_alone(&address, &request().to_string()).await })
        })
        .collect();
    let (mut answered, mut refused) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            (200, _) => answered += 1,
            (429, true) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(
        answered >= 8 + 16,
        "those in work and those that wait are answered: {answered}, {refused} refused"
    );
    assert!(refused > 0 && answered + refused == CONNECTIONS, "{answered}, {refused}");
    for name in ["websvc_requests_in_flight", "websvc_requests_queued", "websvc_admission_tracked_accounts"] {
        assert_eq!(figure(&service, name).await, 0, "{name}");
    }
    let answer = service.send(
        Method::POST,
        "/v2/search",
        &[("content-type", "application/json")],
        request().to_string(),
    );
    assert_eq!(answer.await.status, 200, "it goes on as before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_in_the_middle_of_an_overload_loses_no_answer() {
    const CONNECTIONS: usize = 48;
    let world = TestWeb::builder().start().await;
    let site = Site::new(&world);
    let log = site.data_dir().join("log");
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    // More connections than may work and wait, so that some are rejected on whatever machine.
    command.env("WEBSVC_API_KEY", KEY).env("WEBSVC_LOG_FORMAT", "pretty");
    command.env("WEBSVC__LIMITS__PROCESSORS", "1");
    command.env("WEBSVC__LIMITS__TOTAL_CONCURRENCY", "8").env("WEBSVC__LIMITS__QUEUE", "8");
    let service = Service::start_logging(&mut command, &log);
    service.list(&[("kettle", "http://tea.test/")]).await;
    let logged = |status: &str| {
        let log = std::fs::read_to_string(&log).unwrap();
        log.lines().filter(|line| line.contains("/v2/search") && line.contains(status)).count()
    };
    let before = logged("status=200");
    let address = service.address.strip_prefix("http://").unwrap().to_owned();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let address = address.clone();
            tokio::spawn(async move { ask_until_closed(&address).await })
        })
        .collect();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while logged("status=429") == 0 || logged("status=200") < before + 100 {
        assert!(std::time::Instant::now() < deadline, "searches are answered, and some are turned away");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    service.terminate();
    let (mut answered, mut refused) = (0, 0);
    for task in tasks {
        let (mine, turned_away) = task.await.unwrap();
        answered += mine;
        refused += turned_away;
    }
    assert!(service.stop().success());
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.contains("aborted: 0"), "no connection was cut: {told}");
    assert_eq!(answered, logged("status=200") - before, "every answer arrived");
    assert_eq!(refused, logged("status=429"));
}

/// Searches over one connection until the service closes it, and returns how many answers were 200 and how many 429.
async fn ask_until_closed(address: &str) -> (usize, usize) {
    let body = json!({ "query": "kettle" }).to_string();
    let request = format!(
        "POST /v2/search HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(address).await.unwrap();
    let (mut answered, mut refused) = (0, 0);
    while connection.write_all(request.as_bytes()).await.is_ok() {
        match read_answer(&mut connection).await {
            Some((200, _)) => answered += 1,
            Some((429, true)) => refused += 1,
            None => break,
            other => panic!("{other:?}"),
        }
    }
    (answered, refused)
}

/// Reads one answer: its status, and whether it says when to come again; `None` when the connection is closed in its place.
async fn read_answer(connection: &mut TcpStream) -> Option<(u16, bool)> {
    let mut answer = Vec::new();
    loop {
        let read = connection.read_buf(&mut answer).await.unwrap_or_default();
        if read == 0 {
            assert!(answer.is_empty(), "an answer is broken off: {}", String::from_utf8_lossy(&answer));
            return None;
        }
        let text = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse::<usize>().unwrap() {
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            return Some((status, head.contains("\r\nretry-after: 1")));
        }
    }
}
