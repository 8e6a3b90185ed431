//! The operations on one page, and on an uploaded file.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

pub(super) fn scrape() -> Value {
    let operation = Operation {
        id: "scrape",
        tag: "scrape",
        summary: "Gets one page",
        description: "Answers with the page in the `formats` that are asked for, markdown by default. A page that \
            answers 400 and above is a page, too: see `metadata.statusCode` and `metadata.error`. What could not be \
            done but may be left out is told in `warning`. A host that was not found is answered with status 200, \
            `success: false` and the code `SCRAPE_DNS_RESOLUTION_ERROR`, as official clients expect it.",
        body: Some(("ScrapeRequest", requests())),
        answer: ("ScrapeResponse", pages()),
        failures: &[
            KEYED,
            WITH_BODY,
            &[
                Failure::InvalidSearch,
                Failure::InsufficientCredits,
                Failure::PageForbidden,
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
        summary: "Returns the answer to a scrape once more",
        description: "By the `metadata.scrapeId` of the answer, to the same team, for an hour. Answers under zero or \
            anonymized data retention and under lockdown are not kept, and neither are very large ones.",
        body: None,
        answer: ("ScrapeResponse", pages()),
        failures: &[KEYED, &[Failure::InvalidParameter, Failure::Forbidden, Failure::NotFound]],
    };
    let mut value = operation.to_value();
    value["parameters"] = json!([{
        "name": "id",
        "in": "path",
        "required": true,
        "description": "The `metadata.scrapeId` of the answer",
        "schema": { "type": "string", "format": "uuid" },
        "example": REQUEST_ID,
    }]);
    value
}

pub(super) fn parse() -> Value {
    let operation = Operation {
        id: "parse",
        tag: "scrape",
        summary: "Reads an uploaded file",
        description: "Takes a file of at most 50 MB: PDF, office files, books, tables, web pages and text. What it is \
            is told by its first bytes, then by the media type of its part, then by the ending of its name. Answers as \
            a scrape; nothing goes to the cache or the index.",
        body: None,
        answer: ("ScrapeResponse", pages()),
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
                        "description": "The file, with its name.",
                    },
                    "options": { "$ref": "#/components/schemas/ParseOptions" },
                },
            },
            "encoding": { "options": { "contentType": "application/json" } },
        } },
    });
    value
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
        summary: "Lists the kinds of files that can be uploaded",
        description: "Kinds that are known and cannot be read are listed as not available.",
        body: None,
        answer: ("ParseFormats", vec![example("formats", "A kind of file", value)]),
        failures: &[KEYED],
    }
}

/// Adds the failure that is answered with status 200.
fn or_unknown_host(mut operation: Value) -> Value {
    let schema = &mut operation["responses"]["200"]["content"]["application/json"]["schema"];
    *schema = json!({ "anyOf": [schema.take(), { "$ref": "#/components/schemas/Error" }] });
    operation
}

fn requests() -> Vec<Example> {
    vec![
        example("plain", "A page as markdown", json!({ "url": "https://tea.example/green" })),
        example(
            "formats",
            "A page in several formats, from the cache if it is not older than an hour",
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
