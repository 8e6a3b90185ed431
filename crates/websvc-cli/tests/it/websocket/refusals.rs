//! Tests of rejected WebSocket handshakes.

use std::time::Duration;

use http::Method;
use serde_json::json;

use super::client::{JobSocket, open_socket};
use super::{BATCH, never_ending_batch, site_of, urls};
use crate::batch::{delete, start_at, wait_for_end};
use crate::harness::{Service, Site};

const UNKNOWN: &str = "/v2/batch/scrape/019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

/// Opens a socket that must be closed with `code`, and with `text` in the reason. Except for code 1013, which invites
/// a retry, an error frame with `text` must come first.
async fn check(service: &Service, path: &str, headers: &[(&str, &str)], code: u16, text: &str) {
    let socket = JobSocket::open(service, path, headers).await;
    let offered = headers.iter().find(|(name, _)| *name == "sec-websocket-protocol");
    let echoed = socket.headers.get("sec-websocket-protocol").map(|value| value.to_str().unwrap());
    assert_eq!(echoed, offered.map(|(_, value)| *value), "{path} {headers:?}");
    let events = socket.into_events().await;
    let (actual, reason) = events.closed.clone().unwrap_or_default();
    assert_eq!(actual, code, "{path} {headers:?}: {events:?}");
    assert!(reason.contains(text), "{reason}");
    let has_error = events.errors.iter().any(|error| error.contains(text));
    assert_eq!(has_error, code != 1013, "{events:?}");
    assert_eq!(events.documents().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn unauthorized_socket_is_closed_with_a_code() {
    let world = site_of(1, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(1) })).await;
    wait_for_end(&service, &path).await;
    let key = |scope: &str, team: &str| site.create_key(&["--team", team, "--scope", scope]);
    let (other, scoped) = (key("batch", "others"), key("crawl", "default"));
    let (wrong, none) = (("authorization", "Bearer fc-wrong"), ("authorization", ""));
    let bearer = |key: &str| format!("Bearer {key}");
    check(&service, &path, &[wrong], 3000, "Invalid token").await;
    check(&service, &path, &[none], 3000, "Token missing").await;
    check(&service, &path, &[none, ("sec-websocket-protocol", "fc-wrong")], 3000, "Invalid token").await;
    check(&service, &path, &[("authorization", &bearer(&scoped))], 3003, "scope \"batch\"").await;
    check(&service, &path, &[("authorization", &bearer(&other))], 1008, "Job not found").await;
    check(&service, UNKNOWN, &[], 1008, "Job not found").await;
    check(&service, "/v2/batch/scrape/x", &[], 1008, "Invalid job ID").await;
    check(&service, &path.replace("batch/scrape", "crawl"), &[], 1008, "Job not found").await;
    // A valid key in the header or in the subprotocol.
    for headers in [vec![], vec![none, ("sec-websocket-protocol", service.key.as_str())]] {
        let events = JobSocket::open(&service, &path, &headers).await.into_events().await;
        assert_eq!((events.documents().len(), events.closed.unwrap().0), (1, 1000));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_session_opens_no_socket() {
    let world = site_of(1, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(1) })).await;
    let admin = site.create_key(&["--team", "default", "--admin"]);
    let headers = [("content-type", "application/json"), ("authorization", "")];
    let body = json!({ "key": admin }).to_string();
    let signed_in = service.send(Method::POST, "/dashboard/session", &headers, body).await;
    assert!(signed_in.status.is_success(), "{}", signed_in.body);
    let cookie = signed_in.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let response = service.send(Method::GET, &path, &[("authorization", ""), ("cookie", &cookie)], "").await;
    assert_eq!(response.status, 200, "the session may read the job");
    check(&service, &path, &[("authorization", ""), ("cookie", &cookie)], 3000, "Token missing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_origins_open_no_socket_without_authentication() {
    let world = site_of(1, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let mut command = site.command(&["serve", "--listen", "127.0.0.1:0"]);
    let service = Service::start(command.env("WEBSVC__AUTH__REQUIRED", "false"));
    let path = start_at(&service, BATCH, json!({ "urls": urls(1) })).await;
    wait_for_end(&service, &path).await;
    for origin in ["http://evil.test", "null", "http://127.0.0.1:1"] {
        check(&service, &path, &[("origin", origin)], 3003, "not the origin").await;
    }
    let none = ("authorization", "");
    let offered = ("sec-websocket-protocol", "fc-whatever");
    for headers in [vec![none], vec![none, offered], vec![("origin", service.address.as_str())]] {
        let socket = JobSocket::open(&service, &path, &headers).await;
        assert_eq!(socket.headers.contains_key("sec-websocket-protocol"), headers.contains(&offered));
        assert_eq!(socket.into_events().await.closed.unwrap().0, 1000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn team_socket_limit_rejects_more_until_a_socket_closes() {
    let world = site_of(1, Duration::ZERO, "").await;
    let site = Site::new(&world);
    let service = site.serve_with(&[("WEBSVC__JOBS__MAX_SOCKETS_PER_TEAM", "1")]);
    let path = start_at(&service, BATCH, never_ending_batch(1)).await;
    let mut first = open_socket(&service, &path).await;
    first.next().await;
    check(&service, &path, &[], 1013, "limit of 1 open WebSockets").await;
    drop(first);
    let free = || async { service.text("/metrics").await.contains("websvc_websockets_open 0\n") };
    while !free().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    open_socket(&service, &path).await.next().await;
    delete(&service, &path).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_counts_against_the_request_rate() {
    let world = site_of(1, Duration::ZERO, "").await;
    let site = Site::new(&world);
    site.succeed(&["teams", "set", "default", "--requests-per-minute", "2"]);
    let service = site.serve();
    let path = start_at(&service, BATCH, json!({ "urls": urls(1) })).await;
    let events = open_socket(&service, &path).await.into_events().await;
    assert_eq!(events.closed.unwrap().0, 1000);
    check(&service, &path, &[], 1013, "requests per minute").await;
}
