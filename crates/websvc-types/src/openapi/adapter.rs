//! The interfaces of others: version 1 of the official one, SearXNG's, Open WebUI's, Jina's.

use serde_json::{Value, json};

use super::example::example;
use super::operation::{KEYED, Operation, WITH_BODY};
use super::page;
use super::response::{self, Failure};
use crate::limits::{LIMIT_MAX, LIMIT_MIN, QUERY_MAX_CHARS};

const SEARCHING: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidSearch,
        Failure::InsufficientCredits,
        Failure::Forbidden,
        Failure::NotCached,
        Failure::ProfileLocked,
        Failure::Unavailable,
    ],
];

pub(super) fn scrape_v1() -> Value {
    let mut operation = page::scrape();
    operation["operationId"] = json!("scrapeV1");
    operation["tags"] = json!(["adapters"]);
    operation["summary"] = json!("Gets one page, for clients of version 1");
    operation["description"] = json!(
        "As `POST /v2/scrape`; pages come from their host unless `maxAge` is given, and the names of options and formats \
         of version 1 are known: `parsePDF`, `extract`, `changeTrackingOptions`, `screenshot@fullPage`. The formats `json` and `extract` need an object with their \
         options in `jsonOptions` or `extract`."
    );
    operation
}

pub(super) fn search_v1() -> Value {
    let results = json!({
        "type": "object",
        "required": ["success", "data", "id"],
        "properties": {
            "success": { "const": true },
            "data": { "type": "array", "items": { "$ref": "#/components/schemas/WebResult" } },
            "id": { "type": "string" },
            "warning": { "type": "string" },
        },
    });
    let operation = Operation {
        id: "searchV1",
        tag: "adapters",
        summary: "Searches, for clients of version 1",
        description: "As `POST /v2/search` of web pages; `data` is their list.",
        body: Some((
            "SearchRequest",
            vec![example("plain", "A search", json!({ "query": "brew green tea" }))],
        )),
        answer: ("SearchResponse", Vec::new()),
        failures: SEARCHING,
    };
    answering(operation.to_value(), &results)
}

pub(super) fn search_external() -> Value {
    let text = json!({ "type": "string" });
    let results = json!({ "type": "array", "items": {
        "type": "object",
        "required": ["link", "title", "snippet"],
        "properties": { "link": text, "title": text, "snippet": text },
    } });
    let operation = Operation {
        id: "searchExternal",
        tag: "adapters",
        summary: "Searches, for Open WebUI's engine \"external\"",
        description: "Takes `query` and `count`, and answers with a bare list.",
        body: None,
        answer: ("SearchResponse", Vec::new()),
        failures: SEARCHING,
    };
    let mut value = answering(operation.to_value(), &results);
    let body = json!({
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": { "type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS },
            "count": { "type": ["integer", "null"], "minimum": LIMIT_MIN, "maximum": LIMIT_MAX },
        },
    });
    value["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": body } } });
    value
}

pub(super) fn search_searxng() -> Value {
    let results = json!({
        "type": "object",
        "required": ["query", "number_of_results", "results"],
        "properties": {
            "query": { "type": "string" },
            "number_of_results": { "type": "integer" },
            "results": { "type": "array", "items": { "type": "object", "required": ["url", "title", "content"] } },
        },
    });
    let operation = Operation {
        id: "searchSearxng",
        tag: "adapters",
        summary: "Searches, for programs that know SearXNG",
        description: "Ten results a page, of the first hundred. What has no counterpart here is listed in \
            `unresponsive_engines`, with why.",
        body: None,
        answer: ("SearchResponse", Vec::new()),
        failures: SEARCHING,
    };
    let mut value = answering(operation.to_value(), &results);
    let parameter = |name: &str, description: &str, required: bool, schema: Value| json!({ "name": name, "in": "query", "required": required, "description": description, "schema": schema });
    value["parameters"] = json!([
        parameter("q", "What is searched for", true, json!({ "type": "string", "minLength": 1 })),
        parameter("format", "The form of the answer", true, json!({ "const": "json" })),
        parameter("pageno", "Which page of the results", false, json!({ "type": "integer", "minimum": 1 })),
        parameter(
            "categories",
            "`general`, `news` and `images`, between commas",
            false,
            json!({ "type": "string" })
        ),
        parameter(
            "language",
            "With a country, such as `de-DE`, the results are for it",
            false,
            json!({ "type": "string" })
        ),
        parameter(
            "time_range",
            "How old results may be",
            false,
            json!({ "enum": ["day", "week", "month", "year"] })
        ),
        parameter("safesearch", "Whether explicit content is filtered", false, json!({ "enum": [0, 1, 2] })),
    ]);
    value
}

pub(super) fn rerank() -> Operation {
    let request = json!({
        "query": "green tea",
        "documents": ["Oolong is partly oxidised.", { "text": "Green tea wants water of seventy degrees." }],
        "top_n": 1,
    });
    let answer = json!({
        "model": "websvc-bm25",
        "usage": { "total_tokens": 13 },
        "results": [{
            "index": 1,
            "relevance_score": 0.57,
            "document": { "text": "Green tea wants water of seventy degrees." },
        }],
    });
    Operation {
        id: "rerank",
        tag: "adapters",
        summary: "Orders texts by how well they answer a query, as Jina's interface",
        description: "By their words, BM25 and how near to each other these stand. Costs nothing.",
        body: Some(("RerankRequest", vec![example("texts", "Two texts", request)])),
        answer: ("RerankResponse", vec![example("ordered", "The better one", answer)]),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Forbidden]],
    }
}

/// Puts the schema of an answer that has none of its own.
fn answering(mut operation: Value, schema: &Value) -> Value {
    operation["responses"]["200"] = json!({
        "description": "Success",
        "headers": { "x-request-id": response::request_id() },
        "content": { "application/json": { "schema": schema } },
    });
    operation
}
