//! Operations on jobs.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

/// Failures of the operations that start a job.
const START: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidSearch,
        Failure::InsufficientCredits,
        Failure::Forbidden,
        Failure::NotFound,
        Failure::JobConflict,
    ],
];

/// Failures of the operations that read a job.
const READ: &[&[Failure]] = &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]];

/// Failures of the operations that cancel a job.
const CANCEL: &[&[Failure]] =
    &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound, Failure::JobConflict]];

/// Adds the operations of a batch to the paths.
pub(super) fn add_batch(paths: &mut Value) {
    let path = "/v2/batch/scrape";
    paths[path] = json!({ "post": with_links(with_idempotency(start_batch().to_value()), "Batch") });
    paths[format!("{path}/{{id}}")] = json!({
        "get": with_range(with_id(status("getBatch", "batch/scrape").to_value())),
        "delete": with_id(cancel("cancelBatch").to_value()),
    });
    paths[format!("{path}/{{id}}/errors")] = json!({ "get": with_id(errors("getBatchErrors").to_value()) });
}

/// Adds the operations of a crawl to the paths.
pub(super) fn add_crawl(paths: &mut Value) {
    let path = "/v2/crawl";
    paths[path] = json!({ "post": with_links(with_idempotency(start_crawl().to_value()), "Crawl") });
    paths[format!("{path}/{{id}}")] = json!({
        "get": with_range(with_id(status("getCrawl", "crawl").to_value())),
        "delete": with_id(cancel("cancelCrawl").to_value()),
    });
    paths[format!("{path}/{{id}}/errors")] = json!({ "get": with_id(errors("getCrawlErrors").to_value()) });
    paths[format!("{path}/params-preview")] = json!({ "post": crawl_params().to_value() });
    paths[format!("{path}/active")] = json!({ "get": active("activeCrawls").to_value() });
    paths[format!("{path}/ongoing")] = json!({ "get": active("ongoingCrawls").to_value() });
}

/// Adds the job operations of version 1, which are those of version 2 with other paths.
pub(super) fn add_v1(paths: &mut Value) {
    let operations_v1: Vec<(String, Value)> = paths
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(path, operations)| {
            let rest = path.strip_prefix("/v2/").filter(|rest| is_job(rest))?;
            // Examples contain URLs of the operations.
            let text = operations.to_string().replace("/v2/", "/v1/");
            let mut operations: Value =
                serde_json::from_str(&text).expect("text written by serde_json is valid JSON");
            for operation in operations.as_object_mut().into_iter().flatten().map(|(_, operation)| operation)
            {
                append(&mut operation["operationId"], "V1");
                append(&mut operation["summary"], ", for clients of version 1");
                for link in links(operation) {
                    append(&mut link["operationId"], "V1");
                }
                operation["tags"] = json!(["adapters"]);
            }
            Some((format!("/v1/{rest}"), operations))
        })
        .collect();
    for (path, operations) in operations_v1 {
        paths[path] = operations;
    }
}

fn append(text: &mut Value, after: &str) {
    *text = json!(format!("{}{after}", text.as_str().unwrap_or_default()));
}

/// Returns the links of all responses of an operation.
fn links(operation: &mut Value) -> impl Iterator<Item = &mut Value> {
    let responses = operation["responses"].as_object_mut().into_iter().flatten();
    responses
        .filter_map(|(_, response)| response.get_mut("links")?.as_object_mut())
        .flat_map(|links| links.iter_mut().map(|(_, link)| link))
}

fn is_job(path: &str) -> bool {
    // Version 1 has no prompts.
    path != "crawl/params-preview"
        && ["crawl", "batch/scrape"].iter().any(|kind| path == *kind || path.starts_with(&format!("{kind}/")))
}

