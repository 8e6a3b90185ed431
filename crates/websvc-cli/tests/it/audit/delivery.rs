//! How events arrive: everywhere, and through crashes and interruptions.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use websvc_testkit::{FakeSyslog, Page, ReceivedRequest, TestWeb, until};
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use super::{SECRET, Watched, id_of, request_id};
use crate::harness::{KEY, Service, tea_world};

/// A hook that takes batches while the switch is on.
async fn hook() -> (TestWeb, Arc<AtomicBool>) {
    let is_up = Arc::new(AtomicBool::new(true));
    let taking = Arc::clone(&is_up);
    let answer = move |_: &ReceivedRequest| {
        Page::text("").status(if taking.load(Ordering::SeqCst) { 204 } else { 503 })
    };
    (TestWeb::builder().page_with("http://127.0.0.1/hook", answer).start().await, is_up)
}

fn watched(world: &TestWeb, hook: &TestWeb) -> Watched {
    let url = format!("http://127.0.0.1:{}/hook", hook.http_addr().port());
    Watched::new(world).with("WEBSVC__AUDIT__WEBHOOK", url).with("WEBSVC__AUDIT__WEBHOOK_SECRET", SECRET)
}

/// Returns the ids of the requests whose events a hook was sent, without those that came again.
fn hooked(world: &TestWeb) -> Vec<String> {
    let mut seen = HashSet::new();
    let batches = world.requests();
    let bodies = batches.iter().map(|batch| serde_json::from_slice::<Value>(&batch.body).unwrap());
    let events = bodies.flat_map(|body| body["events"].as_array().unwrap().clone());
    events.map(|event| id_of(&event)).filter(|id| seen.insert(id.clone())).collect()
}

type Answered = Arc<Mutex<HashSet<String>>>;

/// Asks again and again, and notes what was answered, until nobody answers any more.
async fn ask_while_it_lives(address: String, answered: Answered) {
    let client = Client::new(ClientConfig::new(AddressGuard::open())).unwrap();
    loop {
        let body = json!({"query": "tea"}).to_string();
        let mut request = FetchRequest::post(format!("{address}/v2/search").parse().unwrap(), body);
        request.headers.insert("x-api-key", KEY.parse().unwrap());
        request.headers.insert("content-type", "application/json".parse().unwrap());
        let Ok(answer) = client.fetch(request).await else { return };
        assert_eq!(answer.status, 200);
        answered.lock().unwrap().insert(answer.headers["x-request-id"].to_str().unwrap().to_owned());
    }
}

