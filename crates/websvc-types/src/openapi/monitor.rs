//! Operations on monitors.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::job::{add_parameters, with_uuid};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::{self, Failure};
use crate::limits::{
    EMAIL_TOKEN_MAX_CHARS, EMAIL_TOKEN_MIN_CHARS, MONITOR_LIST_LIMIT_DEFAULT, MONITOR_LIST_LIMIT_MAX,
    MONITOR_LIST_LIMIT_MIN,
};

const CHECK_ID: &str = "019ab1c2-5d3e-7f4a-8b6c-9d0e1f2a3b4c";
const TARGET_ID: &str = "019ab1c2-0000-7000-8000-000000000001";
const CREATED_AT: &str = "2026-11-25T12:00:00.000Z";

const READ: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]];
const LIST: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden]];
const CREATE: &[&[Failure]] =
    &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::InsufficientCredits, Failure::Forbidden]];
const UPDATE: &[&[Failure]] =
    &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Forbidden, Failure::NotFound]];
const RUN: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidBody,
        Failure::InsufficientCredits,
        Failure::Forbidden,
        Failure::NotFound,
        Failure::MonitorConflict,
    ],
];

const EMAIL: &[&[Failure]] = &[
    WITH_BODY,
    &[Failure::InvalidBody, Failure::NotFound, Failure::UnknownError, Failure::DatabaseUnavailable],
];

const CHECK_STATUSES: &[&str] =
    &["queued", "running", "completed", "failed", "partial", "skipped_overlap", "skipped_no_credits"];
const PAGE_STATUSES: &[&str] = &["same", "new", "changed", "removed", "error"];

/// Adds the operations to the paths.
pub(super) fn add(paths: &mut Value) {
    let path = "/v2/monitor";
    paths[path] = json!({ "post": create().to_value(), "get": with_list(list().to_value(), "offset", None) });
    paths[format!("{path}/{{id}}")] = json!({
        "get": with_id(get().to_value()),
        "patch": with_id(update().to_value()),
        "delete": with_id(delete().to_value()),
    });
    paths[format!("{path}/email/confirm")] =
        json!({ "post": confirm().to_public_value(), "get": link_page("confirm", "confirms an address") });
    paths[format!("{path}/email/unsubscribe")] =
        json!({ "post": unsubscribe().to_public_value(), "get": link_page("unsubscribe", "ends emails") });
    let mut run = with_id(run().to_value());
    run["requestBody"]["required"] = json!(false);
    paths[format!("{path}/{{id}}/run")] = json!({ "post": run });
    let checks = with_list(with_id(checks().to_value()), "offset", Some(CHECK_STATUSES));
    paths[format!("{path}/{{id}}/checks")] = json!({ "get": checks });
    let check = with_list(with_check_id(with_id(check().to_value())), "skip", Some(PAGE_STATUSES));
    paths[format!("{path}/{{id}}/checks/{{checkId}}")] = json!({ "get": check });
}

fn create() -> Operation {
    let body = json!({
        "name": "Prices of teas",
        "schedule": { "text": "every day at 9:00", "timezone": "Europe/Berlin" },
        "targets": [{ "type": "scrape", "urls": ["https://tea.test/prices"] }],
        "notification": { "email": { "enabled": true, "recipients": ["anna@tea.test"], "includeDiffs": true } },
    });
    Operation {
        id: "createMonitor",
        tag: "monitors",
        summary: "Create a monitor: check pages, sites and searches repeatedly",
        description: "Each check compares the pages with those of the last check, and reports what is new, changed and \
            removed. The response has the schedule as a cron expression.",
        body: Some((
            "CreateMonitorRequest",
            vec![example("daily", "A page that is checked every day", body)],
        )),
        response: ("MonitorResponse", one()),
        failures: CREATE,
    }
}

fn list() -> Operation {
    Operation {
        id: "listMonitors",
        tag: "monitors",
        summary: "List the monitors of the team",
        description: "The newest first, without the subscriptions of email addresses.",
        body: None,
        response: (
            "MonitorListResponse",
            vec![example("one", "One monitor", json!({ "success": true, "data": [monitor()] }))],
        ),
        failures: LIST,
    }
}

fn get() -> Operation {
    Operation {
        id: "getMonitor",
        tag: "monitors",
        summary: "Get a monitor",
        description: "Returns the monitor with its next run and the summary of its last check.",
        body: None,
        response: ("MonitorResponse", one()),
        failures: READ,
    }
}

