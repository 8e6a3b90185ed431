//! Section 4: the endpoint, and how its body is read.

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
        row("4.1 media type", "application/json on requests with a body, else 415")
            .tested("websvc-server", "json_media_type_may_have_parameters_and_a_suffix")
            .tested("websvc-cli", "unsupported_media_types_paths_and_methods_are_rejected"),
        row("4.1 rule 1", "without sources only web results")
            .at(search("sources"))
            .default(|plan| plan.sources().len(), 1)
            .tested("websvc-validate", "no_sources_mean_web"),
        row(
            "4.1 rule 2",
            "without formats results are url, title and description; with markdown each carries its markdown",
        )
        .tested("websvc-cli", "missing_formats_fetch_no_page_and_add_no_fields")
        .tested("websvc-cli", "results_have_the_requested_formats")
        .tested("websvc-validate", "results_are_scraped_only_when_formats_are_asked_for"),
        row("4.1 rule 3", "includeDomains and excludeDomains not together").at(body()).bad_in(
            json!({ "query": "q", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] }),
            &[("/excludeDomains", Conflict)],
        ),
        row("4.1 rule 4", "limit counts for each source by itself")
            .tested("websvc-cli", "limit_applies_per_source"),
        null(),
        given_twice(),
        all_at_once(),
        nested_paths(),
    ]
}

fn request_body() -> Row {
    row("4.1 request body", "required, a JSON object; what is no JSON is told with line and column")
        .at(body())
        .ok(json!({ "query": "q" }))
        .bad(json!([]), InvalidType)
        .bad(json!([{ "query": "q" }]), InvalidType)
        .bad("q", InvalidType)
        .bad(json!(null), InvalidType)
        .unreadable(Raw(""))
        .unreadable(Raw("{"))
        .unreadable(Raw("{'query': 'q'}"))
        .unreadable(Raw("{\"query\": \"q\",}"))
        .unreadable(Raw("{\"query\": \"q\"} x"))
        .unreadable(Raw("{\"query\": \"\\ud800\"}"))
        .tested("websvc-validate", "what_is_no_json_is_told_with_line_and_column")
        .tested("websvc-cli", "malformed_json_is_reported_with_its_line")
        .tested("websvc-cli", "body_over_the_limit_is_rejected")
}

fn null() -> Row {
    row("4.1 null", "an explicit null is a field that is not given, wherever the field is optional")
        .tested("websvc-validate", "a_null_is_as_if_not_given_for_every_optional_field")
        .tested("websvc-validate", "nulls_in_a_callers_own_schema_stay")
}

fn given_twice() -> Row {
    row("4.1 field given twice", "refused: nobody can tell which value is meant (our own)")
        .at(body())
        .bad_in(Raw(r#"{"query": "a", "query": "b"}"#), &[("/query", Conflict)])
        .bad_in(Raw(r#"{"query": "a", "limit": 1, "limit": null}"#), &[("/limit", Conflict)])
}

fn all_at_once() -> Row {
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
        "come in one answer, at most 1000 (our own), each with place, code, and a message that \
         names value and rule",
    )
    .at(body())
    .bad_in(everything, &rules)
    .tested("websvc-validate", "a_body_full_of_mistakes_gets_an_answer_of_bounded_size")
    .tested("websvc-validate", "every_message_begins_with_the_field_and_names_the_value")
    .tested("websvc-cli", "every_rule_violation_is_reported")
}

fn nested_paths() -> Row {
    let viewport = json!({ "type": "screenshot", "viewport": { "width": "x", "height": 0 } });
    let actions = json!([{ "type": "scrape" }, { "type": "click", "selector": 5 }]);
    row(
        "4.1 places",
        "a JSON Pointer (RFC 6901) into the body, into nested objects and with the index in the body as sent",
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
    .tested("websvc-validate", "indexes_are_those_of_the_body_and_count_as_numbers")
    .tested("websvc-validate", "keys_are_escaped_in_paths")
}
