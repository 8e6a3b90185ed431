//! Operations on agent runs.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

const THREAD_ID: &str = "0b1f8c1e-6f0f-4f0a-9a53-6f1b2c3d4e5f";
const CREATED_AT: &str = "2026-11-26T12:00:00.000Z";
const EXPIRES_AT: &str = "2026-11-27T12:00:40.000Z";

const READ: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]];

/// Adds the operations to the paths.
pub(super) fn add(paths: &mut Value) {
    let before = json!({
        "name": "before",
        "in": "query",
        "required": false,
        "description": "Lists runs that were started before this time, in milliseconds since the Unix epoch. `next` \
            contains it.",
        "schema": { "type": "integer", "minimum": 0 },
    });
    let mut listed = list().to_value();
    listed["parameters"] = json!([before]);
    paths["/v2/agent"] = json!({ "post": start().to_value(), "get": listed });
    paths["/v2/agent/{id}"] =
        json!({ "get": with_parameters(&status(), &[]), "delete": with_parameters(&cancel(), &[]) });
    let live_view = flag("liveView", "True adds `activeBrowserSessions`, for keys with the scope `interact`");
    paths["/v2/agent/{id}/trace"] = json!({ "get": with_parameters(&trace(), &[live_view]) });
    let snapshot_id = json!({
        "name": "snapshotId",
        "in": "path",
        "required": true,
        "description": "ID of the snapshot, from an event `artifact.updated`",
        "schema": { "type": "string" },
    });
    paths["/v2/agent/{id}/snapshots/{snapshotId}"] =
        json!({ "get": with_parameters(&snapshot(), &[snapshot_id]) });
    let include_data = flag("includeData", "True adds the data of the runs that succeeded");
    paths["/v2/agent/threads/{id}"] = json!({ "get": with_parameters(&thread(), &[include_data]) });
}

/// Adds the parameter `id` and others.
fn with_parameters(operation: &Operation, others: &[Value]) -> Value {
    let mut value = operation.to_value();
    let id = json!({
        "name": "id",
        "in": "path",
        "required": true,
        "description": "ID of the run; for a thread, ID of the thread",
        "schema": { "type": "string", "format": "uuid" },
    });
    value["parameters"] = Value::Array([&[id], others].concat());
    value
}

fn flag(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "query",
        "required": false,
        "description": description,
        "schema": { "type": "boolean", "default": false },
    })
}

fn start() -> Operation {
    let body = json!({
        "prompt": "What do the teas of this shop cost?",
        "urls": ["https://tea.test"],
        "schema": {
            "type": "object",
            "properties": {
                "teas": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "name": { "type": "string" }, "price": { "type": "number" } },
                    },
                },
            },
            "required": ["teas"],
        },
        "maxCredits": 100,
    });
    Operation {
        id: "startAgent",
        tag: "agent",
        summary: "Start an agent run: a language model collects data from the web",
        description: "The run searches and reads pages until it has the data that the prompt asks for. It only reads, unless \
            `allowInteract` is true. It costs nothing if it fails.",
        body: Some(("AgentRequest", vec![example("prices", "Prices of a shop, in a given form", body)])),
        response: (
            "AgentStartedResponse",
            vec![example(
                "started",
                "The run waits to begin",
                json!({ "success": true, "id": REQUEST_ID, "threadId": THREAD_ID, "threadTurn": 1 }),
            )],
        ),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidBody,
                Failure::InsufficientCredits,
                Failure::PageForbidden,
                Failure::NotFound,
                Failure::ThreadConflict,
                Failure::ModelMissing,
            ],
        ],
    }
}

fn list() -> Operation {
    let agent = json!({
        "id": REQUEST_ID,
        "createdAt": CREATED_AT,
        "targetHint": "https://tea.test",
        "origin": "api",
        "settings": { "hidden": false, "starred": false },
        "status": "completed",
        "options": {
            "urls": ["https://tea.test"],
            "prompt": "What do the teas of this shop cost?",
            "model": "spark-1-pro",
        },
    });
    Operation {
        id: "listAgents",
        tag: "agent",
        summary: "List the agent runs of the team",
        description: "The newest first, 20 at a time.",
        body: None,
        response: (
            "AgentListResponse",
            vec![example("one", "One run", json!({ "success": true, "agents": [agent] }))],
        ),
        failures: &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden]],
    }
}

fn status() -> Operation {
    Operation {
        id: "getAgent",
        tag: "agent",
        summary: "Get the status and the data of an agent run",
        description: "Poll it every few seconds until the status is not `processing`. The result is available for 24 hours.",
        body: None,
        response: ("AgentStatusResponse", statuses()),
        failures: READ,
    }
}

