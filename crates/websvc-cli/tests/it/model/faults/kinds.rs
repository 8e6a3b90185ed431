//! Kinds of failures of an endpoint, as they were seen with servers, proxies and small models.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_testkit::{Coding, FakeModel, Page, scaled};

/// The expected end of a request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// The answer is used.
    Answer,
    /// There is no answer, and the warning has these words.
    Failure(&'static str),
    /// Either of them.
    Either,
}

use Expected::{Answer, Either, Failure};

/// A kind of failure.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// Returns the response in place of the right answer.
    pub(super) respond: fn(&str) -> Page,
    /// The end of a request for JSON, and of one for a text.
    pub(super) json: Expected,
    pub(super) text: Expected,
    /// True if the request takes until its time limit.
    pub(super) is_slow: bool,
}

const fn fault(name: &'static str, respond: fn(&str) -> Page, json: Expected, text: Expected) -> Fault {
    Fault { name, respond, json, text, is_slow: false }
}

/// A fault for which a request has the same end, whatever it is for.
const fn any(name: &'static str, respond: fn(&str) -> Page, expected: Expected) -> Fault {
    fault(name, respond, expected, expected)
}

/// The same for one that takes until the time limit.
const fn slow(name: &'static str, respond: fn(&str) -> Page, expected: Expected) -> Fault {
    Fault { is_slow: true, ..any(name, respond, expected) }
}

/// Returns a response with a message and the reason of its end.
fn choice(message: &Value, finish_reason: &str) -> Page {
    json_page(&json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason }] }))
}

fn content(content: &Value) -> Page {
    choice(&json!({ "role": "assistant", "content": content }), "stop")
}

fn json_page(value: &Value) -> Page {
    Page::new("application/json", value.to_string())
}

fn error(status: u16, message: &str) -> Page {
    json_page(&json!({ "error": { "message": message, "type": "server_error", "code": null } }))
        .status(status)
}

fn with_usage(answer: &str, usage: &Value) -> Page {
    let message = json!({ "role": "assistant", "content": answer });
    json_page(&json!({ "choices": [{ "message": message, "finish_reason": "stop" }], "usage": usage }))
}

/// The refusal of llama.cpp.
fn long_context(_answer: &str) -> Page {
    let error = json!({
        "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 512,
        "message": "the request exceeds the available context size, try increasing it",
    });
    json_page(&json!({ "error": error })).status(400)
}

/// A body that is longer than any answer.
fn ten_megabytes(_answer: &str) -> Page {
    Page::new("application/json", vec![b' '; 10 * 1024 * 1024])
}