fn start_crawl() -> Operation {
    Operation {
        id: "startCrawl",
        tag: "jobs",
        summary: "Start a crawl: scrape the pages of a site",
        description: "Responds at once. The pages are found and scraped in the background, also across a restart of the \
            service. Each page is scraped once and costs what a scrape costs. The crawl obeys robots.txt.",
        body: Some((
            "CrawlRequest",
            vec![example(
                "docs",
                "The documentation of a site",
                json!({
                    "url": "https://tea.test/docs/",
                    "limit": 100,
                    "excludePaths": ["/old/"],
                    "scrapeOptions": { "formats": ["markdown"] },
                }),
            )],
        )),
        response: (
            "JobStarted",
            vec![example(
                "started",
                "The job has started",
                json!({
                    "success": true,
                    "id": REQUEST_ID,
                    "url": format!("https://websvc.test/v2/crawl/{REQUEST_ID}"),
                }),
            )],
        ),
        failures: START,
    }
}

fn crawl_params() -> Operation {
    Operation {
        id: "previewCrawlParams",
        tag: "jobs",
        summary: "Preview the options that the prompt of a crawl sets",
        description: "Crawls nothing and costs no credits. A language model reads the prompt; without one, simple rules do, and \
            `warning` says so.",
        body: Some((
            "CrawlParamsRequest",
            vec![example(
                "sections",
                "Two sections of a site",
                json!({ "url": "https://tea.test/", "prompt": "only the blog and the docs, up to 50 pages" }),
            )],
        )),
        response: (
            "CrawlParamsResponse",
            vec![example(
                "options",
                "Options for the prompt",
                json!({
                    "success": true,
                    "data": {
                        "url": "https://tea.test/",
                        "includePaths": ["blog/.*", "/blog$", "docs/.*", "/docs$"],
                        "limit": 50,
                    },
                }),
            )],
        ),
        failures: &[KEYED, WITH_BODY, &[Failure::InvalidSearch, Failure::Forbidden]],
    }
}

fn active(id: &'static str) -> Operation {
    Operation {
        id,
        tag: "jobs",
        summary: "List the running crawls of the team",
        description: "Lists the crawls, the oldest first.",
        body: None,
        response: (
            "ActiveCrawls",
            vec![example(
                "one",
                "One running crawl",
                json!({
                    "success": true,
                    "crawls": [{
                        "id": REQUEST_ID,
                        "teamId": "default",
                        "url": "https://tea.test/docs/",
                        "created_at": "2026-11-22T12:30:00.000Z",
                        "options": { "url": "https://tea.test/docs/", "limit": 100 },
                    }],
                }),
            )],
        ),
        failures: &[KEYED, &[Failure::Forbidden]],
    }
}

fn start_batch() -> Operation {
    Operation {
        id: "startBatch",
        tag: "jobs",
        summary: "Start a batch: scrape a list of pages",
        description: "Responds at once. The pages are scraped in the background, also across a restart of the service. Each \
            page is scraped once and costs what a scrape costs.",
        body: Some((
            "BatchScrapeRequest",
            vec![example(
                "list",
                "Two pages as markdown",
                json!({ "urls": ["https://tea.test/green", "https://tea.test/oolong"], "formats": ["markdown"] }),
            )],
        )),
        response: (
            "JobStarted",
            vec![example(
                "started",
                "The job has started",
                json!({
                    "success": true,
                    "id": REQUEST_ID,
                    "url": format!("https://websvc.test/v2/batch/scrape/{REQUEST_ID}"),
                    "invalidURLs": [],
                }),
            )],
        ),
        failures: START,
    }
}

fn status(id: &'static str, path: &str) -> Operation {
    Operation {
        id,
        tag: "jobs",
        summary: "Get the state of a job and its documents",
        description: "Returns documents in the order of their completion, at most 100, and at most 10 MiB. `next` is present \
            only if further documents are available now; poll a running job again after a while. A WebSocket handshake \
            (`Upgrade: websocket`, with the key in `Authorization` or as the subprotocol) gets 101. The service then sends \
            text frames of JSON: `catchup`, one `document` per further document, and `status` at the end.",
        body: None,
        response: ("JobStatus", statuses(path)),
        failures: READ,
    }
}

fn cancel(id: &'static str) -> Operation {
    Operation {
        id,
        tag: "jobs",
        summary: "Cancel a job",
        description: "The documents of the job stay available. Pages in flight are not charged.",
        body: None,
        response: (
            "JobCancelled",
            vec![example(
                "cancelled",
                "The job is cancelled",
                json!({ "success": true, "status": "cancelled" }),
            )],
        ),
        failures: CANCEL,
    }
}