fn statuses() -> Vec<Example> {
    let run = json!({
        "success": true,
        "id": REQUEST_ID,
        "status": "completed",
        "data": { "teas": [{ "name": "Sencha", "price": 9.5 }] },
        "expiresAt": EXPIRES_AT,
        "creditsUsed": 6,
        "threadId": THREAD_ID,
        "threadTurn": 1,
        "mode": "extract",
        "stopReason": "succeeded",
    });
    let mut failed = run.clone();
    failed["status"] = json!("failed");
    failed["creditsUsed"] = json!(0);
    failed["stopReason"] = json!("cancelled");
    failed["error"] = json!("the run was cancelled by a request");
    if let Some(failed) = failed.as_object_mut() {
        failed.shift_remove("data");
    }
    vec![example("completed", "The run has its data", run), example("cancelled", "A cancelled run", failed)]
}

fn cancel() -> Operation {
    Operation {
        id: "cancelAgent",
        tag: "agent",
        summary: "Cancel an agent run",
        description: "The run ends within seconds, with the status `failed` and the stop reason `cancelled`. It costs nothing.",
        body: None,
        response: (
            "AgentCancelledResponse",
            vec![example("cancelled", "The run is being cancelled", json!({ "success": true }))],
        ),
        failures: &[
            KEYED,
            &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound, Failure::RunConflict],
        ],
    }
}

fn thread() -> Operation {
    let run = json!({
        "id": REQUEST_ID,
        "turn": 1,
        "mode": "extract",
        "prompt": "What do the teas of this shop cost?",
        "urls": ["https://tea.test"],
        "status": "succeeded",
        "createdAt": CREATED_AT,
        "finishedAt": "2026-11-26T12:00:40.000Z",
        "creditsUsed": 6,
        "message": null,
    });
    let thread = json!({
        "id": THREAD_ID,
        "createdAt": CREATED_AT,
        "updatedAt": "2026-11-26T12:00:40.000Z",
        "status": "idle",
        "runs": [run],
    });
    Operation {
        id: "getAgentThread",
        tag: "agent",
        summary: "Get a thread: agent runs that continue each other",
        description: "The oldest run first.",
        body: None,
        response: (
            "AgentThreadResponse",
            vec![example("thread", "A thread of one run", json!({ "success": true, "thread": thread }))],
        ),
        failures: READ,
    }
}

fn trace() -> Operation {
    let event = |number: u64, rest: Value| {
        let mut event = json!({
            "schemaVersion": 1,
            "eventId": format!("019ab1c2-5d3e-7f4a-8b6c-9d0e1f2a3b{number:02}"),
            "runId": REQUEST_ID,
            "occurredAt": CREATED_AT,
            "producerSequence": number,
            "agent": { "id": REQUEST_ID, "role": "orchestrator", "name": "agent" },
        });
        if let (Some(event), Value::Object(rest)) = (event.as_object_mut(), rest) {
            event.extend(rest);
        }
        event
    };
    let events = json!([
        event(1, json!({ "type": "run.started" })),
        event(
            2,
            json!({
                "type": "tool_call.started",
                "toolCallId": "call-1",
                "toolName": "scrape",
                "parameters": { "url": "https://tea.test" },
            })
        ),
        event(3, json!({ "type": "run.finished", "outcome": "succeeded", "error": null })),
    ]);
    Operation {
        id: "getAgentTrace",
        tag: "agent",
        summary: "Get the events of an agent run",
        description: "Also while the run works. Events `artifact.updated` name snapshots of the data and of its sources.",
        body: None,
        response: (
            "AgentTraceResponse",
            vec![example(
                "events",
                "Some events",
                json!({ "success": true, "id": REQUEST_ID, "events": events, "creditsUsed": 6 }),
            )],
        ),
        failures: READ,
    }
}

fn snapshot() -> Operation {
    let sources = r#"[{"passage":"Sencha 9.50","pointer":"/teas/0/price","url":"https://tea.test/"}]"#;
    let response =
        json!({ "success": true, "id": REQUEST_ID, "snapshotId": "sources-3", "snapshot": sources });
    Operation {
        id: "getAgentSnapshot",
        tag: "agent",
        summary: "Get a snapshot of an agent run",
        description: "The data, or its sources: for each value its JSON Pointer, the URL of the page that states it, and the \
            passage.",
        body: None,
        response: ("AgentSnapshotResponse", vec![example("sources", "The sources of the data", response)]),
        failures: READ,
    }
}
