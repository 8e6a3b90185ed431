//! Section 4: the endpoint and its request body.

use serde_json::json;
use websvc_types::ViolationCode::*;

use crate::conformance::json::Raw;
use crate::conformance::row::{Row, body, row, search};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("4.1 method and path", "POST /v2/search; other methods are 405, other paths 404")
            .tested("websvc-server", "unknown_paths_and_methods_are_rejected")
            .tested("websvc-cli", "unsupported_media_types_paths_and_methods_are_rejected"),
        request_body(),
        row("4.1 media type", "application/json on requests with a body, otherwise 415")
            .tested("websvc-server", "json_media_type_may_have_parameters_and_a_suffix")
            .tested("websvc-cli", "unsupported_media_types_paths_and_methods_are_rejected"),
        row("4.1 rule 1", "without sources only web results")
            .at(search("sources"))
            .default(|plan| plan.sources.len(), 1)
            .tested("websvc-validate", "search_without_sources_uses_web"),
        row(
            "4.1 rule 2",
            "without formats, results have url, title and description; with markdown, each also has its markdown",
        )
        .tested("websvc-cli", "missing_formats_fetch_no_page_and_add_no_fields")
        .tested("websvc-cli", "results_have_the_requested_formats")
        .tested("websvc-validate", "search_without_formats_scrapes_nothing"),
        row("4.1 rule 3", "includeDomains and excludeDomains cannot be combined").at(body()).bad_in(
            json!({ "query": "q", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] }),
            &[("/excludeDomains", Conflict)],
        ),
        row("4.1 rule 4", "limit applies to each source separately")
            .tested("websvc-cli", "limit_applies_per_source"),
        null(),
        duplicate_field(),
        all_violations(),
        nested_paths(),
    ]
}

fn request_body() -> Row {
    row("4.1 request body", "required, a JSON object; invalid JSON is reported with line and column")
        .at(body())
        .ok(json!({ "query": "q" }))
        .bad(json!([]), InvalidType)
        .bad(json!([{ "query": "q" }]), InvalidType)
        .bad("q", InvalidType)
        .bad(json!(null), InvalidType)
        .malformed(Raw(""))
        .malformed(Raw("{"))
        .malformed(Raw("{'query': 'q'}"))
        .malformed(Raw("{\"query\": \"q\",}"))
        .malformed(Raw("{\"query\": \"q\"} x"))
        .malformed(Raw("{\"query\": \"\\ud800\"}"))
        .tested("websvc-validate", "invalid_json_is_reported_with_line_and_column")
        .tested("websvc-cli", "malformed_json_is_reported_with_its_line")
        .tested("websvc-cli", "body_over_the_limit_is_rejected")
}

fn null() -> Row {
    row("4.1 null", "an explicit null counts as absent for every optional field")
        .tested("websvc-validate", "null_counts_as_absent_for_every_optional_field")
        .tested("websvc-validate", "nulls_in_a_json_schema_are_kept")
}

fn duplicate_field() -> Row {
    row("4.1 duplicate field", "rejected, because its value is ambiguous (not specified)")
        .at(body())
        .bad_in(Raw(r#"{"query": "a", "query": "b"}"#), &[("/query", Conflict)])
        .bad_in(Raw(r#"{"query": "a", "limit": 1, "limit": null}"#), &[("/limit", Conflict)])
}

fn all_violations() -> Row {
    let everything = json!({
        "limit": 0, "country": "XX", "tbs": "week", "excludeDomains": ["https://a.example"],
        "scrapeOptions": { "timeout": 5, "formats": ["markdwon"], "redactPII": { "mod": "fast" } },
    });
    let rules = [
        ("/country", UnknownValue),
        ("/excludeDomains/0", InvalidFormat),
        ("/limit", TooSmall),
        ("/query", Missing),
        ("/scrapeOptions/formats/0", UnknownValue),
        ("/scrapeOptions/redactPII/mod", UnknownField),
        ("/scrapeOptions/timeout", TooSmall),
        ("/tbs", InvalidFormat),
    ];
    row(
        "4.1 all violations",
        "are in one response, at most 1000 (not specified), each with path, code, and a message that \
         names value and rule",
    )
    .at(body())
    .bad_in(everything, &rules)
    .tested("websvc-validate", "numbers_of_violations_and_warnings_are_limited")
    .tested("websvc-validate", "messages_begin_with_the_field_and_name_the_value")
    .tested("websvc-cli", "every_rule_violation_is_reported")
}

fn nested_paths() -> Row {
    let viewport = json!({ "type": "screenshot", "viewport": { "width": "x", "height": 0 } });
    let actions = json!([{ "type": "scrape" }, { "type": "click", "selector": 5 }]);
    row(
        "4.1 paths",
        "JSON Pointers (RFC 6901) into the body, also into nested objects, with indexes of the body as sent",
    )
    .at(body())
    .bad_in(
        json!({ "query": "q", "scrapeOptions": { "formats": ["links", viewport], "actions": actions } }),
        &[
            ("/scrapeOptions/actions/1/selector", InvalidType),
            ("/scrapeOptions/formats/1/viewport/height", TooSmall),
            ("/scrapeOptions/formats/1/viewport/width", InvalidType),
        ],
    )
    .bad_in(
        json!({ "query": "q", "sources": [7, "web", "alexandria", { "type": "news", "tbs": "x" }] }),
        &[("/sources/0", InvalidType), ("/sources/3/tbs", InvalidFormat)],
    )
    .bad_in(
        json!({ "query": "q", "scrapeOptions": { "headers": { "a/b~c": "x" , "d": 1 } } }),
        &[("/scrapeOptions/headers/a~1b~0c", InvalidFormat), ("/scrapeOptions/headers/d", InvalidType)],
    )
    .tested("websvc-validate", "violation_indexes_refer_to_the_body_as_sent")
    .tested("websvc-validate", "keys_are_escaped_in_pointers")
}
