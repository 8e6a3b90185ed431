//! Tests of the content of audit events.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use websvc_testkit::TestWeb;

use super::{Watched, id_of, request_id};
use crate::harness::{KEY, Service, tea_world};

const PAGE: &str = "http://tea.test/green.html";

/// Returns operation, status, code and credits.
fn outcome(event: &Value) -> (&str, u64, &str, u64) {
    (
        event["operation"].as_str().unwrap(),
        event["status"].as_u64().unwrap_or_default(),
        event["code"].as_str().unwrap_or_default(),
        event["creditsUsed"].as_u64().unwrap(),
    )
}

/// Asks until a change of the team has come to the service.
async fn ask_until(service: &Service, status: u16) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while service.search(json!({"query": "listed"})).await.status != status {
        assert!(Instant::now() < deadline, "it is not answered with {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_team_is_told_answered_or_refused() {
    let world = tea_world().await;
    let watched = Watched::new(&world).with_file();
    let mut service = watched.serve();
    service.list(&[("listed", PAGE)]).await;
    let listing = service.search(json!({"query": "the end of the listing"})).await;
    let is_listing = |event: &Value| event["requestId"] == json!(request_id(&listing));
    websvc_testkit::until("its end is told", || watched.told().iter().any(is_listing)).await;
    let before = watched.told().len();

    let scrape = json!({"formats": ["markdown"], "auditMetadata": {"username": "alice"}});
    let found = service.search(json!({"query": "listed", "limit": 5, "scrapeOptions": scrape})).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert_eq!(service.search(json!({"query": ""})).await.status, 400);
    assert_eq!(service.get("/v2/team/credit-usage").await.status, 200);
    service.key = "fc-nobody".to_owned();
    assert_eq!(service.search(json!({"query": "listed"})).await.status, 401);
    service.key = KEY.to_owned();
    let zdr = service.search(json!({"query": "listed", "enterprise": ["zdr"]})).await;
    assert_eq!(zdr.status, 403, "{}", zdr.body);
    watched.site.succeed(&["teams", "set", "default", "--credits", "1"]);
    ask_until(&service, 402).await;
    watched.site.succeed(&["teams", "set", "default", "--requests-per-minute", "1"]);
    ask_until(&service, 429).await;
    drop(service);

    let told = watched.told().split_off(before);
    let credits = found.body["creditsUsed"].as_u64().unwrap();
    assert_eq!(credits, 3);
    let outcomes: Vec<_> = told.iter().map(outcome).collect();
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
    let first = &told[0];
    assert_eq!((id_of(first), &first["username"]), (request_id(&found), &json!("alice")));
    assert_eq!((&first["query"], &first["retention"]), (&json!("listed"), &json!("whole")));
    assert_eq!((&first["client"], &first["team"]), (&json!("127.0.0.1"), &json!("default")));
    assert!(first["keyId"].as_str().is_some_and(|id| !KEY.contains(id)), "{first}");
    assert!(first["durationMs"].is_u64() && first["time"].is_string() && first["id"].is_string());
    assert_eq!(told[1].get("query"), None, "a body that is not valid is not told");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_kept_is_told_without_what_was_asked() {
    const MARK: &str = "zq9auditmark";
    let page = format!("http://tea.test/{MARK}/page.html");
    let world = tea_world().await;
    let watched = Watched::new(&world).with_file();
    watched.site.succeed(&["teams", "set", "default", "--zdr", "allowed", "--anon", "allowed"]);
    let mut service = watched.serve();
    let scrape = |more: Value| {
        let mut options = json!({"formats": ["markdown"], "auditMetadata": {"username": "alice"}});
        options.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"query": MARK, "scrapeOptions": options})
    };
    let with = |enterprise: &str| {
        let mut body = scrape(json!({}));
        body["enterprise"] = json!([enterprise]);
        body
    };
    service.search(with("zdr")).await;
    service.search(with("anon")).await;
    service.search(scrape(json!({"lockdown": true}))).await;
    // A team of which nothing is ever kept, in a tool of MCP, too.
    watched.site.succeed(&["teams", "set", "silent", "--zdr", "forced", "--audit", "on"]);
    let silent = watched.site.succeed(&["keys", "create", "--team", "silent"]);
    service.key = silent.trim().to_owned();
    let call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
    };
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    service.send(Method::POST, "/mcp", &headers, call("scrape", json!({"url": page}))).await;
    service.search(json!({"query": MARK, "limit": 0})).await;
    let told = watched.until_told(6).await;
    let spool = watched.site.data_dir().join("audit");
    for file in std::fs::read_dir(&spool).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes()));
    }
    assert!(!json!(told).to_string().contains(MARK), "{told:#?}");
    let who: Vec<_> = told.iter().map(|event| (&event["retention"], &event["username"])).collect();
    let (zero, anonymous, alice) = (json!("zero"), json!("anonymous"), json!("alice"));
    assert_eq!(who[..3], [(&zero, &alice), (&anonymous, &Value::Null), (&zero, &alice)]);
    for name in ["team", "keyId", "client", "requestId"] {
        assert_eq!(told[1].get(name), None, "{name}");
        assert!(told[0].get(name).is_some(), "{name}");
    }
    let operations: Vec<_> = told[3..].iter().map(|event| (&event["operation"], &event["team"])).collect();
    let silent = json!("silent");
    assert_eq!(
        operations,
        [(&json!("scrape"), &silent), (&json!("mcp"), &silent), (&json!("search"), &silent)]
    );
    assert!(told[3..].iter().all(|event| event["retention"] == zero), "{told:#?}");

    // Told where it may be: the marks would have been found.
    service.key = KEY.to_owned();
    service.search(json!({"query": MARK})).await;
    let arguments = json!({"url": page, "auditMetadata": {"username": "bob"}});
    service.send(Method::POST, "/mcp", &headers, call("scrape", arguments)).await;
    let told = watched.until_told(9).await;
    assert_eq!(told[6]["query"], json!(MARK));
    assert_eq!((&told[7]["urls"], &told[7]["username"]), (&json!([page]), &json!("bob")));
    assert_eq!(told[7]["client"], json!("127.0.0.1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_administrators_change_is_told_with_what_it_was_done_to() {
    let world = TestWeb::builder().start().await;
    let watched = Watched::new(&world).with_file();
    let admin = watched.site.succeed(&["keys", "create", "--team", "default", "--admin"]);
    let mut service = watched.serve();
    service.key = admin.trim().to_owned();
    let made = service.post("/dashboard/keys", json!({"team": "red", "name": "n"}).to_string()).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let id = made.body["id"].as_str().unwrap();
    service.send(Method::DELETE, &format!("/dashboard/keys/{id}"), &[], String::new()).await;
    let headers = [("content-type", "application/json")];
    let change = json!({"name": "red", "audit": "on"}).to_string();
    service.send(Method::PUT, "/dashboard/teams", &headers, change).await;
    assert_eq!(service.get("/dashboard/keys").await.status, 200, "looking is not told");
    let plain = watched.site.succeed(&["keys", "create", "--team", "red", "--allow-ip", "192.0.2.1"]);
    service.key = plain.trim().to_owned();
    assert_eq!(service.search(json!({"query": "tea"})).await.status, 403);
    let told = watched.until_told(4).await;
    let seen: Vec<_> = told
        .iter()
        .map(|event| (outcome(event).0, outcome(event).1, event["target"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        seen,
        [
            ("create-key", 200, format!("key {id} of team red").as_str()),
            ("revoke-key", 200, &format!("key {id}")),
            ("set-team", 200, "team red"),
            ("search", 403, ""),
        ]
    );
    assert_eq!(told[3]["team"], json!("red"), "a key from a wrong place is its team's all the same");
    let secret = made.body["secret"].as_str().unwrap();
    assert!(!json!(told).to_string().contains(secret));
}
