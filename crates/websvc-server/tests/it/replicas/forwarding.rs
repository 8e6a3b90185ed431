//! Requests for a browser session of another replica. The other replica is a server that records what it gets, with the
//! row of a session in the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::{JoinHandle, JoinSet};
use uuid::Uuid;
use websvc_store::{NewBrowserSession, ReplicaAddress, ReplicaRole, Store, TeamChange};
use websvc_testkit::until;
use websvc_transport::{Body, BodyTimeout, FetchResponse, Server, ServerBody, ServerConfig};

use super::replica::Replica;
use super::{Replicas, get, json_of};

const SECRET: &str = "secret of the owner";

/// A request that the owner got.
#[derive(Debug, Clone)]
struct Received {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A replica that answers every request with the same status.
struct Owner {
    store: Store,
    received: Arc<Mutex<Vec<Received>>>,
    status: Arc<Mutex<StatusCode>>,
    /// While it is true, POST requests get no answer, like those whose code runs for long.
    is_busy: Arc<AtomicBool>,
    task: JoinHandle<()>,
    _dir: TempDir,
}

impl Owner {
    async fn start(replicas: &Replicas, announces: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = replicas.database.open(&dir);
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let status = Arc::new(Mutex::new(StatusCode::OK));
        let is_busy = Arc::<AtomicBool>::default();
        let (recording, answering) = (Arc::clone(&received), Arc::clone(&status));
        let running = Arc::clone(&is_busy);
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await.unwrap();
        let url = format!("http://{}", server.local_addr());
        let task = tokio::spawn(async move {
            let handler = move |request: Request<ServerBody>| {
                let (recording, answering) = (Arc::clone(&recording), Arc::clone(&answering));
                let running = Arc::clone(&running);
                async move {
                    let (parts, body) = request.into_parts();
                    let body = body.read(1 << 20, BodyTimeout::default()).await.unwrap().to_vec();
                    let target = parts.uri.to_string();
                    let is_endless = parts.method == Method::POST && running.load(Ordering::Acquire);
                    recording.lock().push(Received {
                        method: parts.method,
                        target,
                        headers: parts.headers,
                        body,
                    });
                    if is_endless {
                        std::future::pending::<()>().await;
                    }
                    let mut response = Response::new(Body::from(r#"{"answered": true}"#));
                    *response.status_mut() = *answering.lock();
                    response.headers_mut().insert("retry-after", 7.into());
                    response
                }
            };
            server.run(handler, std::future::pending()).await.unwrap();
        });
        if announces {
            store.announce_replica(ReplicaAddress { url, secret: SECRET.to_owned() });
        }
        store.join_replicas(ReplicaRole::Worker).unwrap();
        Self { store, received, status, is_busy, task, _dir: dir }
    }

    /// Creates the row of a session, and returns its path.
    fn create_session(&self, team: &str, scrape: Option<Uuid>) -> String {
        let id = Uuid::now_v7();
        let session = NewBrowserSession {
            id: id.to_string(),
            team: team.to_owned(),
            key: None,
            scrape: scrape.map(|scrape| scrape.to_string()),
            stream_web_view: true,
            ttl: Duration::from_secs(600),
        };
        self.store.create_browser_session(&session, 10, 1).unwrap();
        format!("/v2/browser/{id}")
    }

    fn take_received(&self) -> Vec<Received> {
        std::mem::take(&mut self.received.lock())
    }
}

async fn execute(replica: &Replica, key: &str, path: &str, headers: &[(&str, &str)]) -> FetchResponse {
    let bearer = format!("Bearer {key}");
    let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
    all.extend(headers);
    replica.send(Method::POST, &format!("{path}/execute"), &all, Some(json!({ "code": "1" }))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn request_is_passed_on_with_its_client_and_without_forged_headers() {
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    let edge = &replicas.first;
    let key = replicas.create_key("tea", false);
    let path = owner.create_session("tea", None);
    let forged = [
        ("x-websvc-forwarded-client", "198.51.100.1"),
        ("x-websvc-forwarded-base-url", "http://forged.test"),
        ("x-websvc-forwarded-id", "forged"),
        ("x-websvc-forwarded-question", "1"),
        ("cookie", "a=b"),
        ("x-forwarded-for", "198.51.100.1"),
        ("x-request-id", "the-client-s"),
    ];
    let alias = path.replace("/v2/browser", "//v2/interact");
    for asked in [&path, &alias] {
        let answer = execute(edge, &key, asked, &forged).await;
        assert_eq!((answer.status, json_of(&answer)), (StatusCode::OK, json!({ "answered": true })));
        assert_eq!(
            (&answer.headers["retry-after"], &answer.headers["x-request-id"]),
            (&"7".parse().unwrap(), &"the-client-s".parse().unwrap())
        );
        let received = owner.take_received();
        let [Received { method, target, headers, body }] = received.as_slice() else {
            panic!("{received:?}")
        };
        assert_eq!((method, target), (&Method::POST, &format!("{path}/execute")));
        assert_eq!(body, json!({ "code": "1" }).to_string().as_bytes());
        let value = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(value("authorization"), Some(format!("Bearer {key}")));
        assert_eq!(value("x-websvc-replica-secret").as_deref(), Some(SECRET));
        assert_eq!(value("x-websvc-forwarded-client").as_deref(), Some("127.0.0.1"));
        assert_eq!(value("x-websvc-forwarded-base-url").as_deref(), Some(edge.url.as_str()));
        assert!(value("x-websvc-forwarded-id").is_some_and(|id| id.parse::<Uuid>().is_ok()), "{headers:?}");
        assert_eq!(value("x-request-id").as_deref(), Some("the-client-s"));
        for name in ["x-websvc-forwarded-question", "cookie", "x-forwarded-for"] {
            assert_eq!(value(name), None, "{name}");
        }
    }
    // For another team the session does not exist, and no request is passed on.
    let other_key = replicas.create_key("coffee", false);
    assert_eq!(execute(edge, &other_key, &path, &[]).await.status, StatusCode::NOT_FOUND);
    assert!(owner.take_received().is_empty());
    owner.task.abort();
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_of_a_session_is_passed_on() {
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    let key = replicas.create_key("tea", false);
    let bearer = format!("Bearer {key}");
    let scrape = Uuid::now_v7();
    let path = owner.create_session("tea", Some(scrape));
    let interact = format!("/v2/scrape/{scrape}/interact");
    for (method, target, has_key) in [
        (Method::DELETE, path.clone(), true),
        (Method::POST, interact.clone(), true),
        (Method::DELETE, interact, true),
        (Method::GET, format!("{path}/cdp?token=t%201"), false),
        (Method::GET, format!("{path}/live?token=t&interactive=true"), false),
    ] {
        let authorization = [("authorization", bearer.as_str())];
        let headers: &[(&str, &str)] = if has_key { &authorization } else { &[] };
        let body = (method == Method::POST).then(|| json!({ "code": "1" }));
        let answer = replicas.second.send(method.clone(), &target, headers, body).await;
        assert_eq!(json_of(&answer), json!({ "answered": true }), "{method} {target}");
        let received = owner.take_received();
        assert_eq!(received.len(), 1, "{received:?}");
        assert_eq!((&received[0].method, &received[0].target), (&method, &target));
    }
    let list = replicas.second.send(Method::GET, "/v2/browser", &[("authorization", &bearer)], None).await;
    assert_eq!(json_of(&list)["sessions"][0]["cdpUrl"], "", "the owner's answer is not a list");
    assert_eq!(owner.take_received()[0].target, "/v2/browser?status=active");
    owner.task.abort();
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_that_does_not_answer_is_a_503_and_one_without_an_address_a_409() {
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    let key = replicas.create_key("tea", false);
    let path = owner.create_session("tea", None);
    let unavailable = async || {
        let answer = execute(&replicas.first, &key, &path, &[]).await;
        let body = json_of(&answer);
        assert_eq!((answer.status.as_u16(), &body["code"]), (503, &json!("BROWSER_UNAVAILABLE")), "{body}");
        assert_eq!(answer.headers["retry-after"], "2");
    };
    // Another process has the address by now.
    *owner.status.lock() = StatusCode::MISDIRECTED_REQUEST;
    unavailable().await;
    owner.task.abort();
    assert!(owner.task.await.is_err());
    unavailable().await;
    let metrics = get(&replicas.first, &key, "/metrics").await;
    let text = String::from_utf8_lossy(&metrics.body);
    assert!(text.contains("websvc_forwarded_requests_total{outcome=\"failed\"} 2\n"), "{text}");
    let silent = Owner::start(&replicas, false).await;
    let path = silent.create_session("tea", None);
    let bearer = format!("Bearer {key}");
    let answer = replicas.first.send(Method::DELETE, &path, &[("authorization", &bearer)], None).await;
    let body = json_of(&answer);
    assert_eq!((answer.status.as_u16(), &body["code"]), (409, &json!("SESSION_ON_OTHER_REPLICA")), "{body}");
    assert!(body["error"].as_str().unwrap().contains("replica.address"), "{body}");
    silent.task.abort();
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_runs_for_long_does_not_keep_other_requests_from_its_replica() {
    const RUNNING: usize = 100;
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    let key = replicas.create_key("tea", false);
    let path = owner.create_session("tea", None);
    owner.is_busy.store(true, Ordering::Release);
    let bearer = format!("Bearer {key}");
    let mut running = JoinSet::new();
    for _ in 0..RUNNING {
        let (client, bearer, path) = (replicas.first.client(), bearer.clone(), format!("{path}/execute"));
        running.spawn(async move {
            let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
            client.send(Method::POST, &path, &headers, Some(json!({ "code": "1" }))).await
        });
    }
    until("all code runs", || owner.received.lock().len() == RUNNING).await;
    let headers = [("authorization", bearer.as_str())];
    let answer = replicas.first.send(Method::DELETE, &path, &headers, None).await;
    assert_eq!(json_of(&answer), json!({ "answered": true }));
    running.shutdown().await;
    owner.task.abort();
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_replicas_count_only_with_the_secret_and_give_no_access() {
    let Some(replicas) = Replicas::start().await else { return };
    let Replicas { database, first, second, .. } = &replicas;
    first.store.join_replicas(ReplicaRole::Worker).unwrap();
    let secret = database.text("SELECT secret FROM replicas WHERE url IS NOT NULL").await;
    assert_eq!(secret.len(), 64);
    let limited = TeamChange { requests_per_minute: Some(Some(1)), ..TeamChange::default() };
    first.store.set_team("tea", &limited).unwrap();
    let key = replicas.create_key("tea", false);
    let bearer = format!("Bearer {key}");
    let send = async |replica: &Replica, method: Method, path: &str, secret: &str, key: Option<&str>| {
        let mut headers = vec![
            ("x-websvc-replica-secret", secret),
            ("x-websvc-forwarded-id", "7"),
            ("x-websvc-forwarded-client", "203.0.113.9"),
        ];
        headers.extend(key.map(|key| ("authorization", key)));
        replica.send(method, path, &headers, None).await.status.as_u16()
    };
    let path = format!("/v2/browser/{}", Uuid::now_v7());
    for forged in ["", "forged", &secret[1..], &secret.to_uppercase()] {
        assert_eq!(send(first, Method::DELETE, &path, forged, Some(&bearer)).await, 421);
    }
    // It is that of one process only.
    assert_eq!(send(second, Method::DELETE, &path, &secret, Some(&bearer)).await, 421);
    // The key is checked, and other operations are refused.
    assert_eq!(send(first, Method::DELETE, &path, &secret, None).await, 401);
    for (method, path) in
        [(Method::POST, "/v2/browser"), (Method::GET, "/v2/team/credit-usage"), (Method::GET, "/metrics")]
    {
        assert_eq!(send(first, method, path, &secret, Some(&bearer)).await, 421, "{path}");
    }
    // The rate limit counts where the client arrives.
    for _ in 0..3 {
        assert_eq!(send(first, Method::DELETE, &path, &secret, Some(&bearer)).await, 404);
    }
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let headers = [("authorization", bearer.as_str())];
        statuses.push(first.send(Method::DELETE, &path, &headers, None).await.status.as_u16());
    }
    assert_eq!(statuses, [404, 429]);
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn forwarded_request_is_not_passed_on_again() {
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    replicas.first.store.join_replicas(ReplicaRole::Worker).unwrap();
    let sql = format!("SELECT secret FROM replicas WHERE secret <> '{SECRET}'");
    let secret = replicas.database.text(&sql).await;
    let key = replicas.create_key("tea", false);
    let path = owner.create_session("tea", None);
    let headers = [
        ("x-websvc-replica-secret", secret.as_str()),
        ("x-websvc-forwarded-id", "7"),
        ("x-websvc-forwarded-client", "203.0.113.9"),
    ];
    let unknown = format!("/v2/scrape/{}/interact", Uuid::now_v7());
    let bearer = format!("Bearer {key}");
    let mut all = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
    all.extend(headers);
    let answer = replicas.first.send(Method::DELETE, &path, &all, None).await;
    assert_eq!(answer.status, StatusCode::CONFLICT, "{:?}", answer.body);
    let answer = replicas.first.send(Method::POST, &unknown, &all, Some(json!({ "code": "1" }))).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND, "{:?}", answer.body);
    let list = replicas.first.send(Method::GET, "/v2/browser", &all, None).await;
    assert_eq!(json_of(&list)["sessions"].as_array().map(Vec::len), Some(1));
    assert!(owner.take_received().is_empty());
    owner.task.abort();
    replicas.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scrape_is_asked_for_on_the_other_replicas_before_the_request_is_passed_on() {
    let Some(replicas) = Replicas::start().await else { return };
    let owner = Owner::start(&replicas, true).await;
    let key = replicas.create_key("tea", false);
    let bearer = format!("Bearer {key}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let interact = async |scrape: Uuid| {
        let path = format!("/v2/scrape/{scrape}/interact");
        replicas.first.send(Method::POST, &path, &headers, Some(json!({ "code": "1" }))).await
    };
    // The owner has the scrape.
    *owner.status.lock() = StatusCode::NO_CONTENT;
    assert_eq!(interact(Uuid::now_v7()).await.status, StatusCode::NO_CONTENT);
    let received = owner.take_received();
    let kinds: Vec<(bool, usize)> = received
        .iter()
        .map(|request| (request.headers.contains_key("x-websvc-forwarded-question"), request.body.len()))
        .collect();
    assert_eq!(kinds, [(true, 0), (false, json!({ "code": "1" }).to_string().len())]);
    // It has not.
    *owner.status.lock() = StatusCode::NOT_FOUND;
    let unknown: Value = json_of(&interact(Uuid::now_v7()).await);
    assert_eq!(unknown["error"], "Job not found.");
    // No replica is asked for a scrape that none can have any more.
    owner.take_received();
    assert_eq!(interact(Uuid::from_u128(1)).await.status, StatusCode::NOT_FOUND);
    assert!(owner.take_received().is_empty());
    // Whether it has the scrape is not known.
    *owner.status.lock() = StatusCode::INTERNAL_SERVER_ERROR;
    let unknown = interact(Uuid::now_v7()).await;
    assert_eq!((unknown.status.as_u16(), unknown.headers["retry-after"].as_bytes()), (503, b"2".as_slice()));
    owner.task.abort();
    replicas.shut_down().await;
}
