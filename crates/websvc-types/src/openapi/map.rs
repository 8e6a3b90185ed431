//! The map in the document.

use serde_json::json;

use super::example::{Example, REQUEST_ID, example};
use super::operation::{KEYED, Operation, WITH_BODY};
use super::response::Failure;

/// How a map may end.
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

pub(super) fn map() -> Operation {
    Operation {
        id: "mapUrls",
        tag: "map",
        summary: "Lists the URLs of a site",
        description: "What the site's sitemaps and feeds name, the links of the start page, and what the index knows of the \
            site. With `search` they are ranked. What could not be read is told in `warning`.",
        body: Some(("MapRequest", requests())),
        answer: ("MapResponse", responses()),
        failures: FAILURES,
    }
}

pub(super) fn first_version() -> Operation {
    let request = json!({ "url": "https://tea.example", "sitemapOnly": true });
    let response = json!({ "success": true, "links": ["https://tea.example/green"] });
    Operation {
        id: "mapUrlsV1",
        tag: "map",
        summary: "Lists the URLs of a site, for clients of version 1",
        description: "As `POST /v2/map`, in the words of version 1: `sitemapOnly` and `ignoreSitemap` in place of \
            `sitemap`, and links that are plain URLs.",
        body: Some(("MapRequestV1", vec![example("sitemap", "The URLs of the sitemaps", request)])),
        answer: ("MapResponseV1", vec![example("links", "URLs", response)]),
        failures: FAILURES,
    }
}

fn requests() -> Vec<Example> {
    vec![
        example("plain", "The URLs of a site", json!({ "url": "https://tea.example" })),
        example(
            "ranked",
            "The URLs below a path, the best for some words first",
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
            "URLs, with titles where they are known",
            json!({ "success": true, "links": links, "id": REQUEST_ID, "creditsUsed": 1 }),
        ),
        example(
            "warning",
            "A sitemap could not be read",
            json!({ "success": true, "links": [green], "warning": warning, "id": REQUEST_ID, "creditsUsed": 1 }),
        ),
    ]
}
