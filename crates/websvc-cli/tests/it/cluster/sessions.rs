//! Browser sessions of one replica, used through the others.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;
use websvc_testkit::{Page, TestWeb};
use websvc_transport::Upgrade;

use super::{Cluster, REPLICAS, Variables, delete};
use crate::browser::path_or_skip;
use crate::browser_sessions::cdp::CdpClient;
use crate::browser_sessions::live::Viewer;
use crate::harness::{Response, Service};
use crate::websocket::request_upgrade;

const SESSIONS: &str = "/v2/browser";
const TEA: &str = "<!DOCTYPE html><title>Tea</title><main><h1>Tea</h1><p>Water of eighty degrees.</p></main>";

/// Replicas with Chromium. The last one announces no address if `all_announce` is false.
async fn start(all_announce: bool) -> Option<(TestWeb, Cluster)> {
    let chromium = path_or_skip("WEBSVC_TEST_CHROMIUM")?;
    let world = TestWeb::builder().page("http://tea.test/", Page::html(TEA)).start().await;
    let settings = (0..REPLICAS).map(|number| {
        let mut variables: Variables = vec![
            ("WEBSVC__BROWSER__CONCURRENCY", "2".into()),
            ("WEBSVC__BROWSER__PATH", chromium.clone().into()),
        ];
        if all_announce || number + 1 < REPLICAS {
            variables.push(("WEBSVC__REPLICA__ADDRESS", "127.0.0.1".into()));
        }
        variables
    });
    let cluster = Cluster::start_with(&world, settings.collect()).await?;
    Some((world, cluster))
}

