//! Operations of the document, and the table of paths.

use serde_json::{Map, Value, json};

use super::example::{self, Example};
use super::response::{self, Failure};
use super::{
    adapter, agent, extract, feedback, interact, job, llms_txt, map, monitor, page, team, usage, webhook,
};

/// Failures of every operation that requires a key.
pub(super) const KEYED: &[Failure] =
    &[Failure::Unauthorized, Failure::RateLimited, Failure::UnknownError, Failure::DatabaseUnavailable];

/// Additional failures of every operation with a request body.
pub(super) const WITH_BODY: &[Failure] =
    &[Failure::Timeout, Failure::PayloadTooLarge, Failure::UnsupportedMediaType];

/// Operation of the document.
pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) tag: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    /// Schema name and examples of the request body.
    pub(super) body: Option<(&'static str, Vec<Example>)>,
    /// Schema name and examples of the successful response.
    pub(super) response: (&'static str, Vec<Example>),
    /// Groups of failed responses.
    pub(super) failures: &'static [&'static [Failure]],
}

/// Returns the operations by path and method.
pub(super) fn paths() -> Value {
    let mut paths = json!({
        "/v2/search": { "post": search().to_value() },
        "/v2/map": { "post": map::map() },
        "/v1/map": { "post": map::map_v1() },
        "/v2/scrape": { "post": page::scrape() },
        "/v2/scrape/{id}": { "get": page::scrape_result() },
        "/v2/parse": { "post": page::parse() },
        "/v2/parse/formats": { "get": page::parse_formats().to_value() },
        "/v2/parse/upload-url": { "post": page::upload_url().to_value() },
        "/v2/index/documents": { "post": add_documents().to_value() },
        "/v2/index/progress": { "post": crawl_progress().to_value() },
        "/v2/index/stats": { "get": index_stats().to_value() },
        "/v2/team/credit-usage": { "get": usage::credit_usage().to_value() },
        "/v2/team/credit-usage/historical": { "get": usage::by_key(usage::credit_history().to_value()) },
        "/v2/team/token-usage": { "get": usage::token_usage().to_value() },
        "/v2/team/token-usage/historical": { "get": usage::by_key(usage::token_history().to_value()) },
        "/v2/team/queue-status": { "get": usage::queue_status().to_value() },
        "/v2/concurrency-check": { "get": usage::concurrency_check().to_value() },
        "/v2/team/activity": { "get": usage::team_activity() },
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
    monitor::add(&mut paths);
    interact::add(&mut paths);
    agent::add(&mut paths);
    extract::add(&mut paths);
    job::add_v1(&mut paths);
    feedback::add(&mut paths);
    llms_txt::add(&mut paths);
    usage::add_v1(&mut paths);
    team::add(&mut paths);
    paths["/v1/scrape/{id}"] = json!({ "get": page::scrape_result_v1() });
    paths
}

fn search() -> Operation {
    Operation {
        id: "searchAndScrape",
        tag: "search",
        summary: "Search, and scrape the results if formats are requested",
        description: "Returns one list of results per source. With `scrapeOptions.formats`, each result carries its page \
            in these formats. A page that cannot be scraped does not fail the search: its result has \
            `metadata.statusCode` and `metadata.error`, which begins with a code such as `SCRAPE_TIMEOUT`. Problems \
            that did not fail the request are in `warning`.",
        body: Some(("SearchRequest", example::search_requests())),
        response: ("SearchResponse", example::search_responses()),
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
        summary: "Add documents to the embedded index",
        description: "A document replaces the indexed document with the same URL, and is searchable within two seconds. \
            The index accepts all documents or none. If an additional server did not accept some, `warning` says so.",
        body: Some(("IndexUpload", example::uploads())),
        response: ("IndexReply", example::upload_replies()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody, Failure::Unavailable]],
    }
}

fn crawl_progress() -> Operation {
    Operation {
        id: "crawlProgress",
        tag: "index",
        summary: "Report the progress of a crawl that another process runs for the index",
        description: "The dashboard shows it. The service stores it in memory only, for ten minutes after the last report. \
            One report every three seconds is enough.",
        body: Some(("CrawlProgress", example::progress())),
        response: ("ProgressReply", example::progress_replies()),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidBody]],
    }
}

fn index_stats() -> Operation {
    Operation {
        id: "indexStats",
        tag: "index",
        summary: "Get statistics of the embedded index",
        description: "Counts searchable documents; new documents are counted within two seconds.",
        body: None,
        response: ("IndexStats", example::stats()),
        failures: &[KEYED, &[Failure::Unavailable]],
    }
}

fn health() -> Operation {
    Operation {
        id: "health",
        tag: "status",
        summary: "Check that the process responds",
        description: "For supervisors that restart a process that does not respond.",
        body: None,
        response: ("Health", example::health()),
        failures: &[],
    }
}

fn welcome() -> Operation {
    Operation {
        id: "welcome",
        tag: "status",
        summary: "Get name and version of the service",
        description: "For people who open the address in a browser.",
        body: None,
        response: ("Welcome", example::welcome()),
        failures: &[],
    }
}

/// Returns the operation `GET /ready`. Its 503 has the same body as its 200, unlike all other failures.
fn ready() -> Value {
    let operation = Operation {
        id: "ready",
        tag: "status",
        summary: "Check that the service can serve requests",
        description: "For load balancers: 503 while a required component is not available, and while the service shuts down.",
        body: None,
        response: ("Readiness", example::ready()),
        failures: &[],
    };
    let mut value = operation.to_public_value();
    value["responses"]["503"] =
        response::success("Requests cannot be served", "Readiness", &example::not_ready());
    value
}

/// Returns the operation `GET /metrics`, the only one whose response is not JSON.
fn metrics() -> Value {
    json!({
        "operationId": "metrics",
        "tags": ["status"],
        "summary": "Get the metrics of the service",
        "description": "Requests by outcome, durations and states, in the text format of Prometheus. A key is required unless \
                        the service listens on loopback only or the request comes to `server.metrics_listen`.",
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

/// Returns the operation `GET /openapi.json`, the only one whose response has no published schema.
fn openapi() -> Value {
    json!({
        "operationId": "openapi",
        "tags": ["status"],
        "summary": "Get this document",
        "description": "The OpenAPI 3.1 document of the service, the same for every caller.",
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
        let (schema, examples) = &self.response;
        let mut responses = Map::new();
        let mut success = response::success("Success", schema, examples);
        if self.failures.concat().contains(&Failure::RateLimited) {
            response::add_rate_limit(&mut success["headers"]);
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

    pub(super) fn to_public_value(&self) -> Value {
        let mut value = self.to_value();
        value["security"] = json!([]);
        value
    }
}
