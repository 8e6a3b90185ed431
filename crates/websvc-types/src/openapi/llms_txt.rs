//! Operations for the llms.txt of a site.

use serde_json::{Value, json};

use super::example::{self, example};
use super::job::with_uuid;
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

/// Adds the operations to the table of paths.
pub(super) fn add(paths: &mut Value) {
    paths["/v1/llmstxt"] = json!({ "post": start().to_value() });
    paths["/v1/llmstxt/{id}"] = json!({ "get": status() });
}

fn start() -> Operation {
    Operation {
        id: "startLlmsTxt",
        tag: "adapters",
        summary: "Start to generate the llms.txt of a site",
        description: "Crawls up to `maxUrls` pages in the background, at one credit each. The job is a crawl: \
            `GET /v2/crawl/{id}` has its documents, and `DELETE /v2/crawl/{id}` cancels it.",
        body: Some((
            "LlmsTxtRequest",
            vec![example(
                "site",
                "Twenty pages of a site",
                json!({ "url": "https://docs.example", "maxUrls": 20 }),
            )],
        )),
        response: (
            "LlmsTxtStarted",
            vec![example(
                "started",
                "The job has started",
                json!({ "success": true, "id": example::REQUEST_ID }),
            )],
        ),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidSearch,
                Failure::InsufficientCredits,
                Failure::PageForbidden,
                Failure::JobConflict,
            ],
        ],
    }
}

fn status() -> Value {
    let text = "# docs.example\n\n- [Documentation](https://docs.example/): All about the product\n";
    let done = json!({
        "success": true,
        "status": "completed",
        "data": { "llmstxt": text },
        "expiresAt": "2026-11-22T12:30:00.000Z",
    });
    let operation = Operation {
        id: "getLlmsTxt",
        tag: "adapters",
        summary: "Get the state and the text of an llms.txt",
        description: "The text has a heading with the host of the site, and one line for each page: its title as a link, and its \
            description. No language model is used. It is available for 24 hours after the end of the job.",
        body: None,
        response: ("LlmsTxtResponse", vec![example("completed", "The text is complete", done)]),
        failures: &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]],
    };
    with_uuid(operation.to_value(), "id", "ID of the job")
}
