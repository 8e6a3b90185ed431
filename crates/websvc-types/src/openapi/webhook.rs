//! The operations on events of jobs that could not be delivered.

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
        summary: "Returns the events of jobs that could not be delivered",
        description: "Of the team, and of the kinds of jobs that the key may begin; in the order in which they happened.",
        body: None,
        answer: (
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
                        "lastError": "responded with status 503",
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
        summary: "Has an event tried anew that could not be delivered",
        description: "At once, and as often as a new one, under the same identifier.",
        body: None,
        answer: ("WebhookLetterDone", done("It is tried anew")),
        failures: CHANGE,
    }
}

fn delete() -> Operation {
    Operation {
        id: "deleteWebhookDeadLetter",
        tag: "jobs",
        summary: "Forgets an event that could not be delivered",
        description: "Before its time.",
        body: None,
        answer: ("WebhookLetterDone", done("It is forgotten")),
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
        "description": "Identifier of the event",
        "schema": { "type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[0-9A-Za-z_]+$" },
    });
    add_parameters(&mut operation, vec![id]);
    operation
}

fn with_range(mut operation: Value) -> Value {
    let number = |name: &str, description: &str, least: u64, default: u64| {
        json!({
            "name": name, "in": "query", "required": false, "description": description,
            "schema": { "type": "integer", "minimum": least, "maximum": u64::MAX, "default": default },
        })
    };
    let range = vec![
        number("skip", "How many to leave out", 0, 0),
        number("limit", "How many at most; more than 1000 are 1000", 1, DEAD_LETTERS_DEFAULT),
    ];
    add_parameters(&mut operation, range);
    operation
}
