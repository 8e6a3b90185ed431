//! Operations of maps.

use serde_json::{Value, json};

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::page::or_unknown_host;
use super::response::Failure;

/// Failures of a map.
const FAILURES: &[&[Failure]] = &[
    KEYED,
    WITH_BODY,
    &[
        Failure::InvalidBody,
        Failure::InsufficientCredits,
        Failure::MapForbidden,
        Failure::MapTimeout,
        Failure::MapFailed,
    ],
];

pub(super) fn map() -> Value {
    let operation = Operation {
        id: "mapUrls",
        tag: "map",
        summary: "List the URLs of a site",
        description: "Returns URLs from the sitemaps and feeds of the site, from the links of the start page, and from the \
            index. With `search`, they are ranked. Files that cannot be read are named in `warning`. If the host is not found, \
            the response has status 200, `success: false` and the code `SCRAPE_DNS_RESOLUTION_ERROR`, as that of a scrape.",
        body: Some(("MapRequest", requests())),
        response: ("MapResponse", responses()),
        failures: FAILURES,
    };
    or_unknown_host(operation.to_value())
}

pub(super) fn map_v1() -> Value {
    let request = json!({ "url": "https://tea.example", "sitemapOnly": true });
    let response = json!({ "success": true, "links": ["https://tea.example/green"] });
    let operation = Operation {
        id: "mapUrlsV1",
        tag: "map",
        summary: "List the URLs of a site, for clients of version 1",
        description: "The same as `POST /v2/map` in the format of version 1: `sitemapOnly` and `ignoreSitemap` instead of \
            `sitemap`, and plain URLs in `links`.",
        body: Some(("MapRequestV1", vec![example("sitemap", "URLs of the sitemaps", request)])),
        response: ("MapResponseV1", vec![example("links", "URLs", response)]),
        failures: FAILURES,
    };
    or_unknown_host(operation.to_value())
}

fn requests() -> Vec<Example> {
    vec![
        example("plain", "URLs of a site", json!({ "url": "https://tea.example" })),
        example(
            "ranked",
            "URLs below a path, ranked by words",
            json!({
                "url": "https://tea.example/guides",
                "search": "brew green tea",
                "limit": 20,
                "sitemap": "include",
                "includeSubdomains": false,
            }),
        ),
    ]
}

fn responses() -> Vec<Example> {
    let green = json!({ "url": "https://tea.example/green", "title": "Green tea" });
    let links =
        json!([{ "url": "https://tea.example/", "title": "Tea", "description": "All about tea." }, green]);
    let warning = "https://tea.example/old.xml responded with 404";
    vec![
        example(
            "links",
            "URLs, with titles if known",
            json!({ "success": true, "links": links, "id": REQUEST_ID, "creditsUsed": 1 }),
        ),
        example(
            "warning",
            "A sitemap could not be read",
            json!({ "success": true, "links": [green], "warning": warning, "id": REQUEST_ID, "creditsUsed": 1 }),
        ),
    ]
}
