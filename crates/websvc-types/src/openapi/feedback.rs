//! Operations for feedback.

use serde_json::{Value, json};

use super::example::{self, Example, example};
use super::job::with_uuid;
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

/// Failures of both operations.
const FAILURES: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[Failure::InvalidBody, Failure::Forbidden, Failure::FeedbackNotFound, Failure::FeedbackConflict],
];

/// Adds the operations to the table of paths.
pub(super) fn add(paths: &mut Value) {
    paths["/v2/search/{id}/feedback"] = json!({ "post": search_feedback() });
    paths["/v2/feedback"] = json!({ "post": feedback().to_value() });
}

fn search_feedback() -> Value {
    let good = json!({
        "rating": "good",
        "valuableSources": [{ "url": "https://docs.example/asyncio", "reason": "explains the event loop" }],
    });
    let bad = json!({ "rating": "bad", "missingContent": [{ "topic": "task groups" }] });
    let operation = Operation {
        id: "searchFeedback",
        tag: "search",
        summary: "Rate a search",
        description: "Stores a rating of a search of the team, within 24 hours. `good` needs `valuableSources`, `partial` needs \
            `valuableSources` or `missingContent`, and `bad` needs `missingContent` or `querySuggestions`. A search is \
            rated once: later ratings are not stored, and get `alreadySubmitted`. Free of charge.",
        body: Some((
            "SearchFeedbackRequest",
            vec![
                example("good", "Results were useful", good),
                example("bad", "Results were not useful", bad),
            ],
        )),
        response: ("FeedbackResponse", responses()),
        failures: FAILURES,
    };
    with_uuid(operation.to_value(), "id", "ID of the search")
}

fn feedback() -> Operation {
    let body = json!({
        "endpoint": "scrape",
        "jobId": example::REQUEST_ID,
        "rating": "partial",
        "issues": ["missing_table"],
        "note": "the table of prices is cut off",
    });
    Operation {
        id: "feedback",
        tag: "search",
        summary: "Rate the result of a search, scrape, uploaded file or map",
        description: "Stores a rating of a result of the team, within 24 hours. A result is rated once: later ratings are not \
            stored, and get `alreadySubmitted`. The key needs the scope of the rated operation. Free of charge.",
        body: Some(("FeedbackRequest", vec![example("partial", "A page is incomplete", body)])),
        response: ("FeedbackResponse", responses()),
        failures: FAILURES,
    }
}

fn responses() -> Vec<Example> {
    let stored = json!({ "success": true, "feedbackId": example::REQUEST_ID, "creditsRefunded": 0 });
    let mut repeated = stored.clone();
    repeated["alreadySubmitted"] = json!(true);
    vec![
        example("stored", "The feedback is stored", stored),
        example("repeated", "The result was rated before", repeated),
    ]
}
