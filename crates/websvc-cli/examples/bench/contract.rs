//! Compares reading and validating a request with decoding the same bytes by serde_json alone.

use std::hint::black_box;

use serde_json::{Value, json};
use websvc_types::SearchRequest;
use websvc_validate::{Policy, read_request};

use crate::parts::microseconds;
use crate::report::Report;

/// Measures requests of two sizes.
pub(crate) fn read_requests(report: &mut Report) {
    for (name, body, goal) in [("typical", typical(), "under 2"), ("full", full(), "under 30")] {
        let bytes = body.to_string().into_bytes();
        let name = format!("{name} request of {} bytes", bytes.len());
        let read = microseconds(|| {
            assert!(read_request::<SearchRequest>(black_box(&bytes), &Policy::default()).is_ok());
        });
        let tree = microseconds(|| assert!(serde_json::from_slice::<Value>(black_box(&bytes)).is_ok()));
        let typed =
            microseconds(|| assert!(serde_json::from_slice::<SearchRequest>(black_box(&bytes)).is_ok()));
        report.number(&format!("read and validate a {name}"), read, "us", goal);
        report.ratio("  the same / serde_json to a Value", read / tree, "at most 2.0");
        report.ratio("  the same / serde_json to the type without validation", read / typed, "at most 2.0");
    }
}

/// Returns a typical request.
fn typical() -> Value {
    json!({
        "query": "how do I gather coroutines with asyncio",
        "limit": 10,
        "sources": ["web"],
        "origin": "js-sdk@4.42.0",
        "scrapeOptions": { "formats": ["markdown", { "type": "links" }], "onlyMainContent": true },
    })
}

/// Returns a very large request with most fields.
fn full() -> Value {
    let domains: Vec<String> = (0..40).map(|number| format!("site-number-{number}.example.com")).collect();
    let properties =
        json!({ "price": { "type": "number" }, "tags": { "type": "array", "items": { "type": "string" } } });
    json!({
        "query": "asyncio \"context manager\" (site:docs.python.org OR site:github.com) -video intitle:gather ".repeat(5),
        "limit": 50,
        "sources": [{ "type": "web", "tbs": "qdr:w", "location": "Berlin,Berlin,Germany" }, "news", "images"],
        "categories": ["github", { "type": "research" }],
        "includeDomains": domains,
        "tbs": "cdr:1,cd_min:01/01/2024,cd_max:12/31/2024",
        "location": "Germany",
        "country": "DE",
        "safe": true,
        "timeout": 30_000,
        "ignoreInvalidURLs": true,
        "origin": "python-sdk@4.55.0",
        "scrapeOptions": {
            "formats": [
                "markdown", "html", { "type": "links" },
                { "type": "screenshot", "fullPage": true, "quality": 80, "viewport": { "width": 1280, "height": 800 } },
                { "type": "json", "prompt": "the price", "schema": { "type": "object", "properties": properties } },
                { "type": "question", "question": "what is it about? ".repeat(40) },
            ],
            "onlyMainContent": true,
            "includeTags": ["main", "article > p", "#content .text"],
            "excludeTags": ["nav", ".ad", "footer"],
            "headers": { "Cookie": "a=b; c=d", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64)" },
            "waitFor": 100,
            "timeout": 30_000,
            "parsers": [{ "type": "pdf", "mode": "auto", "maxPages": 20 }],
            "actions": [
                { "type": "wait", "milliseconds": 500 },
                { "type": "click", "selector": "#accept" },
                { "type": "write", "text": "hello world" },
                { "type": "scroll", "direction": "down" },
            ],
            "location": { "country": "DE", "languages": ["de-DE", "en"] },
            "redactPII": { "mode": "accurate", "entities": ["EMAIL"], "replaceStyle": "mask" },
            "profile": { "name": "shop", "saveChanges": false },
        },
    })
}