/// All kinds.
pub(super) const FAULTS: &[Fault] = &[
    // Statuses.
    any("bad-request", |_| FakeModel::bad_request("something else is wrong"), Failure("status 400")),
    any("unauthorized", |_| error(401, "no such key"), Failure("status 401")),
    any("unpaid", |_| error(402, "insufficient balance"), Failure("status 402")),
    any("forbidden", |_| error(403, "not for you"), Failure("status 403")),
    any("not-found", |_| error(404, "no such model"), Failure("status 404")),
    any("method", |_| Page::text("no").status(405), Failure("status 405")),
    any("entity-too-large", |_| error(413, "too large"), Failure("too large")),
    any("unprocessable", |_| error(422, "unprocessable"), Failure("status 422")),
    any("long-context", long_context, Failure("too large")),
    slow("too-many", |_| error(429, "slow down"), Failure("")),
    slow("too-many-soon", |_| error(429, "slow down").header("retry-after", "0"), Failure("")),
    any("too-many-later", |_| error(429, "x").header("retry-after", "3600"), Failure("status 429")),
    slow("broken", |_| error(500, "internal error"), Failure("")),
    slow("gateway", |_| Page::html("<h1>502 Bad Gateway</h1>").status(502), Failure("")),
    slow("loading", |_| error(503, "Loading model"), Failure("")),
    slow("gateway-timeout", |_| Page::text("upstream").status(504), Failure("")),
    any("redirect", |_| Page::redirect(302, "http://elsewhere.test/"), Failure("status 302")),
    // Bodies that are not a response of `chat/completions`.
    any("html", |_| Page::html("<title>Log in</title>"), Failure("cannot be used")),
    any("empty-body", |_| Page::new("application/json", ""), Failure("cannot be used")),
    any("cut-json", |_| Page::new("application/json", "{\"choices\":[{\"mess"), Failure("cannot be used")),
    any("cut-connection", |answer| FakeModel::text(answer).truncated_at(30), Failure("")),
    any(
        "not-utf-8",
        |_| Page::new("application/json", vec![b'"', 0xff, 0xfe, b'"']),
        Failure("cannot be used"),
    ),
    any("null", |_| json_page(&Value::Null), Failure("cannot be used")),
    any("list", |_| json_page(&json!([])), Failure("cannot be used")),
    any("number", |_| json_page(&json!(7)), Failure("cannot be used")),
    any("no-choices", |_| json_page(&json!({ "object": "chat.completion" })), Failure("cannot be used")),
    any("choices-empty", |_| json_page(&json!({ "choices": [] })), Failure("cannot be used")),
    any("choices-null", |_| json_page(&json!({ "choices": null })), Failure("cannot be used")),
    any("choice-null", |_| json_page(&json!({ "choices": [null] })), Failure("cannot be used")),
    any("message-null", |_| choice(&Value::Null, "stop"), Failure("cannot be used")),
    slow("error-in-body", |_| json_page(&json!({ "error": { "message": "no", "code": 500 } })), Failure("")),
    any("deep", |_| Page::new("application/json", "[".repeat(100_000)), Failure("cannot be used")),
    // Contents.
    any("content-null", |_| content(&Value::Null), Failure("cannot be used")),
    any("content-empty", |_| content(&json!("")), Failure("cannot be used")),
    any("content-number", |_| content(&json!(42)), Failure("cannot be used")),
    any("content-object", |_| content(&json!({ "text": {} })), Failure("cannot be used")),
    any("content-blank", |_| content(&json!(" \n".repeat(50_000))), Failure("cannot be used")),
    any("refusal", refusal, Failure("the model refused")),
    any("length", |answer| choice(&json!({ "content": answer }), "length"), Failure("cannot be used")),
    any("filtered", |answer| choice(&json!({ "content": answer }), "content_filter"), Either),
    any("ended-by-error", |answer| choice(&json!({ "content": answer }), "error"), Either),
    any("endless-reasoning", |_| content(&json!("<think>Let me see. ")), Failure("cannot be used")),
    fault("prose", |_| content(&json!("I would rather not.")), Failure("cannot be used"), Answer),
    fault("half-object", |_| content(&json!("{\"tea\": \"sen")), Failure("cannot be used"), Answer),
    fault(
        "two-objects",
        |_| content(&json!("It is {\"tea\": 1} or {\"tea\": 2}.")),
        Failure("cannot be used"),
        Answer,
    ),
    fault("array", |_| content(&json!("[1, 2, 3]")), Failure(""), Answer),
    fault("text-in-json", |_| content(&json!("\"sencha\"")), Failure(""), Answer),
    fault("wrong-schema", wrong_schema, Failure(""), Answer),
    fault("huge-number", |_| content(&json!("{\"euros\": 1e999}")), Failure(""), Answer),
    // Right answers in unusual forms.
    fault("around", |answer| content(&json!(format!("Sure:\n{answer}\nThat is all."))), Answer, Answer),
    fault("fences", |answer| content(&json!(format!("```json\n{answer}\n```"))), Answer, Answer),
    any("reasoning", |answer| content(&json!(format!("<think>Hm.</think>\n{answer}"))), Answer),
    any("parts", |answer| content(&json!([{ "type": "text", "text": answer }])), Answer),
    any("plain-type", |answer| FakeModel::text(answer).header("content-type", "text/html"), Answer),
    any("compressed", |answer| FakeModel::text(answer).encoded(Coding::Gzip), Answer),
    any("in-pieces", |answer| FakeModel::text(answer).slow(64, Duration::from_millis(5)), Answer),
    any("usage-negative", |answer| with_usage(answer, &json!({ "prompt_tokens": -5 })), Answer),
    any("usage-text", |answer| with_usage(answer, &json!("many")), Answer),
    fault(
        "usage-huge",
        |answer| with_usage(answer, &json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX })),
        Either,
        Answer,
    ),
    // Responses that do not end.
    slow("unresponsive", |_| Page::unresponsive(), Failure("no response within")),
    slow(
        "trickle",
        |answer| FakeModel::text(answer).slow(1, Duration::from_secs(2)),
        Failure("no response within"),
    ),
    any("ten-megabytes", ten_megabytes, Failure("too large")),
    any("announced", |_| Page::new("application/json", " ").announced_length(1 << 40), Failure("too large")),
    any("endless", |_| Page::endless("application/json", " ".repeat(65_536)), Failure("too large")),
];

/// Returns the kinds for features whose requests to the model are those of the formats: in the gate, each fourth one.
pub(super) fn sample() -> impl Iterator<Item = &'static Fault> + Clone {
    FAULTS.iter().step_by(scaled(4, 1))
}

fn refusal(_answer: &str) -> Page {
    choice(&json!({ "role": "assistant", "content": null, "refusal": "I cannot help with that." }), "stop")
}

/// Returns an object whose fields have wrong types or are missing.
fn wrong_schema(_answer: &str) -> Page {
    let fields = json!({
        "tea": 1, "euros": "many", "passages": "all", "boilerplate": "none", "findings": 7, "meaningful": "yes",
        "action": [], "includePaths": 9,
    });
    content(&json!(fields.to_string()))
}
