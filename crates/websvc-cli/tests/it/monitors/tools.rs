//! Tests of the MCP tools for monitors: a language model watches a page.

use super::*;

const HEADERS: [(&str, &str); 3] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2025-06-18"),
];

/// Sends a message to the MCP server, and returns its result.
pub(crate) async fn send(service: &Service, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = service.send(Method::POST, "/mcp", &HEADERS, message.to_string()).await;
    assert_eq!(response.status, StatusCode::OK, "{}", response.body);
    response.body["result"].clone()
}

/// Calls a tool that must succeed, and returns the JSON between the marks.
pub(crate) async fn call(service: &Service, name: &str, arguments: Value) -> Value {
    let result = send(service, "tools/call", json!({ "name": name, "arguments": arguments })).await;
    assert_ne!(result["isError"], true, "{result}");
    let marked = result["content"][1]["text"].as_str().unwrap();
    let (first, rest) = marked.split_once('\n').unwrap();
    let (json, last) = rest.rsplit_once('\n').unwrap();
    assert_eq!(first.replace('<', "</"), last, "the content stands between marks");
    serde_json::from_str(json).unwrap()
}

/// Calls a tool that must fail, and returns the text for the model.
pub(crate) async fn fail(service: &Service, name: &str, arguments: Value) -> String {
    let result = send(service, "tools/call", json!({ "name": name, "arguments": arguments })).await;
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Runs a check, and returns it with its pages once it has ended.
async fn run(service: &Service, id: &Value) -> Value {
    let check = call(service, "monitor_run", json!({ "id": id })).await["id"].clone();
    let polling = async {
        loop {
            let found = call(service, "monitor_check", json!({ "id": id, "checkId": check })).await;
            if !["queued", "running"].contains(&found["data"]["status"].as_str().unwrap()) {
                return found["data"].clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polling).await.expect("the check ends")
}

#[tokio::test(flavor = "multi_thread")]
async fn model_watches_a_page_and_reads_its_changes() {
    let test = MonitorTest::new().await;
    let service = &test.service;
    let short = json!({ "pages": [TEA, "http://shop.test/"], "scheduleText": "every day at 9:00" });
    let created = call(service, "monitor_create", short).await["data"].clone();
    let id = &created["id"];
    assert_eq!(created["name"], format!("Monitor {TEA}"));
    assert_eq!(created["schedule"], json!({ "cron": "0 9 * * *", "timezone": "UTC" }));
    assert!(created["feedUrl"].as_str().unwrap().starts_with(&service.address), "{created}");
    let first = run(service, id).await;
    assert_eq!((&first["status"], &first["summary"]["new"]), (&json!("completed"), &json!(2)), "{first}");
    test.shop.set_tea(&["Sencha costs 14 euros.", "Rooibos costs 5 euros."]);
    let second = run(service, id).await;
    let arguments = json!({ "id": id, "checkId": second["id"], "pageStatus": "changed" });
    let changed = call(service, "monitor_check", arguments).await;
    let diff = changed["data"]["pages"][0]["diff"]["text"].as_str().unwrap();
    assert!(diff.contains("-Sencha costs 12 euros.\n+Sencha costs 14 euros."), "{diff}");
    assert_eq!(changed["data"]["pages"].as_array().unwrap().len(), 1);
    let part = json!({ "id": id, "checkId": second["id"], "limit": 1 });
    let next = call(service, "monitor_check", part).await["next"].clone();
    let expected =
        format!("{}{MONITOR}/{}/checks/{}?skip=1&limit=1", service.address, text(id), text(&second["id"]));
    assert_eq!(next, expected);
    let checks = call(service, "monitor_checks", json!({ "id": id, "limit": 1, "offset": 1 })).await;
    assert_eq!(checks["data"][0]["id"], first["id"]);
    let body = json!({ "name": "Tea", "status": "paused" });
    let updated = call(service, "monitor_update", json!({ "id": id, "body": body })).await;
    assert_eq!((&updated["data"]["name"], &updated["data"]["status"]), (&json!("Tea"), &json!("paused")));
    assert!(fail(service, "monitor_run", json!({ "id": id })).await.contains("paused"));
    assert_eq!(call(service, "monitor_list", json!({})).await["data"][0]["name"], "Tea");
    assert_eq!(call(service, "monitor_delete", json!({ "id": id })).await, json!({ "success": true }));
    assert_eq!(fail(service, "monitor_get", json!({ "id": id })).await, "Monitor not found");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_for_monitors_need_their_scope_and_see_only_their_team() {
    let mut test = MonitorTest::new().await;
    let created = call(&test.service, "monitor_create", json!({ "page": TEA })).await;
    let id = json!({ "id": created["data"]["id"] });
    for (options, expected) in [
        (["keys", "create", "--scope", "search"], "scope \"monitor\""),
        (["keys", "create", "--team", "others"], "Monitor not found"),
    ] {
        test.site.succeed(&["teams", "set", "others"]);
        test.service.key = test.site.succeed(&options).trim().to_owned();
        for name in ["monitor_get", "monitor_run", "monitor_delete"] {
            let text = fail(&test.service, name, id.clone()).await;
            assert!(text.contains(expected), "{name}: {text}");
        }
    }
    assert_eq!(call(&test.service, "monitor_list", json!({})).await["data"], json!([]));
}