async fn ask(service: &Service, times: usize) -> Vec<String> {
    let mut ids = Vec::with_capacity(times);
    for _ in 0..times {
        let answer = service.search(json!({"query": "tea"})).await;
        assert_eq!(answer.status, 200);
        ids.push(request_id(&answer));
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sink_gets_every_event() {
    let world = tea_world().await;
    let (hook, _) = hook().await;
    let syslog = FakeSyslog::tcp(0).await;
    let watched = watched(&world, &hook)
        .with("WEBSVC__AUDIT__SYSLOG", format!("tcp://127.0.0.1:{}", syslog.port()))
        .with_file();
    let service = watched.serve();
    let asked = ask(&service, 5).await;
    let messages = syslog.received(5).await;
    let told = watched.until_told(5).await;
    until("the hook has all", || hooked(&hook).len() == 5).await;
    let by_syslog: Vec<Value> = messages
        .iter()
        .map(|message| serde_json::from_str(&message[message.find('{').unwrap()..]).unwrap())
        .collect();
    assert_eq!((by_syslog, hooked(&hook)), (told.clone(), asked.clone()));
    assert_eq!(told.iter().map(id_of).collect::<Vec<_>>(), asked);
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
async fn a_killed_process_loses_no_event_of_what_was_answered() {
    let world = tea_world().await;
    let (hook, is_up) = hook().await;
    is_up.store(false, Ordering::SeqCst);
    let watched = watched(&world, &hook).with_file();
    let answered = Answered::default();
    for round in 1..=3 {
        let service = watched.serve();
        let asking: Vec<_> = (0..4)
            .map(|_| tokio::spawn(ask_while_it_lives(service.address.clone(), Arc::clone(&answered))))
            .collect();
        until("some are answered", || answered.lock().unwrap().len() >= round * 30).await;
        service.kill();
        for asked in asking {
            asked.await.unwrap();
        }
    }
    let answered = std::mem::take(&mut *answered.lock().unwrap());
    is_up.store(true, Ordering::SeqCst);
    hook.forget();
    let service = watched.serve();
    // What was under way at a kill may have left an event, too, or none.
    until("the hook has all", || answered.is_subset(&HashSet::from_iter(hooked(&hook)))).await;
    assert!(service.stop().success());
    let in_file: HashSet<String> = watched.told().iter().map(id_of).collect();
    assert!(answered.is_subset(&in_file), "{:?}", answered.difference(&in_file).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_comes_back_gets_what_it_missed_in_order_and_the_others_did_not_wait() {
    let world = tea_world().await;
    let (hook, is_up) = hook().await;
    let watched = watched(&world, &hook).with_file();
    let service = watched.serve();
    let mut asked = ask(&service, 3).await;
    until("the hook has the first", || hooked(&hook).len() == 3).await;
    is_up.store(false, Ordering::SeqCst);
    asked.extend(ask(&service, 20).await);
    assert_eq!(watched.until_told(23).await.iter().map(id_of).collect::<Vec<_>>(), asked);
    until("the hook was tried", || hook.requests().len() >= 2 && hooked(&hook).len() > 3).await;
    let failing = failing_hook(&service).await;
    assert_eq!((&failing["state"], &failing["lost"]), (&json!("failing"), &json!(0)));
    assert_eq!(failing["reason"], json!("responded with status 503"));
    is_up.store(true, Ordering::SeqCst);
    until("the hook has all", || hooked(&hook).len() == 23).await;
    assert_eq!(hooked(&hook), asked);
    assert!(service.stop().success(), "nothing is left to wait for");
}

/// Returns what `/ready` says of the webhook when it knows that it fails.
async fn failing_hook(service: &Service) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline, "/ready does not say that the hook fails");
        let ready = service.get("/ready").await.body;
        let sinks = ready["audit"].as_array().unwrap();
        let hook = sinks.iter().find(|sink| sink["name"] == json!("webhook")).unwrap();
        if hook["state"] != json!("ok") {
            return hook.clone();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_spool_says_what_was_lost() {
    let world = TestWeb::builder().start().await;
    let watched = Watched::new(&world)
        .with("WEBSVC__AUDIT__SYSLOG", "tcp://127.0.0.1:1")
        .with("WEBSVC__AUDIT__MAX_BYTES", "65536")
        .with_file();
    let service = watched.serve();
    let mut told = Vec::new();
    for part in 1..=12 {
        for _ in 0..50 {
            assert_eq!(service.get("/v2/concurrency-check").await.status, 200);
        }
        // What the spool drops is lost to the file, too, when that has not got it yet.
        told = watched.until_told(part * 50).await;
    }
    assert_eq!(told.iter().map(id_of).collect::<HashSet<_>>().len(), 600, "the file has them all");
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
    let doctor = watched.command(&["doctor"]).env("WEBSVC__SERVER__LISTEN", listen).output().unwrap();
    let found = String::from_utf8(doctor.stdout).unwrap();
    assert!(found.contains(&format!("syslog: {backlog} wait, {lost} are lost")), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_looks_at_every_sink() {
    let world = TestWeb::builder().start().await;
    let examine = |watched: &Watched| {
        let mut doctor = watched.command(&["doctor", "--json"]);
        let output = doctor.env("WEBSVC__SERVER__LISTEN", "127.0.0.1:0").output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = found["checks"].as_array().unwrap().clone();
        let audit = checks.into_iter().filter(|found| found["check"].as_str().unwrap().starts_with("audit"));
        audit.map(|found| (found["state"].clone(), found["message"].clone())).collect::<Vec<_>>()
    };
    let problem = |message: &str| (json!("problem"), json!(message));
    let none = examine(&Watched::new(&world));
    assert_eq!(none, [problem("there is no place for those of the teams that want them (1)")]);
    let (hook, is_up) = hook().await;
    let good = watched(&world, &hook).with_file();
    let delivered = (json!("ok"), json!("they can be delivered"));
    assert_eq!(examine(&good), [delivered.clone(), delivered]);
    is_up.store(false, Ordering::SeqCst);
    let bad = watched(&world, &hook)
        .with("WEBSVC__AUDIT__SYSLOG", "tcp://127.0.0.1:1")
        .with("WEBSVC__AUDIT__FILE", "/dev/null/audit.jsonl");
    let found = examine(&bad);
    assert!(found[0].1.as_str().unwrap().starts_with("the file cannot be written: "), "{found:?}");
    assert_eq!(found[1..], [problem("it cannot be connected to"), problem("responded with status 503")]);
    for (key, value, expected) in [
        ("WEBSVC__AUDIT__SYSLOG", "siem.example:514", "audit.syslog: "),
        ("WEBSVC__AUDIT__WEBHOOK", "http://siem.example/", "audit.webhook: "),
        ("WEBSVC__AUDIT__WEBHOOK_SECRET", "short", "audit.webhook_secret: "),
        ("WEBSVC__AUDIT__MAX_BYTES", "1", "audit.max_bytes is 1"),
    ] {
        let found = examine(&watched(&world, &hook).with(key, value));
        assert!(found[0].1.as_str().unwrap().starts_with(expected), "{key}: {found:?}");
    }
}
