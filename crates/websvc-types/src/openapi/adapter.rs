//! Adapters: the operations in the formats of Firecrawl v1, SearXNG, Open WebUI and Jina.

use serde_json::{Value, json};

use super::example::example;
use super::operation::{KEYED, Operation, WITH_BODY};
use super::page;
use super::response::{self, Failure};
use crate::limits::{LIMIT_MAX, LIMIT_MIN, QUERY_MAX_CHARS};
use crate::pattern::NOT_BLANK;

/// Failures of a search.
const SEARCH_FAILURES: &[&[Failure]] = &[
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
    operation["summary"] = json!("Scrape a page, for clients of version 1");
    operation["description"] = json!(
        "The same as `POST /v2/scrape`, except that pages come from their host unless `maxAge` is set. The names of \
         options and formats of version 1 are supported: `parsePDF`, `extract`, `changeTrackingOptions`, \
         `screenshot@fullPage`. The formats `json` and `extract` require an object with their options in `jsonOptions` \
         or `extract`."
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
        summary: "Search, for clients of version 1",
        description: "The same as `POST /v2/search` for web pages; `data` is the list of results.",
        body: Some((
            "SearchRequest",
            vec![example("plain", "A search", json!({ "query": "brew green tea" }))],
        )),
        response: ("SearchResponse", Vec::new()),
        failures: SEARCH_FAILURES,
    };
    with_response(operation.to_value(), &results)
}

/// Returns the schema of a query, with the rules of `SearchRequest`.
fn query() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": QUERY_MAX_CHARS, "pattern": NOT_BLANK })
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
        summary: "Search, for the engine \"external\" of Open WebUI",
        description: "Accepts `query` and `count`, and returns a plain list of results.",
        body: None,
        response: ("SearchResponse", Vec::new()),
        failures: SEARCH_FAILURES,
    };
    let mut value = with_response(operation.to_value(), &results);
    let body = json!({
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": query(),
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
        summary: "Search, for clients of SearXNG",
        description: "Returns pages of ten results, of the first hundred. Parameters that are not supported are listed in \
            `unresponsive_engines`, with the reason.",
        body: None,
        response: ("SearchResponse", Vec::new()),
        failures: SEARCH_FAILURES,
    };
    let mut value = with_response(operation.to_value(), &results);
    let parameter = |name: &str, description: &str, required: bool, schema: Value| json!({ "name": name, "in": "query", "required": required, "description": description, "schema": schema });
    value["parameters"] = json!([
        parameter("q", "Search query", true, query()),
        parameter("format", "Format of the response", true, json!({ "const": "json" })),
        parameter(
            "pageno",
            "Number of the page of results, from 1",
            false,
            json!({ "type": "integer", "minimum": 1 })
        ),
        parameter(
            "categories",
            "`general`, `news` and `images`, separated by commas",
            false,
            json!({ "type": "string" })
        ),
        parameter(
            "language",
            "Language of the user. With a country, such as `de-DE`, results for this country are preferred",
            false,
            json!({ "type": "string" })
        ),
        parameter(
            "time_range",
            "Maximum age of results",
            false,
            json!({ "enum": ["day", "week", "month", "year"] })
        ),
        parameter("safesearch", "Filter of explicit content: 0 is off", false, json!({ "enum": [0, 1, 2] })),
    ]);
    value
}

pub(super) fn rerank() -> Operation {
    let request = json!({
        "query": "green tea",
        "documents": ["Oolong is partly oxidised.", { "text": "Green tea wants water of seventy degrees." }],
        "top_n": 1,
    });
    let response = json!({
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
        summary: "Rank texts by their relevance to a query, in the format of Jina",
        description: "Ranks by words: BM25, and the distance between the words. Costs no credits.",
        body: Some(("RerankRequest", vec![example("texts", "Two texts", request)])),
        response: ("RerankResponse", vec![example("ranked", "The most relevant text", response)]),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Forbidden]],
    }
}

/// Sets the schema of a response that has no published schema.
fn with_response(mut operation: Value, schema: &Value) -> Value {
    operation["responses"]["200"] = json!({
        "description": "Success",
        "headers": { "x-request-id": response::request_id() },
        "content": { "application/json": { "schema": schema } },
    });
    operation
}
