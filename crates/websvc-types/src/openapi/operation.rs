//! The operations: what each is for, what it takes and how it may end.

use serde_json::{Map, Value, json};

use super::example::{self, Example};
use super::response::{self, Failure};
use super::{adapter, job, map, page, usage, webhook};

/// How every operation that needs a key may end.
pub(super) const KEYED: &[Failure] = &[Failure::Unauthorized, Failure::RateLimited, Failure::UnknownError];

/// How every operation with a body may end beside that.
pub(super) const WITH_BODY: &[Failure] =
    &[Failure::Timeout, Failure::PayloadTooLarge, Failure::UnsupportedMediaType];

/// One operation of the document.
pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    /// The schema of the request's body, and examples of it.
    pub(super) body: Option<(&'static str, Vec<Example>)>,
    /// The schema of the answer, and examples of it.
    pub(super) answer: (&'static str, Vec<Example>),
    pub(super) failures: &'static [&'static [Failure]],
}

/// Returns the operations by path and method.
pub(super) fn paths() -> Value {
    let mut paths = json!({
        "/v2/search": { "post": search().to_value() },
        "/v2/map": { "post": map::map().to_value() },
        "/v1/map": { "post": map::first_version().to_value() },
        "/v2/scrape": { "post": page::scrape() },
        "/v2/scrape/{id}": { "get": page::scrape_result() },
        "/v2/parse": { "post": page::parse() },
        "/v2/parse/formats": { "get": page::parse_formats().to_value() },
        "/v2/index/documents": { "post": add_documents().to_value() },
        "/v2/index/progress": { "post": crawl_progress().to_value() },
        "/v2/index/stats": { "get": index_stats().to_value() },
        "/v2/team/credit-usage": { "get": usage::credit_usage().to_value() },
        "/v2/team/credit-usage/historical": { "get": usage::by_key(usage::credit_history().to_value()) },
        "/v2/team/token-usage": { "get": usage::token_usage().to_value() },
        "/v2/team/token-usage/historical": { "get": usage::by_key(usage::token_history().to_value()) },
        "/v2/team/queue-status": { "get": usage::queue_status().to_value() },
        "/v2/concurrency-check": { "get": usage::concurrency_check().to_value() },
        "/v1/scrape": { "post": adapter::scrape_v1() },
        "/v1/search": { "post": adapter::search_v1() },
        "/v1/rerank": { "post": adapter::rerank().to_value() },
        "/search": { "get": adapter::search_searxng(), "post": adapter::search_external() },
        "/health": { "get": health().to_public_value() },
        "/ready": { "get": ready() },
        "/metrics": { "get": metrics() },
        "/openapi.json": { "get": openapi() },
        "/": { "get": welcome().to_public_value() },
    });
    job::add_batch(&mut paths);
    job::add_crawl(&mut paths);
    webhook::add(&mut paths);
    job::add_first_version(&mut paths);
    paths
}

fn search() -> Operation {
    Operation {
        id: "searchAndScrape",
        tag: "search",
        summary: "Searches, and scrapes the results when formats are asked for",
        description: "Answers with one list for each of the `sources`. With `scrapeOptions.formats`, each result \
            carries its page in those formats. A page that could not be had does not fail the search: its result \
            has `metadata.statusCode` and `metadata.error`, which begins with a code such as `SCRAPE_TIMEOUT`. \
            What could not be done but may be left out is told in `warning`.",
        body: Some(("SearchRequest", example::search_requests())),
        answer: ("SearchResponse", example::search_responses()),
        failures: &[
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
        ],
    }
}

fn add_documents() -> Operation {
    Operation {
        id: "addDocuments",
        tag: "index",
        summary: "Adds documents to the embedded index",
        description: "Each document replaces the older one of its URL, and is searchable within two seconds. \
            The index takes all or none; what a server beside it did not take is told.",
        body: Some(("IndexUpload", example::uploads())),
        answer: ("IndexReply", example::upload_replies()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Unavailable]],
    }
}

