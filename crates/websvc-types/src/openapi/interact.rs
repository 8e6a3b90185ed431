//! Operations on browser sessions. All of them exist below `/v2/browser` and below `/v2/interact`.

use serde_json::{Value, json};

use super::example::{REQUEST_ID, example};
use super::job::{add_parameters, with_uuid};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

const CREATE: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidBody,
        Failure::InsufficientCredits,
        Failure::Forbidden,
        Failure::ProfileLocked,
        Failure::BrowserUnavailable,
    ],
];
const LIST: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden]];
const RUN: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidBody,
        Failure::InsufficientCredits,
        Failure::PageForbidden,
        Failure::NotFound,
        Failure::SessionConflict,
        Failure::SessionEnded,
        Failure::NotImplemented,
        Failure::BrowserUnavailable,
    ],
];
const END: &[&[Failure]] =
    &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound, Failure::SessionConflict]];

/// Adds the operations to the paths.
pub(super) fn add(paths: &mut Value) {
    paths["/v2/scrape/{id}/interact"] = json!({
        "post": with_id(interact().to_value(), "ID of the scrape"),
        "delete": with_id(end("endInteract", "End the session of a scrape").to_value(), "ID of the scrape"),
    });
    for (path, suffix) in [("/v2/browser", ""), ("/v2/interact", "Alias")] {
        let named = |operation: Operation| {
            let mut value = operation.to_value();
            let id = format!("{}{suffix}", value["operationId"].as_str().unwrap_or_default());
            value["operationId"] = id.into();
            value
        };
        let mut create = named(create());
        create["requestBody"]["required"] = json!(false);
        paths[path] = json!({ "post": create, "get": with_status(named(list())) });
        let session = "ID of the session";
        paths[format!("{path}/{{id}}")] = json!({
            "delete": with_id(named(end("endBrowser", "End a browser session")), session),
        });
        paths[format!("{path}/{{id}}/execute")] = json!({ "post": with_id(named(execute()), session) });
    }
}

fn interact() -> Operation {
    Operation {
        id: "interact",
        tag: "sessions",
        summary: "Run code or a prompt in the page of a scrape",
        description: "The first request opens a browser session with the page of the scrape: its URL, `waitFor` and actions. \
            Later requests find the page as the previous one left it. A scrape opens one session only. Code that fails has \
            the status 200 and `success: false`. With `prompt`, the language model of the service acts on the page step by \
            step; a session in which a prompt ran has a higher price.",
        body: Some((
            "InteractRequest",
            vec![
                example("title", "The title of the page", json!({ "code": "await page.title()" })),
                example(
                    "prompt",
                    "A task in words",
                    json!({ "prompt": "Search for green tea. What does it cost?" }),
                ),
            ],
        )),
        response: (
            "InteractResponse",
            vec![
                example("title", "The title of the page", run(true)),
                example("prompt", "The answer to a prompt", prompted()),
            ],
        ),
        failures: RUN,
    }
}

fn create() -> Operation {
    let body = json!({ "ttl": 300, "profile": { "name": "shop" } });
    Operation {
        id: "createBrowser",
        tag: "sessions",
        summary: "Start a browser session",
        description: "The browser starts with one empty tab. It ends after `ttl`, after `activityTtl` without use, or when it \
            is deleted. The body may be empty.",
        body: Some(("CreateBrowserRequest", vec![example("profile", "A session with a profile", body)])),
        response: ("CreateBrowserResponse", vec![example("started", "A started session", urls())]),
        failures: CREATE,
    }
}

fn list() -> Operation {
    let mut session = urls();
    if let Some(session) = session.as_object_mut() {
        session.shift_remove("success");
        session.shift_remove("expiresAt");
    }
    session["status"] = json!("active");
    session["streamWebView"] = json!(true);
    session["createdAt"] = json!("2026-11-25T12:00:00.000Z");
    session["lastActivity"] = json!("2026-11-25T12:01:00.000Z");
    Operation {
        id: "listBrowsers",
        tag: "sessions",
        summary: "List the browser sessions of the team",
        description: "The newest first, at most 100. Ended sessions are listed for a day.",
        body: None,
        response: (
            "BrowserListResponse",
            vec![example("one", "One session", json!({ "success": true, "sessions": [session] }))],
        ),
        failures: LIST,
    }
}

fn execute() -> Operation {
    Operation {
        id: "executeBrowser",
        tag: "sessions",
        summary: "Run code in a browser session",
        description: "`success` is true even if the code fails; `exitCode` and `error` say so.",
        body: Some((
            "ExecuteRequest",
            vec![example("title", "The title of the page", json!({ "code": "await page.title()" }))],
        )),
        response: ("ExecuteResponse", vec![example("title", "The title of the page", run(false))]),
        failures: RUN,
    }
}

fn end(id: &'static str, summary: &'static str) -> Operation {
    let ended = json!({ "success": true, "sessionDurationMs": 61_500, "creditsBilled": 3 });
    let again = json!({ "success": true, "sessionDurationMs": 61_500 });
    Operation {
        id,
        tag: "sessions",
        summary,
        description: "Saves the profile, stops the browser, and charges for the duration. A session that has ended before is \
            no error.",
        body: None,
        response: (
            "EndBrowserResponse",
            vec![example("ended", "The session has ended", ended), example("again", "It had ended", again)],
        ),
        failures: END,
    }
}

fn urls() -> Value {
    let url = |rest: &str| format!("websvc.test/v2/browser/{REQUEST_ID}/{rest}?token=3yXx");
    json!({
        "success": true,
        "id": REQUEST_ID,
        "cdpUrl": format!("wss://{}", url("cdp")),
        "liveViewUrl": format!("https://{}", url("live")),
        "interactiveLiveViewUrl": format!("https://{}&interactive=true", url("live")),
        "expiresAt": "2026-11-25T12:10:00.000Z",
    })
}

fn run(with_session: bool) -> Value {
    let mut response = if with_session { urls() } else { json!({ "success": true }) };
    if let Some(response) = response.as_object_mut() {
        response.shift_remove("expiresAt");
        if let Some(id) = response.shift_remove("id") {
            response.insert("sessionId".to_owned(), id);
        }
    }
    response["stdout"] = json!("");
    response["stderr"] = json!("");
    response["result"] = json!("Teas");
    response["exitCode"] = json!(0);
    response["killed"] = json!(false);
    response
}

fn prompted() -> Value {
    let mut response = run(true);
    response["output"] = json!("Sencha, a green tea, costs 12 euros.");
    response["stdout"] =
        json!("1. fill @e2 (searchbox \"Search\") \"green tea\": done\n2. press Enter: done\n");
    response["result"] = json!("- listitem \"Sencha\" [ref=e1]: 12 euros");
    response
}

fn with_id(operation: Value, description: &str) -> Value {
    with_uuid(operation, "id", description)
}

fn with_status(mut operation: Value) -> Value {
    let parameter = json!({
        "name": "status", "in": "query", "required": false, "description": "Only sessions with this status",
        "schema": { "type": "string", "enum": ["active", "destroyed"] },
    });
    add_parameters(&mut operation, vec![parameter]);
    operation
}
