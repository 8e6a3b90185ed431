//! Tests of the delivery of events to all sinks, also after crashes and outages.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc::types::team::{SiemTest, SiemTestReceiver, SiemTestRequest};
use websvc_testkit::{FakeSyslog, Page, ReceivedRequest, TestWeb, until};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use super::{AuditTest, SECRET, id_of, request_id};
use crate::harness::{KEY, Service, assert_fields, tea_world};

/// Starts a webhook receiver that accepts batches while the flag is true.
async fn hook() -> (TestWeb, Arc<AtomicBool>) {
    let is_up = Arc::new(AtomicBool::new(true));
    let accepts = Arc::clone(&is_up);
    let response = move |_: &ReceivedRequest| {
        Page::text("").status(if accepts.load(Ordering::SeqCst) { 204 } else { 503 })
    };
    (TestWeb::builder().page_with("http://127.0.0.1/hook", response).start().await, is_up)
}

/// Returns an installation with a webhook sink.
fn with_hook(world: &TestWeb, hook: &TestWeb) -> AuditTest {
    let url = format!("http://127.0.0.1:{}/hook", hook.http_addr().port());
    AuditTest::new(world).with("WEBSVC__AUDIT__WEBHOOK", url).with("WEBSVC__AUDIT__WEBHOOK_SECRET", SECRET)
}

/// Returns the IDs of the requests whose events the webhook received, without repetitions.
fn received_ids(world: &TestWeb) -> Vec<String> {
    let mut seen = HashSet::new();
    let batches = world.requests();
    let bodies = batches.iter().map(|batch| serde_json::from_slice::<Value>(&batch.body).unwrap());
    let events = bodies.flat_map(|body| body["events"].as_array().unwrap().clone());
    events.map(|event| id_of(&event)).filter(|id| seen.insert(id.clone())).collect()
}

/// The IDs of requests with a complete response.
type AnsweredIds = Arc<Mutex<HashSet<String>>>;

/// Sends searches and records their request IDs until the service does not respond.
async fn search_until_killed(address: String, answered: AnsweredIds) {
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    loop {
        let body = json!({"query": "tea"}).to_string();
        let mut request = FetchRequest::post(format!("{address}/v2/search").parse().unwrap(), body);
        request.headers.insert("x-api-key", KEY.parse().unwrap());
        request.headers.insert("content-type", "application/json".parse().unwrap());
        let Ok(response) = client.fetch(request).await else { return };
        assert_eq!(response.status, 200);
        answered.lock().unwrap().insert(response.headers["x-request-id"].to_str().unwrap().to_owned());
    }
}