fn crawl_progress() -> Operation {
    Operation {
        id: "crawlProgress",
        tag: "index",
        summary: "Tells how far a crawl is that fills the index from elsewhere",
        description: "For the dashboard, which shows it. It is kept in memory alone, for ten minutes after the last word of \
            the crawl; every three seconds is often enough.",
        body: Some(("CrawlProgress", example::progress())),
        answer: ("ProgressReply", example::progress_replies()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody]],
    }
}

fn index_stats() -> Operation {
    Operation {
        id: "indexStats",
        tag: "index",
        summary: "Returns the figures of the embedded index",
        description: "What can be found now; documents that were just added are counted within two seconds.",
        body: None,
        answer: ("IndexStats", example::stats()),
        failures: &[KEYED, &[Failure::Unavailable]],
    }
}

fn health() -> Operation {
    Operation {
        id: "health",
        tag: "status",
        summary: "Tells that the process answers",
        description: "For supervisors that restart what does not answer.",
        body: None,
        answer: ("Health", example::health()),
        failures: &[],
    }
}

fn welcome() -> Operation {
    Operation {
        id: "welcome",
        tag: "status",
        summary: "Tells what this is",
        description: "For those who try the address in a browser.",
        body: None,
        answer: ("Welcome", example::welcome()),
        failures: &[],
    }
}

/// The one operation whose 503 is no failure of the request: its body has the same form as that of the 200.
fn ready() -> Value {
    let operation = Operation {
        id: "ready",
        tag: "status",
        summary: "Tells whether requests can be served",
        description: "For load balancers: 503 as long as a part does not answer, and while the service stops.",
        body: None,
        answer: ("Readiness", example::ready()),
        failures: &[],
    };
    let mut value = operation.to_public_value();
    value["responses"]["503"] =
        response::success("Requests cannot be served", "Readiness", &example::not_ready());
    value
}

/// The one operation whose answer is no JSON.
fn metrics() -> Value {
    json!({
        "operationId": "metrics",
        "tags": ["status"],
        "summary": "Returns the figures of the sources",
        "description": "Questions by outcome, latencies and states, as Prometheus reads them. A service that others \
                        than its own machine reach wants a key, except at the address of `server.metrics_listen`.",
        "security": [{}, { "bearer": [] }, { "apiKey": [] }],
        "responses": {
            "200": {
                "description": "Success",
                "headers": { "x-request-id": response::request_id() },
                "content": { "text/plain": { "schema": { "type": "string" } } },
            },
            Failure::Unauthorized.status().to_string(): Failure::Unauthorized.reference(),
        },
    })
}

/// The one operation whose answer has no schema of ours.
fn openapi() -> Value {
    json!({
        "operationId": "openapi",
        "tags": ["status"],
        "summary": "Returns this document",
        "description": "The OpenAPI 3.1 document of the service, the same for everybody.",
        "security": [],
        "responses": { "200": {
            "description": "Success",
            "headers": { "x-request-id": response::request_id() },
            "content": { "application/json": { "schema": {
                "type": "object",
                "required": ["openapi", "info", "paths"],
            } } },
        } },
    })
}

impl Operation {
    pub(super) fn to_value(&self) -> Value {
        let (schema, examples) = &self.answer;
        let mut responses = Map::new();
        let mut success = response::success("Success", schema, examples);
        if self.failures.concat().contains(&Failure::RateLimited) {
            response::add_rate(&mut success["headers"]);
        }
        responses.insert("200".to_owned(), success);
        for failure in self.failures.iter().copied().flatten() {
            responses.insert(failure.status().to_string(), failure.reference());
        }
        let mut value = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "description": self.description,
            "responses": responses,
        });
        if let Some((schema, examples)) = &self.body {
            value["requestBody"] =
                json!({ "required": true, "content": response::content(schema, examples) });
        }
        value
    }

    fn to_public_value(&self) -> Value {
        let mut value = self.to_value();
        value["security"] = json!([]);
        value
    }
}
