//! Operations on single pages and uploaded files.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;
use crate::limits::UPLOAD_MAX_BYTES;

pub(super) fn scrape() -> Value {
    let operation = Operation {
        id: "scrape",
        tag: "scrape",
        summary: "Scrape a page",
        description: "Returns the page in the requested `formats`, markdown by default. A page with status 400 or above is a \
            result, too: see `metadata.statusCode` and `metadata.error`. Problems that did not fail the request are in \
            `warning`. If the host is not found, the response has status 200, `success: false` and the code \
            `SCRAPE_DNS_RESOLUTION_ERROR`, because official clients expect this.",
        body: Some(("ScrapeRequest", requests())),
        response: ("ScrapeResponse", pages()),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidPage,
                Failure::InsufficientCredits,
                Failure::MediumForbidden,
                Failure::NotCached,
                Failure::PageTimeout,
                Failure::ProfileLocked,
                Failure::PageFailed,
            ],
        ],
    };
    or_unknown_host(operation.to_value())
}

pub(super) fn scrape_result() -> Value {
    let operation = Operation {
        id: "scrapeResult",
        tag: "scrape",
        summary: "Get the response of a scrape again",
        description: "Returns the response with this `metadata.scrapeId` to the same team, for an hour. Responses under zero or \
            anonymized data retention or lockdown are not stored, nor are very large ones.",
        body: None,
        response: ("ScrapeResponse", pages()),
        failures: &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]],
    };
    let mut value = operation.to_value();
    value["parameters"] = json!([{
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The `metadata.scrapeId` of the response",
        "schema": { "type": "string", "format": "uuid" },
        "example": REQUEST_ID,
    }]);
    value
}

pub(super) fn scrape_result_v1() -> Value {
    let mut value = scrape_result();
    value["operationId"] = json!("scrapeResultV1");
    value["tags"] = json!(["adapters"]);
    value["summary"] = json!("Get the response of a scrape again, for clients of version 1");
    value["description"] = json!(
        "The same as `GET /v2/scrape/{id}`. Extracted data is in `json` and also in `extract`, its name in version 1."
    );
    value
}

pub(super) fn parse() -> Value {
    let operation = Operation {
        id: "parse",
        tag: "scrape",
        summary: "Convert an uploaded file",
        description: "Accepts a file of at most 50 MiB: PDF, office files, books, tables, web pages and text. The type is \
            detected by the first bytes, then by the media type of the part, then by the file name extension. The response \
            is that of a scrape. Nothing is stored in the cache or the index. The request carries the file itself, or in JSON the \
            `uploadRef` of a file that was sent to an upload URL.",
        body: None,
        response: ("ScrapeResponse", pages()),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidFile,
                Failure::InsufficientCredits,
                Failure::Forbidden,
                Failure::PageTimeout,
                Failure::PageFailed,
            ],
        ],
    };
    let mut value = operation.to_value();
    value["requestBody"] = json!({
        "required": true,
        "content": { "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {
                        "type": "string",
                        "contentMediaType": "application/octet-stream",
                        "description": "File to convert, with its file name.",
                    },
                    "options": { "$ref": "#/components/schemas/ParseOptions" },
                },
            },
            "encoding": { "options": { "contentType": "application/json" } },
        }, "application/json": { "schema": { "$ref": "#/components/schemas/ParseUploadRequest" } } },
    });
    value
}

pub(super) fn upload_url() -> Operation {
    let request = json!({ "filename": "report.pdf", "contentType": "application/pdf" });
    let upload_ref = "eyJ2IjoxLCJpZCI6IjAxOTM1MjhjIn0.n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg";
    let response = json!({ "success": true, "data": {
        "uploadUrl": format!("https://websvc.example/v2/parse/upload/0193528c?uploadRef={upload_ref}"),
        "uploadRef": upload_ref,
        "method": "PUT",
        "headers": { "Content-Type": "application/pdf" },
        "expiresAt": "2026-11-28T12:10:00Z",
        "maxSizeBytes": UPLOAD_MAX_BYTES,
    } });
    Operation {
        id: "uploadUrl",
        tag: "scrape",
        summary: "Get a URL to which a file can be sent before it is converted",
        description: "Send the file to `uploadUrl` within ten minutes, with `method` and `headers` and without an API key; the \
            body is the file itself. Then send its `uploadRef` to `POST /v2/parse`, which deletes the file. A URL takes one \
            file. A team can have ten such URLs whose files are not converted yet.",
        body: Some(("UploadUrlRequest", vec![example("pdf", "A PDF file", request)])),
        response: ("UploadUrlResponse", vec![example("url", "The URL for the file", response)]),
        failures: &[
            KEYED,
            WITH_BODY,
            &[Failure::InvalidBody, Failure::InsufficientCredits, Failure::Forbidden, Failure::UploadLimited],
        ],
    }
}

pub(super) fn parse_formats() -> Operation {
    let value = json!({ "success": true, "data": { "formats": [{
        "format": "pdf",
        "kind": "document",
        "extensions": ["pdf"],
        "mimeTypes": ["application/pdf"],
        "available": true,
    }] } });
    Operation {
        id: "parseFormats",
        tag: "scrape",
        summary: "List the file types that can be uploaded",
        description: "Known types that this installation cannot read are listed as not available.",
        body: None,
        response: ("ParseFormats", vec![example("formats", "A file type", value)]),
        failures: &[KEYED],
    }
}

/// Adds the failure that has status 200.
pub(super) fn or_unknown_host(mut operation: Value) -> Value {
    let schema = &mut operation["responses"]["200"]["content"]["application/json"]["schema"];
    *schema = json!({ "anyOf": [schema.take(), { "$ref": "#/components/schemas/Error" }] });
    operation
}

fn requests() -> Vec<Example> {
    vec![
        example("plain", "A page as markdown", json!({ "url": "https://tea.example/green" })),
        example(
            "formats",
            "A page in several formats, from the cache if it is at most an hour old",
            json!({
                "url": "https://tea.example/green",
                "formats": ["markdown", { "type": "links" }],
                "onlyMainContent": true,
                "maxAge": 3_600_000,
                "timeout": 30_000,
            }),
        ),
    ]
}

fn pages() -> Vec<Example> {
    let value = json!({
        "success": true,
        "data": {
            "markdown": "# Green tea\n\nGreen tea wants water of [seventy degrees](/water).\n",
            "metadata": {
                "title": "Green tea",
                "language": "en",
                "sourceURL": "https://tea.example/green",
                "url": "https://tea.example/green",
                "statusCode": 200,
                "contentType": "text/html",
                "proxyUsed": "basic",
                "cacheState": "miss",
                "scrapeId": REQUEST_ID,
                "creditsUsed": 1,
            },
        },
    });
    vec![example("page", "A page", value)]
}