async fn search(service: &Service, times: usize) -> Vec<String> {
    let mut ids = Vec::with_capacity(times);
    for _ in 0..times {
        let response = service.search(json!({"query": "tea"})).await;
        assert_eq!(response.status, 200);
        ids.push(request_id(&response));
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sink_receives_every_event() {
    let world = tea_world().await;
    let (hook, _) = hook().await;
    let syslog = FakeSyslog::tcp(0).await;
    let audit = with_hook(&world, &hook)
        .with("WEBSVC__AUDIT__SYSLOG", format!("tcp://127.0.0.1:{}", syslog.port()))
        .with_file();
    let service = audit.serve();
    let expected = search(&service, 5).await;
    let messages = syslog.wait_for_messages(5).await;
    let events = audit.wait_for_events(5).await;
    until("the webhook has all events", || received_ids(&hook).len() == 5).await;
    let by_syslog: Vec<Value> = messages
        .iter()
        .map(|message| serde_json::from_str(&message[message.find('{').unwrap()..]).unwrap())
        .collect();
    assert_eq!((by_syslog, received_ids(&hook)), (events.clone(), expected.clone()));
    assert_eq!(events.iter().map(id_of).collect::<Vec<_>>(), expected);
    let batch = &hook.requests()[0];
    assert!(batch.header("webhook-signature").unwrap().starts_with("v1,"));
    let metrics = service.text("/metrics").await;
    for line in ["websvc_audit_events_total 5", r#"websvc_audit_sink_failing{sink="file"} 0"#] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let ready = service.get("/ready").await.body["audit"].clone();
    assert!(ready.as_array().unwrap().iter().all(|sink| sink["state"] == json!("ok")), "{ready}");
    assert!(service.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_loses_no_event_of_a_sent_response() {
    let world = tea_world().await;
    let (hook, is_up) = hook().await;
    is_up.store(false, Ordering::SeqCst);
    let audit = with_hook(&world, &hook).with_file();
    let answered = AnsweredIds::default();
    for round in 1..=3 {
        let service = audit.serve();
        let clients: Vec<_> = (0..4)
            .map(|_| tokio::spawn(search_until_killed(service.address.clone(), Arc::clone(&answered))))
            .collect();
        until("some searches have a response", || answered.lock().unwrap().len() >= round * 30).await;
        service.kill();
        for client in clients {
            client.await.unwrap();
        }
    }
    let answered = std::mem::take(&mut *answered.lock().unwrap());
    is_up.store(true, Ordering::SeqCst);
    hook.clear_requests();
    let service = audit.serve();
    // A request in flight at a kill may or may not have left an event.
    until("the webhook has all events", || answered.is_subset(&HashSet::from_iter(received_ids(&hook))))
        .await;
    assert!(service.stop().success());
    let in_file: HashSet<String> = audit.events().iter().map(id_of).collect();
    assert!(answered.is_subset(&in_file), "{:?}", answered.difference(&in_file).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn recovered_sink_receives_missed_events_in_order_without_delaying_others() {
    let world = tea_world().await;
    let (hook, is_up) = hook().await;
    let audit = with_hook(&world, &hook).with_file();
    let service = audit.serve();
    let mut expected = search(&service, 3).await;
    until("the webhook has the first events", || received_ids(&hook).len() == 3).await;
    is_up.store(false, Ordering::SeqCst);
    expected.extend(search(&service, 20).await);
    assert_eq!(audit.wait_for_events(23).await.iter().map(id_of).collect::<Vec<_>>(), expected);
    until("the webhook was retried", || hook.requests().len() >= 2 && received_ids(&hook).len() > 3).await;
    let failing = failing_hook(&service).await;
    assert_fields(&failing, &json!({ "state": "failing", "lost": 0, "reason": "responded with status 503" }));
    is_up.store(true, Ordering::SeqCst);
    until("the webhook has all events", || received_ids(&hook).len() == 23).await;
    assert_eq!(received_ids(&hook), expected);
    assert!(service.stop().success(), "the shutdown waits for the sink");
}

/// Waits until `/ready` reports a failing webhook, and returns its entry.
async fn failing_hook(service: &Service) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline, "/ready does not report the failing webhook");
        let ready = service.get("/ready").await.body;
        let sinks = ready["audit"].as_array().unwrap();
        let hook = sinks.iter().find(|sink| sink["name"] == json!("webhook")).unwrap();
        if hook["state"] != json!("ok") {
            return hook.clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_spool_reports_lost_events() {
    let world = TestWeb::builder().start().await;
    let audit = AuditTest::new(&world)
        .with("WEBSVC__AUDIT__SYSLOG", "tcp://127.0.0.1:1")
        .with("WEBSVC__AUDIT__MAX_BYTES", "65536")
        .with_file();
    let service = audit.serve();
    let mut events = Vec::new();
    for part in 1..=12 {
        for _ in 0..50 {
            assert_eq!(service.get("/v2/concurrency-check").await.status, 200);
        }
        // A dropped part of the spool would also be lost for the file sink, unless the file has it already.
        events = audit.wait_for_events(part * 50).await;
    }
    assert_eq!(
        events.iter().map(id_of).collect::<HashSet<_>>().len(),
        600,
        "the file does not have all events"
    );
    let ready = service.get("/ready").await;
    let syslog = &ready.body["audit"][1];
    let (lost, backlog) = (syslog["lost"].as_u64().unwrap(), syslog["backlog"].as_u64().unwrap());
    assert!(lost > 0 && lost + backlog == 600, "{syslog}");
    assert_eq!((ready.status.as_u16(), &ready.body["status"]), (200, &json!("ready")));
    let metrics = service.text("/metrics").await;
    let line = format!(r#"websvc_audit_events_lost_total{{sink="syslog",reason="spool"}} {lost}"#);
    assert!(metrics.contains(&line), "{line}: {metrics}");
    let line = r#"websvc_audit_events_lost_total{sink="file",reason="spool"} 0"#;
    assert!(metrics.contains(line), "{line}: {metrics}");
    let listen = service.address.strip_prefix("http://").unwrap();
    let doctor = audit.command(&["doctor"]).env("WEBSVC__SERVER__LISTEN", listen).output().unwrap();
    let findings = String::from_utf8(doctor.stdout).unwrap();
    assert!(findings.contains(&format!("syslog: {backlog} queued, {lost} lost")), "{findings}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_checks_every_audit_sink() {
    let world = TestWeb::builder().start().await;
    let examine = |audit: &AuditTest| {
        let mut doctor = audit.command(&["doctor", "--json"]);
        let output = doctor.env("WEBSVC__SERVER__LISTEN", "127.0.0.1:0").output().unwrap();
        let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = findings["checks"].as_array().unwrap().clone();
        let audit =
            checks.into_iter().filter(|findings| findings["check"].as_str().unwrap().starts_with("audit"));
        audit.map(|findings| (findings["state"].clone(), findings["message"].clone())).collect::<Vec<_>>()
    };
    let problem = |message: &str| (json!("problem"), json!(message));
    let none = examine(&AuditTest::new(&world));
    assert_eq!(none, [problem("no sink is configured, but audit events are on for 1 team")]);
    let (hook, is_up) = hook().await;
    let reachable = with_hook(&world, &hook).with_file();
    let delivered = (json!("ok"), json!("events can be delivered"));
    assert_eq!(examine(&reachable), [delivered.clone(), delivered]);
    is_up.store(false, Ordering::SeqCst);
    let failing = with_hook(&world, &hook)
        .with("WEBSVC__AUDIT__SYSLOG", "tcp://127.0.0.1:1")
        .with("WEBSVC__AUDIT__FILE", "/dev/null/audit.jsonl");
    let findings = examine(&failing);
    assert!(findings[0].1.as_str().unwrap().starts_with("the file cannot be written: "), "{findings:?}");
    assert_eq!(findings[1..], [problem("could not connect"), problem("responded with status 503")]);
    for (key, value, expected) in [
        ("WEBSVC__AUDIT__SYSLOG", "siem.example:514", "audit.syslog: "),
        ("WEBSVC__AUDIT__WEBHOOK", "http://siem.example/", "audit.webhook: "),
        ("WEBSVC__AUDIT__WEBHOOK_SECRET", "short", "audit.webhook_secret: "),
        ("WEBSVC__AUDIT__MAX_BYTES", "1", "audit.max_bytes is 1"),
    ] {
        let findings = examine(&with_hook(&world, &hook).with(key, value));
        assert!(findings[0].1.as_str().unwrap().starts_with(expected), "{key}: {findings:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn test_event_says_which_sinks_have_received_it() {
    let world = tea_world().await;
    let (hook, is_up) = hook().await;
    let audit = with_hook(&world, &hook).with_file();
    audit.site.succeed(&["teams", "set", "default", "--audit", "off"]);
    let key = audit.site.create_key(&["--admin", "--team", "default"]);
    let service = audit.serve();
    let client = websvc::Client::new(service.address.parse().unwrap(), key).unwrap();
    let test = async |message: &str| {
        let request = SiemTestRequest { message: Some(message.to_owned()) };
        client.test_siem(&request).await.unwrap().data
    };
    let SiemTest { event_id, receivers } = test("setup").await;
    let received = |name: &str| SiemTestReceiver { name: name.to_owned(), received: true, error: None };
    assert_eq!(receivers, [received("file"), received("webhook")]);
    let event = &audit.events()[0];
    assert_eq!(
        (&event["id"], &event["operation"], &event["target"], &event["team"]),
        (&json!(event_id), &json!("siem-test"), &json!("setup"), &json!("default"))
    );
    is_up.store(false, Ordering::SeqCst);
    let SiemTest { event_id: _, receivers } = test("outage").await;
    assert_eq!(receivers[0], received("file"));
    assert_eq!((receivers[1].received, receivers[1].error.is_some()), (false, true), "{receivers:?}");
    let too_long = SiemTestRequest { message: Some("m".repeat(257)) };
    let error = client.test_siem(&too_long).await.unwrap_err().to_string();
    assert!(error.contains("message must have at most 256 characters, not 257"), "{error}");
}
