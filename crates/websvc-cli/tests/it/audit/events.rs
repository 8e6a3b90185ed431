//! Tests of the content of audit events.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::{FakeModel, Page, TestWeb};

use super::{AuditTest, id_of, request_id};
use crate::agent::{AGENT, MODEL, wait_for_end};
use crate::harness::{KEY, Service, assert_fields, tea_world};

const PAGE: &str = "http://tea.test/green.html";

/// Returns the operation, the status, the code and the credits of an event.
fn outcome(event: &Value) -> (&str, u64, &str, u64) {
    (
        event["operation"].as_str().unwrap(),
        event["status"].as_u64().unwrap_or_default(),
        event["code"].as_str().unwrap_or_default(),
        event["creditsUsed"].as_u64().unwrap(),
    )
}

/// Repeats a search until the service applies a change of the team and responds with `status`.
async fn search_until_status(service: &Service, status: u16) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while service.search(json!({"query": "listed"})).await.status != status {
        assert!(Instant::now() < deadline, "no response with status {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_that_continues_a_thread_has_the_urls_that_it_inherits() {
    let done = |_: &Value| FakeModel::json(&json!({ "why": "", "action": "done", "ref": "", "text": "" }));
    let world =
        TestWeb::builder().page(PAGE, Page::html("<main><p>Green tea costs 12 euros here.</p></main>"));
    let world = FakeModel::with_responder(done).serve(world, MODEL).start().await;
    let audit = AuditTest::new(&world).with_file();
    let audit = audit.with("WEBSVC__LLM__BASE_URL", MODEL).with("WEBSVC__LLM__MODEL", "tiny");
    let service = audit.serve();
    let page = json!({ "prompt": "x", "urls": ["http://ann:hunter2@tea.test/green.html"] });
    let first = service.post(AGENT, page.to_string()).await.body;
    wait_for_end(&service, &format!("{AGENT}/{}", first["id"].as_str().unwrap())).await;
    let next = json!({ "prompt": "y", "threadId": first["threadId"] });
    let second = service.post(AGENT, next.to_string()).await;
    assert_eq!(second.status, 200, "{}", second.body);
    let starts = || -> Vec<Value> {
        audit.events().into_iter().filter(|event| event["operation"] == "agent").collect()
    };
    websvc_testkit::until("both starts have an event", || starts().len() == 2).await;
    for event in starts() {
        assert_eq!((&event["status"], &event["urls"]), (&json!(200), &json!([PAGE])), "{event}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_team_has_an_event() {
    let world = tea_world().await;
    let audit = AuditTest::new(&world).with_file();
    let mut service = audit.serve();
    service.index_pages(&[("listed", PAGE)]).await;
    let last_setup_request = service.search(json!({"query": "end of the setup"})).await;
    let is_last_setup_request = |event: &Value| event["requestId"] == json!(request_id(&last_setup_request));
    websvc_testkit::until("the event of the last setup request is written", || {
        audit.events().iter().any(is_last_setup_request)
    })
    .await;
    let before = audit.events().len();

    let scrape = json!({"formats": ["markdown"], "auditMetadata": {"username": "alice"}});
    let found = service.search(json!({"query": "listed", "limit": 5, "scrapeOptions": scrape})).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert_eq!(service.search(json!({"query": ""})).await.status, 400);
    assert_eq!(service.get("/v2/team/credit-usage").await.status, 200);
    service.key = "fc-unknown".to_owned();
    assert_eq!(service.search(json!({"query": "listed"})).await.status, 401);
    service.key = KEY.to_owned();
    let zdr = service.search(json!({"query": "listed", "enterprise": ["zdr"]})).await;
    assert_eq!(zdr.status, 403, "{}", zdr.body);
    audit.site.succeed(&["teams", "set", "default", "--credits", "1"]);
    search_until_status(&service, 402).await;
    audit.site.succeed(&["teams", "set", "default", "--requests-per-minute", "1"]);
    search_until_status(&service, 429).await;
    drop(service);

    let events = audit.events().split_off(before);
    let credits = found.body["creditsUsed"].as_u64().unwrap();
    assert_eq!(credits, 3);
    let outcomes: Vec<_> = events.iter().map(outcome).collect();
    assert_eq!(
        outcomes[..4],
        [
            ("search", 200, "", credits),
            ("search", 400, "BAD_REQUEST", 0),
            ("credit-usage", 200, "", 0),
            ("search", 403, "FORBIDDEN", 0)
        ]
    );
    assert!(outcomes.contains(&("search", 402, "INSUFFICIENT_CREDITS", 0)), "{outcomes:?}");
    assert_eq!(outcomes.last(), Some(&("search", 429, "RATE_LIMITED", 0)));
    let first = &events[0];
    assert_eq!((id_of(first), &first["username"]), (request_id(&found), &json!("alice")));
    assert_eq!((&first["query"], &first["retention"]), (&json!("listed"), &json!("whole")));
    assert_eq!((&first["client"], &first["team"]), (&json!("127.0.0.1"), &json!("default")));
    assert!(first["keyId"].as_str().is_some_and(|id| !KEY.contains(id)), "{first}");
    assert!(first["durationMs"].is_u64() && first["time"].is_string() && first["id"].is_string());
    assert_eq!(events[1].get("query"), None, "the event contains an invalid query");
}

#[tokio::test(flavor = "multi_thread")]
async fn event_under_zero_retention_omits_the_request_content() {
    const MARKER: &str = "zq9auditmarker";
    let page = format!("http://tea.test/{MARKER}/page.html");
    let world = tea_world().await;
    let audit = AuditTest::new(&world).with_file();
    audit.site.succeed(&["teams", "set", "default", "--zdr", "allowed", "--anon", "allowed"]);
    let mut service = audit.serve();
    let scrape = |more: Value| {
        let mut options = json!({"formats": ["markdown"], "auditMetadata": {"username": "alice"}});
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"query": MARKER, "scrapeOptions": options})
    };
    let with = |enterprise: &str| {
        let mut body = scrape(json!({}));
        body["enterprise"] = json!([enterprise]);
        body
    };
    service.search(with("zdr")).await;
    service.search(with("anon")).await;
    service.search(scrape(json!({"lockdown": true}))).await;
    // A team with forced zero data retention, also through an MCP tool.
    audit.site.succeed(&["teams", "set", "silent", "--zdr", "forced", "--audit", "on"]);
    let silent = audit.site.succeed(&["keys", "create", "--team", "silent"]);
    service.key = silent.trim().to_owned();
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    service.send(Method::POST, "/mcp", &headers, call("scrape", json!({"url": page}))).await;
    service.search(json!({"query": MARKER, "limit": 0})).await;
    let events = audit.wait_for_events(6).await;
    let spool = audit.site.data_dir().join("audit");
    for file in std::fs::read_dir(&spool).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes()));
    }
    assert!(!json!(events).to_string().contains(MARKER), "{events:#?}");
    let users: Vec<_> = events.iter().map(|event| (&event["retention"], &event["username"])).collect();
    let (zero, anonymous, alice) = (json!("zero"), json!("anonymous"), json!("alice"));
    assert_eq!(users[..3], [(&zero, &alice), (&anonymous, &Value::Null), (&zero, &alice)]);
    for name in ["team", "keyId", "client", "requestId"] {
        assert_eq!(events[1].get(name), None, "{name}");
        assert!(events[0].get(name).is_some(), "{name}");
    }
    let operations: Vec<_> = events[3..].iter().map(|event| (&event["operation"], &event["team"])).collect();
    let silent = json!("silent");
    assert_eq!(
        operations,
        [(&json!("scrape"), &silent), (&json!("mcp"), &silent), (&json!("search"), &silent)]
    );
    assert!(events[3..].iter().all(|event| event["retention"] == zero), "{events:#?}");

    // Without zero data retention, events contain the marker. So the test would have found it above.
    service.key = KEY.to_owned();
    service.search(json!({"query": MARKER})).await;
    let arguments = json!({"url": page, "auditMetadata": {"username": "bob"}});
    service.send(Method::POST, "/mcp", &headers, call("scrape", arguments)).await;
    let events = audit.wait_for_events(9).await;
    assert_eq!(events[6]["query"], json!(MARKER));
    assert_fields(&events[7], &json!({ "urls": [page], "username": "bob", "client": "127.0.0.1" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn administrator_changes_have_events_with_their_target() {
    let world = TestWeb::builder().start().await;
    let audit = AuditTest::new(&world).with_file();
    let admin = audit.site.succeed(&["keys", "create", "--team", "default", "--admin"]);
    let mut service = audit.serve();
    service.key = admin.trim().to_owned();
    let created = service.post("/dashboard/keys", json!({"team": "red", "name": "n"}).to_string()).await;
    assert_eq!(created.status, 200, "{}", created.body);
    let id = created.body["id"].as_str().unwrap();
    service.send(Method::DELETE, &format!("/dashboard/keys/{id}"), &[], String::new()).await;
    let headers = [("content-type", "application/json")];
    let change = json!({"name": "red", "audit": "on"}).to_string();
    service.send(Method::PUT, "/dashboard/teams", &headers, change).await;
    assert_eq!(service.get("/dashboard/keys").await.status, 200, "reading is possible");
    let invitation = json!({"team": "red", "inviteForDays": 1}).to_string();
    let invited = service.post("/dashboard/keys", invitation).await.body;
    let invitation = json!({"invitation": invited["link"]}).to_string();
    let redeemed = service.post("/v2/keys/redeem", invitation).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.body);
    let key = audit.site.succeed(&["keys", "create", "--team", "red", "--allow-ip", "192.0.2.1"]);
    service.key = key.trim().to_owned();
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 403);
    let events = audit.wait_for_events(6).await;
    let actual: Vec<_> = events
        .iter()
        .map(|event| (outcome(event).0, outcome(event).1, event["target"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        actual,
        [
            ("create-key", 200, format!("key {id} of team red").as_str()),
            ("revoke-key", 200, &format!("key {id}")),
            ("set-team", 200, "team red"),
            ("create-key", 200, &format!("invitation {} of team red", invited["id"].as_str().unwrap())),
            (
                "redeem-invitation",
                200,
                &format!("key {} of team red", redeemed.body["data"]["id"].as_str().unwrap())
            ),
            ("search", 403, ""),
        ]
    );
    assert_eq!(events[4]["team"], json!("red"));
    assert_eq!(events[5]["team"], json!("red"), "the event of a rejected address names no team");
    let secret = created.body["secret"].as_str().unwrap();
    let secrets =
        [secret, invited["secret"].as_str().unwrap(), redeemed.body["data"]["key"].as_str().unwrap()];
    assert!(secrets.iter().all(|secret| !json!(events).to_string().contains(secret)));
}