fn errors(id: &'static str) -> Operation {
    let failure = json!({
        "id": format!("{REQUEST_ID}-7"),
        "timestamp": "2026-11-22T12:30:00.000Z",
        "url": "https://gone.test/",
        "code": "SCRAPE_DNS_RESOLUTION_ERROR",
        "error": "the host name gone.test could not be resolved",
    });
    Operation {
        id,
        tag: "jobs",
        summary: "List the failed pages of a job",
        description: "Lists at most 10000 pages, in the order of their failure.",
        body: None,
        response: (
            "JobErrors",
            vec![example(
                "errors",
                "One host does not exist, robots.txt disallows one page",
                json!({ "success": true, "errors": [failure], "robotsBlocked": ["https://tea.test/private"] }),
            )],
        ),
        failures: READ,
    }
}

fn statuses(path: &str) -> Vec<Example> {
    let document = json!({
        "markdown": "# Green tea",
        "metadata": { "title": "Green tea", "sourceURL": "https://tea.test/green", "statusCode": 200 },
    });
    let next = format!("https://websvc.test/v2/{path}/{REQUEST_ID}?skip=1");
    vec![
        example(
            "running",
            "A running job with further documents",
            json!({
                "success": true,
                "status": "scraping",
                "completed": 2,
                "total": 3,
                "creditsUsed": 2,
                "expiresAt": "2026-11-23T12:30:00.000Z",
                "next": next,
                "data": [document],
                "createdAt": "2026-11-22T12:30:00.000Z",
            }),
        ),
        example(
            "completed",
            "A completed job",
            json!({
                "success": true,
                "status": "completed",
                "completed": 1,
                "total": 1,
                "creditsUsed": 1,
                "expiresAt": "2026-11-23T12:30:02.500Z",
                "data": [document],
                "createdAt": "2026-11-22T12:30:00.000Z",
                "completedAt": "2026-11-22T12:30:02.500Z",
                "duration": 2.5,
            }),
        ),
    ]
}

pub(super) fn add_parameters(operation: &mut Value, parameters: Vec<Value>) {
    let list = &mut operation["parameters"];
    if !list.is_array() {
        *list = json!([]);
    }
    if let Some(list) = list.as_array_mut() {
        list.extend(parameters);
    }
}

fn with_id(operation: Value) -> Value {
    with_uuid(operation, "id", "ID of the job")
}

/// Adds a parameter of the path that is a UUID.
pub(super) fn with_uuid(mut operation: Value, name: &str, description: &str) -> Value {
    let parameter = json!({
        "name": name, "in": "path", "required": true, "description": description,
        "schema": { "type": "string", "format": "uuid" },
    });
    add_parameters(&mut operation, vec![parameter]);
    operation
}

/// Adds links to the operations on the started job.
fn with_links(mut operation: Value, kind: &str) -> Value {
    let link =
        |operation: String| json!({ "operationId": operation, "parameters": { "id": "$response.body#/id" } });
    operation["responses"]["200"]["links"] = json!({
        "status": link(format!("get{kind}")),
        "errors": link(format!("get{kind}Errors")),
        "cancel": link(format!("cancel{kind}")),
    });
    operation
}

fn with_range(mut operation: Value) -> Value {
    let number = |name: &str, description: &str, schema: Value| json!({ "name": name, "in": "query", "required": false, "description": description, "schema": schema });
    add_parameters(
        &mut operation,
        vec![
            // Without maximums: larger numbers count as the largest ones that matter.
            number(
                "skip",
                "Number of documents to skip",
                json!({ "type": "integer", "minimum": 0, "default": 0 }),
            ),
            number(
                "limit",
                "Maximum number of documents; more than 100 counts as 100",
                json!({ "type": "integer", "minimum": 1, "default": 100 }),
            ),
        ],
    );
    operation
}

fn with_idempotency(mut operation: Value) -> Value {
    add_parameters(
        &mut operation,
        vec![json!({
            "name": "x-idempotency-key",
            "in": "header",
            "required": false,
            "description": "Any text, unique per job. A second request with the same text is rejected while the job of the first is stored",
            "schema": { "type": "string", "maxLength": 256 },
        })],
    );
    operation
}