async fn create(service: &Service) -> Value {
    let response = service.post(SESSIONS, r#"{"ttl": 120}"#).await;
    assert_eq!(response.status, 200, "{}", response.body);
    response.body
}

fn path(session: &Value) -> String {
    format!("{SESSIONS}/{}", session["id"].as_str().unwrap())
}

/// Returns the path and the query of a URL of a session, which begins with the public URL.
fn path_of(cluster: &Cluster, url: &Value) -> String {
    let url = url.as_str().unwrap();
    let host = cluster.balancer.address.split_once("://").unwrap().1;
    let rest = url.split_once("://").unwrap().1.strip_prefix(host);
    rest.unwrap_or_else(|| panic!("{url} is not at {host}")).to_owned()
}

async fn run(service: &Service, path: &str, code: &str) -> Response {
    service.post(path, json!({ "code": code, "timeout": 60 }).to_string()).await
}

/// Runs code that must succeed, and returns its result.
async fn result(service: &Service, path: &str, code: &str) -> Value {
    let response = run(service, path, code).await;
    assert_eq!((response.status.as_u16(), &response.body["exitCode"]), (200, &json!(0)), "{}", response.body);
    response.body["result"].clone()
}

async fn listed(service: &Service, id: &Value) -> Value {
    let list = service.get(SESSIONS).await.body;
    let sessions = list["sessions"].as_array().unwrap().clone();
    sessions.into_iter().find(|session| session["id"] == *id).unwrap_or_else(|| panic!("{list}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn session_is_used_and_deleted_through_every_replica() {
    let Some((_world, mut cluster)) = start(true).await else { return };
    cluster.succeed(&["teams", "set", "default", "--credits", "1000"]);
    let session = create(cluster.replica(0)).await;
    let execute = format!("{}/execute", path(&session));
    for number in 0..REPLICAS {
        let listed = listed(cluster.replica(number), &session["id"]).await;
        assert_eq!(listed["status"], "active");
        for url in ["cdpUrl", "liveViewUrl", "interactiveLiveViewUrl"] {
            assert_eq!(listed[url], session[url], "{number}");
        }
    }
    result(cluster.replica(1), &execute, "await page.goto('http://tea.test/')").await;
    assert_eq!(result(cluster.replica(2), &execute, "await page.title()").await, "Tea");
    assert_eq!(result(cluster.replica(0), &execute, "await page.title()").await, "Tea");
    let invalid = cluster.replica(1).post(&execute, r#"{"code": ""}"#).await;
    assert_eq!(invalid.status, 400, "{}", invalid.body);

    let mut client = CdpClient::connect_to(cluster.replica(1), &path_of(&cluster, &session["cdpUrl"])).await;
    let version = client.call(None, "Browser.getVersion", json!({})).await;
    assert!(version["result"]["product"].as_str().unwrap().contains("Chrome"), "{version}");
    let view = path_of(&cluster, &session["liveViewUrl"]);
    let page = cluster.replica(2).text(&view).await;
    assert!(page.contains("<title>Browser session</title>"), "{page}");
    let mut viewer = Viewer::connect_to(cluster.replica(2), &view).await;
    let frame = viewer.frame().await;
    assert!(frame["data"].as_str().unwrap().starts_with("/9j/"), "{frame}");
    let wrong = format!("{}/cdp?token=wrong", path(&session));
    let refused = request_upgrade(cluster.replica(1), &wrong, &[("authorization", "")]).await;
    let Upgrade::Refused { status, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(status, StatusCode::NOT_FOUND);

    let ended = delete(cluster.replica(1), &path(&session)).await;
    // Two credits for each minute that has begun.
    let billed = ended.body["creditsBilled"].as_u64().unwrap();
    assert!(ended.status == 200 && (2..=4).contains(&billed), "{}", ended.body);
    client.closed().await;
    for number in 0..REPLICAS {
        assert_eq!(run(cluster.replica(number), &execute, "1").await.status, 410);
        assert_eq!(cluster.replica(number).get(&view).await.status, 410);
    }
    for number in 0..REPLICAS {
        cluster.replica(number).terminate();
    }
    cluster.replicas.clear();
    assert_eq!(cluster.database.number("SELECT spent FROM grants WHERE current = 1").await, billed);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_scrape_is_opened_through_every_replica() {
    let Some((_world, cluster)) = start(true).await else { return };
    let scrape = async || {
        let body = json!({ "url": "http://tea.test/" }).to_string();
        let response = cluster.replica(0).post("/v2/scrape", body).await;
        let id = response.body["data"]["metadata"]["scrapeId"].as_str().unwrap().to_owned();
        format!("/v2/scrape/{id}/interact")
    };
    let interact = scrape().await;
    // Both open it: there is one session only.
    let (first, second) = tokio::join!(
        run(cluster.replica(1), &interact, "await page.title()"),
        run(cluster.replica(2), &interact, "await page.title()")
    );
    for response in [&first, &second] {
        assert_eq!(
            (response.status.as_u16(), &response.body["result"]),
            (200, &json!("Tea")),
            "{}",
            response.body
        );
        assert_eq!(response.body["sessionId"], first.body["sessionId"]);
        assert!(response.body["cdpUrl"].as_str().unwrap().contains("token="), "{}", response.body);
    }
    result(cluster.replica(2), &interact, "await page.setContent('<title>Coffee</title>')").await;
    assert_eq!(result(cluster.replica(1), &interact, "await page.title()").await, "Coffee");
    assert_eq!(delete(cluster.replica(1), &interact).await.status, 200);
    for number in 0..REPLICAS {
        assert_eq!(run(cluster.replica(number), &interact, "1").await.status, 410, "{number}");
        let unknown = format!("/v2/scrape/{}/interact", Uuid::now_v7());
        assert_eq!(run(cluster.replica(number), &unknown, "1").await.status, 404, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_a_killed_replica_end_when_it_counts_as_lost() {
    let Some((_world, mut cluster)) = start(true).await else { return };
    let session = create(cluster.replica(0)).await;
    let execute = format!("{}/execute", path(&session));
    assert_eq!(result(cluster.replica(1), &execute, "1 + 1").await, "2");
    let cdp = path_of(&cluster, &session["cdpUrl"]);
    let client = CdpClient::connect_to(cluster.replica(1), &cdp).await;
    cluster.kill(0);
    client.closed().await;
    let deadline = Instant::now() + Duration::from_secs(90);
    loop {
        let response = run(cluster.replica(1), &execute, "1").await;
        if response.status == StatusCode::GONE {
            break;
        }
        assert_eq!(response.status, 503, "{}", response.body);
        assert_eq!(response.headers["retry-after"], "2");
        assert!(Instant::now() < deadline, "the replica does not count as lost");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for number in 1..REPLICAS {
        assert_eq!(listed(cluster.replica(number), &session["id"]).await["status"], "destroyed");
        assert_eq!(delete(cluster.replica(number), &path(&session)).await.status, 200);
        let refused = request_upgrade(cluster.replica(number), &cdp, &[("authorization", "")]).await;
        assert!(matches!(refused, Upgrade::Refused { status: StatusCode::GONE, .. }), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replica_without_an_address_passes_requests_on_and_gets_none() {
    let Some((_world, cluster)) = start(false).await else { return };
    let (announced, silent) = (cluster.replica(0), cluster.replica(REPLICAS - 1));
    let ready = silent.get("/ready").await.body;
    assert_eq!(
        (&ready["status"], &ready["forwarding"]["state"]),
        (&json!("ready"), &json!("off")),
        "{ready}"
    );
    assert!(ready["forwarding"]["reason"].as_str().unwrap().contains("replica.address"), "{ready}");
    assert_eq!(announced.get("/ready").await.body["forwarding"], json!({ "state": "ok" }));
    let session = create(silent).await;
    let execute = format!("{}/execute", path(&session));
    let refused = run(announced, &execute, "1").await;
    assert_eq!((refused.status.as_u16(), &refused.body["code"]), (409, &json!("SESSION_ON_OTHER_REPLICA")));
    assert!(refused.body["error"].as_str().unwrap().contains("replica.address"), "{}", refused.body);
    assert_eq!(listed(announced, &session["id"]).await["cdpUrl"], "");
    assert_eq!(result(silent, &execute, "2 + 3").await, "5");
    let other = create(announced).await;
    assert_eq!(result(silent, &format!("{}/execute", path(&other)), "3 + 4").await, "7");
    assert_eq!(listed(silent, &other["id"]).await["cdpUrl"], other["cdpUrl"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarded_request_has_one_audit_event_with_the_address_of_the_client() {
    let Some(chromium) = path_or_skip("WEBSVC_TEST_CHROMIUM") else { return };
    let world = TestWeb::builder().start().await;
    let events = tempfile::tempdir().unwrap();
    let file = |number: usize| events.path().join(format!("{number}.jsonl"));
    let settings = (0..REPLICAS).map(|number| {
        let proxies: OsString = r#"["127.0.0.1/32"]"#.into();
        vec![
            ("WEBSVC__BROWSER__CONCURRENCY", "2".into()),
            ("WEBSVC__BROWSER__PATH", chromium.clone().into()),
            ("WEBSVC__REPLICA__ADDRESS", "127.0.0.1".into()),
            ("WEBSVC__SERVER__TRUSTED_PROXIES", proxies),
            ("WEBSVC__AUDIT__FILE", file(number).into()),
        ]
    });
    let Some(mut cluster) = Cluster::start_with(&world, settings.collect()).await else { return };
    cluster.succeed(&["teams", "set", "default", "--audit", "on"]);
    let session = create(cluster.replica(0)).await;
    let headers = [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-request-id", "of-the-client"),
        ("content-type", "application/json"),
    ];
    let execute = format!("{}/execute", path(&session));
    let body = json!({ "code": "1" }).to_string();
    let response = cluster.replica(1).send(Method::POST, &execute, &headers, body).await;
    assert_eq!(
        (response.status.as_u16(), &response.headers["x-request-id"]),
        (200, &"of-the-client".parse().unwrap())
    );
    // Other replicas are asked for the list and for a scrape, without events of their own.
    listed(cluster.replica(1), &session["id"]).await;
    let unknown = format!("/v2/scrape/{}/interact", Uuid::now_v7());
    assert_eq!(run(cluster.replica(1), &unknown, "1").await.status, 404);
    delete(cluster.replica(2), &path(&session)).await;
    for number in 0..REPLICAS {
        cluster.replica(number).terminate();
    }
    cluster.replicas.clear();
    let mut found = Vec::new();
    for number in 0..REPLICAS {
        let text = std::fs::read_to_string(file(number)).unwrap_or_default();
        found.extend(text.lines().map(|line| (number, serde_json::from_str::<Value>(line).unwrap())));
    }
    let of = |name: &str| -> Vec<&(usize, Value)> {
        found.iter().filter(|(_, event)| event["operation"] == name).collect()
    };
    let [(owner, event)] = of("browser-execute")[..] else { panic!("{found:?}") };
    assert_eq!(
        (owner, &event["client"], &event["requestId"]),
        (&0, &json!("203.0.113.9"), &json!("of-the-client"))
    );
    assert_eq!(event["target"], format!("browser session {}", session["id"].as_str().unwrap()));
    let counts = ["browser", "browser-list", "interact", "browser-end"].map(|name| of(name).len());
    assert_eq!(counts, [1, 1, 1, 1], "{found:?}");
}

/// A script that uses sessions with one request to each replica after the other.
const SCRIPT: &str = r##"
import sys
from firecrawl import Firecrawl

app = Firecrawl(api_key=sys.argv[2], api_url=sys.argv[1])
session = app.browser(ttl=60)
app.browser_execute(session.id, "await page.goto('http://tea.test/')", language="node")
print([app.browser_execute(session.id, "await page.title()", language="node").result for _ in range(4)])
print([[s.cdp_url == session.cdp_url for s in app.list_browsers().sessions] for _ in range(3)])
print(app.delete_browser(session.id).success)
for _ in range(3):
    page = app.scrape("http://tea.test/")
    job = page.metadata.scrape_id
    print([app.interact(job, "await page.title()").result for _ in range(2)], app.stop_interaction(job).success)
"##;

#[tokio::test(flavor = "multi_thread")]
async fn official_python_sdk_uses_sessions_through_the_load_balancer() {
    let Some((_world, cluster)) = start(true).await else { return };
    let expected = "['Tea', 'Tea', 'Tea', 'Tea']\n[[True], [True], [True]]\nTrue\n\
                    ['Tea', 'Tea'] True\n['Tea', 'Tea'] True\n['Tea', 'Tea'] True\n";
    crate::sdk::check(SCRIPT, &cluster.client(), expected);
}