fn update() -> Operation {
    Operation {
        id: "updateMonitor",
        tag: "monitors",
        summary: "Change, pause or resume a monitor",
        description: "Absent fields stay as they are. Null removes the goal or the webhook; for other fields, null counts \
            as absent. A target keeps its history if its `id` is sent back.",
        body: Some((
            "UpdateMonitorRequest",
            vec![example("paused", "Pause a monitor", json!({ "status": "paused" }))],
        )),
        response: ("MonitorResponse", one()),
        failures: UPDATE,
    }
}

fn delete() -> Operation {
    Operation {
        id: "deleteMonitor",
        tag: "monitors",
        summary: "Delete a monitor with its checks",
        description: "A running check is cancelled.",
        body: None,
        response: (
            "DeleteMonitorResponse",
            vec![example("deleted", "The monitor is deleted", json!({ "success": true }))],
        ),
        failures: READ,
    }
}

fn run() -> Operation {
    Operation {
        id: "runMonitor",
        tag: "monitors",
        summary: "Start a check now",
        description: "Responds at once; the check is queued. The body may be empty.",
        body: Some(("RunMonitorRequest", vec![example("empty", "No options", json!({}))])),
        response: (
            "RunMonitorResponse",
            vec![example(
                "queued",
                "The check is queued",
                json!({ "success": true, "id": CHECK_ID, "data": check_example("queued") }),
            )],
        ),
        failures: RUN,
    }
}

fn checks() -> Operation {
    Operation {
        id: "listMonitorChecks",
        tag: "monitors",
        summary: "List the checks of a monitor",
        description: "The newest first.",
        body: None,
        response: (
            "MonitorCheckListResponse",
            vec![example(
                "one",
                "One check",
                json!({ "success": true, "data": [check_example("completed")] }),
            )],
        ),
        failures: READ,
    }
}

fn check() -> Operation {
    let mut data = check_example("completed");
    data["pages"] = json!([page()]);
    Operation {
        id: "getMonitorCheck",
        tag: "monitors",
        summary: "Get a check and its pages",
        description: "Returns pages in the order in which they were done. `next` is present only if further pages are \
            done; poll a running check again after a while.",
        body: None,
        response: (
            "MonitorCheckResponse",
            vec![example("changed", "One page has changed", json!({ "success": true, "data": data }))],
        ),
        failures: READ,
    }
}

fn confirm() -> Operation {
    Operation {
        id: "confirmMonitorEmail",
        tag: "monitors",
        summary: "Confirm a recipient of emails by the token of a link",
        description: "The address gets emails about the monitor from now on. Needs no key. The token is in the link of the \
            email that asks for the confirmation; people open the link instead.",
        body: email_token(),
        response: email_result("confirmed", "The address gets emails"),
        failures: EMAIL,
    }
}

fn unsubscribe() -> Operation {
    Operation {
        id: "unsubscribeMonitorEmail",
        tag: "monitors",
        summary: "Unsubscribe a recipient of emails by the token of a link",
        description: "The address gets no more emails about the monitor. Needs no key. The token is in the link of each \
            email. Mail programs send a form to the link instead (RFC 8058).",
        body: email_token(),
        response: email_result("unsubscribed", "The address gets no emails"),
        failures: EMAIL,
    }
}

/// Returns the operation of the page of a link, which is for people.
fn link_page(name: &str, effect: &str) -> Value {
    let page = |description: &str| {
        json!({
            "description": description,
            "headers": { "x-request-id": response::request_id() },
            "content": { "text/html": { "schema": { "type": "string" } } },
        })
    };
    json!({
        "operationId": format!("{name}MonitorEmailPage"),
        "tags": ["monitors"],
        "summary": format!("Show the page of a link that {effect}"),
        "description": "A page with a button, for people. It changes nothing. Its button, and mail programs (RFC 8058), send \
            a form with `POST` to the same address.",
        "security": [],
        "parameters": [{
            "name": "token", "in": "query", "required": true, "description": "Token of the link",
            "schema": {
                "type": "string", "minLength": EMAIL_TOKEN_MIN_CHARS, "maxLength": EMAIL_TOKEN_MAX_CHARS,
            },
        }],
        "responses": {
            "200": page("Success"),
            "400": page("The token is missing or invalid"),
            "404": page("The link is not known"),
            Failure::UnknownError.status().to_string(): Failure::UnknownError.reference(),
            Failure::DatabaseUnavailable.status().to_string(): Failure::DatabaseUnavailable.reference(),
        },
    })
}

fn email_token() -> Option<(&'static str, Vec<Example>)> {
    let token = json!({ "token": "5f2c8ab0d1e94c37a6b8d2f0c4e1a973" });
    Some(("MonitorEmailRequest", vec![example("token", "The token of a link", token)]))
}

