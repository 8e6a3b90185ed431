//! Operations on dead letters: events of jobs that could not be delivered.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::job::add_parameters;
use super::operation::{KEYED, Operation};
use super::response::Failure;
use crate::limits::DEAD_LETTERS_DEFAULT;

const LETTER_ID: &str = "msg_5f2c8ab0d1e94c37a6b8d2f0c4e1a973";

const LIST: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden]];
const CHANGE: &[&[Failure]] = &[KEYED, &[Failure::Forbidden, Failure::NotFound]];

/// Adds the operations to the paths.
pub(super) fn add(paths: &mut Value) {
    let path = "/v2/webhooks/dead-letters";
    paths[path] = json!({ "get": with_range(list().to_value()) });
    paths[format!("{path}/{{id}}")] = json!({ "delete": with_id(delete().to_value()) });
    paths[format!("{path}/{{id}}/retry")] = json!({ "post": with_id(retry().to_value()) });
}

fn list() -> Operation {
    Operation {
        id: "webhookDeadLetters",
        tag: "jobs",
        summary: "List the job events that could not be delivered",
        description: "Lists events of the team, of the types of jobs that the key can start, the oldest first.",
        body: None,
        response: (
            "WebhookDeadLetters",
            vec![example(
                "one",
                "A receiver was down for hours",
                json!({
                    "success": true,
                    "deadLetters": [{
                        "id": LETTER_ID,
                        "jobId": REQUEST_ID,
                        "type": "crawl.page",
                        "url": "https://hooks.test/websvc",
                        "attempts": 8,
                        "lastStatus": 503,
                        "lastError": "the receiver responded with 503",
                        "createdAt": "2026-11-22T12:30:00.000Z",
                        "lastAttemptAt": "2026-11-22T18:12:41.000Z",
                        "expiresAt": "2026-11-25T18:12:41.000Z",
                    }],
                    "total": 1,
                }),
            )],
        ),
        failures: LIST,
    }
}

fn retry() -> Operation {
    Operation {
        id: "retryWebhookDeadLetter",
        tag: "jobs",
        summary: "Retry the delivery of an event",
        description: "Tries the event at once, and as often as a new event, with the same ID.",
        body: None,
        response: ("WebhookLetterDone", done("The event is retried")),
        failures: CHANGE,
    }
}

fn delete() -> Operation {
    Operation {
        id: "deleteWebhookDeadLetter",
        tag: "jobs",
        summary: "Delete an event that could not be delivered",
        description: "Deletes the event before it expires.",
        body: None,
        response: ("WebhookLetterDone", done("The event is deleted")),
        failures: CHANGE,
    }
}

fn done(summary: &'static str) -> Vec<Example> {
    vec![example("done", summary, json!({ "success": true, "id": LETTER_ID }))]
}

fn with_id(mut operation: Value) -> Value {
    let id = json!({
        "name": "id",
        "in": "path",
        "required": true,
        "description": "ID of the event",
        "schema": { "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[0-9A-Za-z_]+$" },
    });
    add_parameters(&mut operation, vec![id]);
    operation
}

fn with_range(mut operation: Value) -> Value {
    let number = |name: &str, description: &str, minimum: u64, default: u64| {
        // Without a maximum: larger numbers count as the largest ones that matter.
        json!({
            "name": name, "in": "query", "required": false, "description": description,
            "schema": { "type": "integer", "minimum": minimum, "default": default },
        })
    };
    let range = vec![
        number("skip", "Number of events to skip", 0, 0),
        number("limit", "Maximum number of events; more than 1000 counts as 1000", 1, DEAD_LETTERS_DEFAULT),
    ];
    add_parameters(&mut operation, range);
    operation
}
