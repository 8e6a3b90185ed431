//! Tests of the arguments of the tools for monitors.

use serde_json::json;

use super::*;

fn read_request(tool: MonitorTool, arguments: Value) -> Result<InternalRequest, String> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    tool.request(arguments).map_err(|error| error.as_text())
}

#[track_caller]
fn check_body(tool: MonitorTool, arguments: Value, expected: &Value) {
    let request = read_request(tool, arguments).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(request.parts().1).unwrap(), *expected);
}

#[track_caller]
fn check_error(tool: MonitorTool, arguments: Value, expected: &str) {
    let error = read_request(tool, arguments).unwrap_err();
    assert!(error.contains(expected) && error.contains(tool.name()), "{error}");
}

#[test]
fn short_form_has_the_defaults_of_the_official_server() {
    check_body(
        MonitorTool::Create,
        json!({ "page": "http://a.test/", "goal": "prices" }),
        &json!({
            "name": "Monitor http://a.test/",
            "schedule": { "text": "every 30 minutes" },
            "targets": [{ "type": "scrape", "urls": ["http://a.test/"] }],
            "goal": "prices",
        }),
    );
}

#[test]
fn short_form_has_all_options() {
    let arguments = json!({
        "pages": ["http://a.test/", " "], "queries": ["tea"], "searchWindow": "7d", "maxResults": 3,
        "includeDomains": ["a.test"], "name": "Tea", "scheduleText": "daily", "timezone": "Asia/Tokyo",
        "email": "a@a.test", "includeDiffs": true, "webhookUrl": "http://hook.test/", "goal": null,
    });
    let expected = json!({
        "name": "Tea",
        "schedule": { "text": "daily", "timezone": "Asia/Tokyo" },
        "targets": [
            { "type": "scrape", "urls": ["http://a.test/"] },
            {
                "type": "search", "queries": ["tea"], "searchWindow": "7d", "maxResults": 3,
                "includeDomains": ["a.test"],
            },
        ],
        "webhook": "http://hook.test/",
        "notification": {
            "email": { "enabled": true, "recipients": ["a@a.test"], "includeDiffs": true },
        },
    });
    check_body(MonitorTool::Create, arguments, &expected);
}

#[test]
fn long_subject_is_cut_to_the_length_of_a_name() {
    let arguments = json!({ "queries": ["ü".repeat(300)] });
    let request = read_request(MonitorTool::Create, arguments).unwrap();
    let body: Value = serde_json::from_slice(request.parts().1).unwrap();
    assert_eq!(body["name"].as_str().unwrap().chars().count(), 256);
}

#[test]
fn bodies_are_passed_as_they_are() {
    let body = json!({ "name": "Tea", "unknown": [1] });
    check_body(MonitorTool::Create, json!({ "body": body, "page": null }), &body);
    check_body(MonitorTool::Update, json!({ "id": "7", "body": body }), &body);
}

#[test]
fn lists_have_their_part_and_status() {
    let check = |tool, arguments, expected: &str| {
        let request = read_request(tool, arguments).unwrap();
        let (line, body) = request.parts();
        assert_eq!(line, expected);
        assert!(body.is_empty());
    };
    check(MonitorTool::List, json!({ "limit": 2, "offset": 4 }), "GET /v2/monitor?limit=2&offset=4");
    let checks = json!({ "id": "7", "status": "a&b" });
    check(MonitorTool::Checks, checks, "GET /v2/monitor/7/checks?status=a%26b");
    let pages = json!({ "id": "7", "checkId": "8", "skip": 1, "limit": 1, "pageStatus": "same" });
    check(MonitorTool::Check, pages, "GET /v2/monitor/7/checks/8?limit=1&skip=1&status=same");
    check(MonitorTool::Run, json!({ "id": "7" }), "POST /v2/monitor/7/run");
    check(MonitorTool::Delete, json!({ "id": "7" }), "DELETE /v2/monitor/7");
}

#[test]
fn invalid_arguments_are_named_with_their_tool() {
    check_error(MonitorTool::Create, json!({}), "\"queries\"");
    check_error(MonitorTool::Create, json!({ "page": " " }), "\"page\"");
    check_error(MonitorTool::Create, json!({ "page": "a", "crawl": "b" }), "unknown field `crawl`");
    check_error(
        MonitorTool::Create,
        json!({ "queries": ["a"], "searchWindow": "2h" }),
        "unknown variant `2h`",
    );
    check_error(MonitorTool::Create, json!({ "body": {}, "name": "a" }), "\"name\" cannot be combined");
    check_error(MonitorTool::Create, json!({ "body": "{}" }), "must be an object");
    check_error(MonitorTool::Update, json!({ "id": "7" }), "missing field `body`");
    check_error(MonitorTool::Get, json!({}), "missing field `id`");
    check_error(MonitorTool::List, json!({ "limit": -1 }), "`-1`");
    check_error(MonitorTool::Check, json!({ "id": "7", "checkId": 8 }), "`8`");
}

#[test]
fn names_are_found_and_unique() {
    for tool in MonitorTool::ALL {
        assert_eq!(MonitorTool::from_name(tool.name()), Some(tool));
    }
    assert_eq!(MonitorTool::from_name("monitor"), None);
}
