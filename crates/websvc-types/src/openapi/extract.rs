//! Operations on extractions.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;
use crate::extract::{DEPRECATION, REPLACEMENT};

const DESCRIPTION: &str = "Every response, also an error, has the headers `Deprecation`, `Link` and `Warning`, and the fields \
    `warnings` and `replacement`.";

/// Adds the operations to the paths.
pub(super) fn add(paths: &mut Value) {
    let versions =
        [("/v2/extract", "startExtract", "getExtract"), ("/v1/extract", "startExtractV1", "getExtractV1")];
    for (path, start_id, status_id) in versions {
        paths[path] = json!({ "post": deprecated(start(start_id).to_value()) });
        let mut status = deprecated(status(status_id).to_value());
        status["parameters"] = json!([{
            "name": "id",
            "in": "path",
            "required": true,
            "description": "ID of the extraction",
            "schema": { "type": "string", "format": "uuid" },
        }]);
        paths[format!("{path}/{{id}}")] = json!({ "get": status });
    }
}

fn deprecated(mut operation: Value) -> Value {
    operation["deprecated"] = json!(true);
    let description = operation["description"].as_str().unwrap_or_default();
    operation["description"] = json!(format!("{description} {DESCRIPTION}"));
    operation
}

fn start(id: &'static str) -> Operation {
    let body = json!({
        "urls": ["https://tea.test/*"],
        "prompt": "The teas and their prices",
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
        },
        "showSources": true,
    });
    let started = json!({
        "success": true,
        "id": REQUEST_ID,
        "urlTrace": [],
        "invalidURLs": [],
        "warnings": [DEPRECATION],
        "replacement": REPLACEMENT,
    });
    Operation {
        id,
        tag: "agent",
        summary: "Start to extract one object of data from pages",
        description: "A language model extracts data from each page; the data is merged: lists are joined without \
            duplicates, and missing values are filled in.",
        body: Some(("ExtractRequest", vec![example("site", "The prices of a shop", body)])),
        response: (
            "ExtractStartedResponse",
            vec![example("started", "The extraction waits to begin", started)],
        ),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidSearch,
                Failure::InsufficientCredits,
                Failure::PageForbidden,
                Failure::ModelMissing,
            ],
        ],
    }
}

fn status(id: &'static str) -> Operation {
    Operation {
        id,
        tag: "agent",
        summary: "Get the status and the data of an extraction",
        description: "Poll it every few seconds until the status is not `processing`. The result is available for 24 hours.",
        body: None,
        response: ("ExtractStatusResponse", statuses()),
        failures: &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]],
    }
}

fn statuses() -> Vec<Example> {
    let done = json!({
        "success": true,
        "id": REQUEST_ID,
        "status": "completed",
        "data": { "teas": [{ "name": "Sencha", "price": 9.5 }] },
        "sources": { "teas[0]": ["https://tea.test/sencha"] },
        "expiresAt": "2026-11-27T12:00:40.000Z",
        "tokensUsed": 812,
        "creditsUsed": 5,
        "warnings": [DEPRECATION],
        "replacement": REPLACEMENT,
    });
    let failed = json!({
        "success": false,
        "id": REQUEST_ID,
        "status": "failed",
        "error": "no page could be read: https://tea.test/: the page has status 404",
        "expiresAt": "2026-11-27T12:00:40.000Z",
        "tokensUsed": 0,
        "creditsUsed": 0,
        "warnings": [DEPRECATION],
        "replacement": REPLACEMENT,
    });
    vec![
        example("completed", "The extraction has its data", done),
        example("failed", "No page could be read", failed),
    ]
}