fn email_result(result: &str, summary: &'static str) -> (&'static str, Vec<Example>) {
    let response = json!({
        "success": true, "result": result, "email": "anna@tea.test", "monitorName": "Prices of teas",
    });
    ("MonitorEmailResponse", vec![example("done", summary, response)])
}

fn one() -> Vec<Example> {
    let mut data = monitor();
    data["emailRecipientSubscriptions"] = json!([{
        "email": "anna@tea.test", "status": "pending", "source": "opt_in", "confirmationEmailSent": true,
    }]);
    vec![example("monitor", "A monitor before its first check", json!({ "success": true, "data": data }))]
}

fn monitor() -> Value {
    json!({
        "id": REQUEST_ID,
        "name": "Prices of teas",
        "status": "active",
        "schedule": { "cron": "0 9 * * *", "timezone": "Europe/Berlin" },
        "nextRunAt": "2026-11-26T08:00:00.000Z",
        "lastRunAt": null,
        "currentCheckId": null,
        "targets": [{ "type": "scrape", "id": TARGET_ID, "urls": ["https://tea.test/prices"] }],
        "webhook": null,
        "notification": {
            "email": { "enabled": true, "recipients": ["anna@tea.test"], "includeDiffs": true },
        },
        "retentionDays": 30,
        "estimatedCreditsPerMonth": 30,
        "lastCheckSummary": null,
        "goal": null,
        "judgeEnabled": false,
        "createdAt": CREATED_AT,
        "updatedAt": CREATED_AT,
    })
}

fn check_example(status: &str) -> Value {
    let is_done = status == "completed";
    let done = |value: Value| if is_done { value } else { Value::Null };
    let changed = u64::from(is_done);
    json!({
        "id": CHECK_ID,
        "monitorId": REQUEST_ID,
        "status": status,
        "trigger": "manual",
        "scheduledFor": null,
        "startedAt": done(json!(CREATED_AT)),
        "finishedAt": done(json!("2026-11-25T12:00:02.000Z")),
        "estimatedCredits": 1,
        "reservedCredits": 1,
        "actualCredits": done(json!(1)),
        "billingStatus": if is_done { "confirmed" } else { "reserved" },
        "summary": { "totalPages": changed, "same": 0, "changed": changed, "new": 0, "removed": 0, "error": 0 },
        "targetResults": done(json!([{ "targetId": TARGET_ID, "type": "scrape", "expectedJobs": [CHECK_ID] }])),
        "notificationStatus": null,
        "error": null,
        "createdAt": CREATED_AT,
        "updatedAt": CREATED_AT,
    })
}

fn page() -> Value {
    json!({
        "id": CHECK_ID,
        "targetId": TARGET_ID,
        "url": "https://tea.test/prices",
        "status": "changed",
        "previousScrapeId": REQUEST_ID,
        "currentScrapeId": CHECK_ID,
        "statusCode": 200,
        "error": null,
        "metadata": { "title": "Prices", "contentType": "text/html", "proxyUsed": "basic", "creditsUsed": 1 },
        "diff": {
            "text": "--- previous.md\n+++ current.md\n@@ -1 +1 @@\n-Green tea: 4 €\n+Green tea: 5 €\n",
        },
        "judgment": null,
        "createdAt": CREATED_AT,
    })
}

fn with_id(operation: Value) -> Value {
    with_uuid(operation, "id", "ID of the monitor")
}

fn with_check_id(operation: Value) -> Value {
    with_uuid(operation, "checkId", "ID of the check")
}

/// Adds the parameters of a list. `offset` is the name of the number of items to skip.
fn with_list(mut operation: Value, offset: &str, statuses: Option<&[&str]>) -> Value {
    let parameter = |name: &str, description: &str, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": description, "schema": schema });
    let mut parameters = vec![
        parameter(
            "limit",
            "Maximum number of items",
            json!({
                "type": "integer", "minimum": MONITOR_LIST_LIMIT_MIN, "maximum": MONITOR_LIST_LIMIT_MAX,
                "default": MONITOR_LIST_LIMIT_DEFAULT,
            }),
        ),
        // Without a maximum: nothing follows a number that is larger than any position.
        parameter(
            offset,
            "Number of items to skip",
            json!({ "type": "integer", "minimum": 0, "default": 0 }),
        ),
    ];
    if let Some(statuses) = statuses {
        let schema = json!({ "type": "string", "enum": statuses });
        parameters.push(parameter("status", "Only items with this status", schema));
    }
    add_parameters(&mut operation, parameters);
    operation
}
