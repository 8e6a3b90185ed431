//! Tests of types, names, required and unknown fields, and invalid JSON.

use serde_json::json;
use websvc_types::ViolationCode::*;
use websvc_types::job::BatchScrapeRequest;
use websvc_types::{ScrapeOptions, SearchRequest};
use websvc_validate::{Policy, Rejection, read_request};

use crate::support::{check, check_option, checked, plan, scrape_plan, violations};

#[test]
fn invalid_json_is_reported_with_line_and_column() {
    let table = [
        ("", 1, 0),
        ("{", 1, 1),
        ("{\"query\": }", 1, 11),
        ("{\n  \"query\": \"q\",\n}", 3, 1),
        ("{\"query\": \"q\"} x", 1, 16),
        ("\u{feff}{}", 1, 1),
    ];
    for (body, line, column) in table {
        match read_request::<SearchRequest>(body.as_bytes(), &Policy::default()) {
            Err(Rejection::Json { line: l, column: c, message }) => {
                assert_eq!((l, c), (line, column), "{body:?}: {message}");
                assert!(!message.contains("line"), "{message}");
            }
            other => panic!("{body:?}: {other:?}"),
        }
    }
    let not_utf8 = read_request::<SearchRequest>(b"{\"query\": \"\xff\"}", &Policy::default());
    assert!(matches!(not_utf8, Err(Rejection::Json { .. })), "{not_utf8:?}");
    let too_deep = "[".repeat(1000);
    assert!(matches!(
        read_request::<SearchRequest>(too_deep.as_bytes(), &Policy::default()),
        Err(Rejection::Json { .. })
    ));
}

#[test]
fn body_that_is_not_an_object_is_rejected() {
    for body in [json!(null), json!(1), json!("q"), json!([]), json!([{ "query": "q" }])] {
        check(&body, &[("", InvalidType)]);
    }
}

#[test]
fn wrong_type_message_names_the_expected_type() {
    let table = [
        (json!({ "query": 1 }), "/query", "query must be a string, not 1"),
        (json!({ "query": "q", "safe": "yes" }), "/safe", "safe must be true or false, not \"yes\""),
        (json!({ "query": "q", "limit": 1.5 }), "/limit", "limit must be an integer, not 1.5"),
        (json!({ "query": "q", "sources": "web" }), "/sources", "sources must be an array, not \"web\""),
        (
            json!({ "query": "q", "sources": [null] }),
            "/sources/0",
            "sources[0] must be one of web, images, news or an object, not null",
        ),
        (
            json!({ "query": "q", "scrapeOptions": { "redactPII": "yes" } }),
            "/scrapeOptions/redactPII",
            "redactPII must be true or false or an object, not \"yes\"",
        ),
        (
            json!({ "query": "q", "scrapeOptions": ["markdown"] }),
            "/scrapeOptions",
            "scrapeOptions must be an object, not an array",
        ),
    ];
    for (body, path, message) in table {
        let found = violations(&body);
        let found: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.code, v.message.as_str())).collect();
        assert_eq!(found, [(path, InvalidType, message)]);
    }
}

#[test]
fn unknown_value_message_suggests_a_similar_one() {
    let found = violations(&json!({ "query": "q", "scrapeOptions": { "formats": ["rawhtml"] } }));
    assert!(found[0].message.ends_with("not \"rawhtml\"; did you mean rawHtml?"), "{}", found[0].message);
    check_option("formats", &json!([{ "type": "attribute" }]), &[("formats/0/type", UnknownValue)]);
    check_option("formats", &json!([{}]), &[("formats/0/type", Missing)]);
    check_option("formats", &json!([{ "type": 1 }]), &[("formats/0/type", InvalidType)]);
    check_option("formats", &json!(["question"]), &[("formats/0/question", Missing)]);
    check_option("proxy", &json!("fast"), &[("proxy", UnknownValue)]);
}

#[test]
fn unknown_field_of_a_closed_object_is_an_error_with_a_suggestion() {
    check_option(
        "parsers",
        &json!([{ "type": "pdf", "maxPage": 3, "maxPages": 3 }]),
        &[("parsers/0/maxPage", UnknownField)],
    );
    check_option("redactPII", &json!({ "mod": "fast" }), &[("redactPII/mod", UnknownField)]);
    check_option("auditMetadata", &json!({ "username": "u", "x": 1 }), &[("auditMetadata/x", UnknownField)]);
    check_option(
        "actions",
        &json!([{ "type": "wait", "milliseconds": 1, "all": true }]),
        &[("actions/0/all", UnknownField)],
    );
    let found = violations(&json!({ "query": "q", "scrapeOptions": { "redactPII": { "mod": "fast" } } }));
    assert_eq!(
        found[0].message,
        "\"mod\" is not a known field; the known fields are entities, mode, replaceStyle; did you mean mode?"
    );
}

#[test]
fn unknown_field_of_an_open_object_is_ignored_with_a_warning() {
    let checked = checked(&json!({ "query": "q", "limits": 3, "scrapeOptions": { "format": ["markdown"] } }));
    assert_eq!(
        checked.warnings,
        [
            "the body: the unknown field \"limits\" was ignored; did you mean limit?",
            "scrapeOptions: the unknown field \"format\" was ignored; did you mean formats?",
        ]
    );
    assert_eq!(checked.plan.limit, 10);
}

#[test]
fn null_counts_as_absent() {
    let plan = plan(&json!({
        "query": "q", "limit": null, "includeDomains": null, "threatProtection": null,
        "sources": [{ "type": "web", "tbs": null }],
        "scrapeOptions": { "formats": [{ "type": "changeTracking", "tag": null }, "markdown"], "headers": { "a": null } },
    }));
    assert_eq!(plan.limit, 10);
    assert!(plan.scrape.is_some_and(|scrape| scrape.headers.is_empty()));
    check(&json!({ "query": null }), &[("/query", Missing)]);
    check_option("profile", &json!({ "name": null }), &[("profile/name", Missing)]);
}

#[test]
fn empty_object_in_place_of_a_list_counts_as_absent() {
    let checked = checked(&json!({
        "query": "q", "sources": {}, "categories": {}, "includeDomains": {}, "excludeDomains": {}, "enterprise": {},
        "scrapeOptions": {
            "formats": ["markdown", { "type": "changeTracking", "modes": {} }], "actions": {}, "parsers": {},
            "includeTags": {}, "excludeTags": {}, "location": { "languages": {} }, "redactPII": { "entities": {} },
        },
    }));
    assert_eq!(checked.warnings, Vec::<String>::new());
    assert!(checked.plan.scrape.is_some_and(|scrape| scrape.actions.is_empty()));
    let formats = json!({ "query": "q", "scrapeOptions": { "formats": {} } });
    assert_eq!(plan(&formats).scrape, None);
    // An object with fields is a mistake, and so is an empty one in place of anything else.
    check(&json!({ "query": "q", "sources": { "type": "web" } }), &[("/sources", InvalidType)]);
    check(&json!({ "query": {} }), &[("/query", InvalidType)]);
    check(&json!({ "query": "q", "sources": [{}] }), &[("/sources/0/type", Missing)]);
    let batch = read_request::<BatchScrapeRequest>(br#"{ "urls": {} }"#, &Policy::default()).unwrap_err();
    let Rejection::Invalid(violations) = batch else { panic!("{batch:?}") };
    assert_eq!((violations[0].path.as_str(), violations[0].code), ("/urls", Missing));
}

#[test]
fn nulls_in_a_json_schema_are_kept() {
    let plan = scrape_plan(json!({ "redactPII": true }));
    assert!(plan.redact_pii.is_some());
    let body = json!({ "formats": [{ "type": "json", "schema": { "const": null } }] });
    let plan = read_request::<ScrapeOptions>(body.to_string().as_bytes(), &Policy::default()).unwrap().plan;
    let format = serde_json::to_value(&plan.formats[0]).unwrap();
    assert_eq!(format, json!({ "type": "json", "schema": { "const": null } }));
}

#[test]
fn integer_written_as_float_is_accepted() {
    assert_eq!(plan(&json!({ "query": "q", "limit": 2.0 })).limit, 2);
    check(&json!({ "query": "q", "limit": 2.1 }), &[("/limit", InvalidType)]);
}

#[test]
fn keys_are_escaped_in_pointers() {
    check_option("redactPII", &json!({ "a/b~c": 1 }), &[("redactPII/a~1b~0c", UnknownField)]);
}

#[test]
fn numbers_of_violations_and_warnings_are_limited() {
    let found = violations(&json!({ "query": "q", "sources": vec![0; 5000] }));
    assert_eq!(found.len(), 1001);
    assert_eq!(found[1000].message, "4000 further violations are not listed");
    let mut body = json!({ "query": "q" });
    for key in 0..5000 {
        body[format!("unknown{key}")] = json!(1);
    }
    let warnings = checked(&body).warnings;
    assert_eq!(warnings.len(), 51);
    assert_eq!(warnings[50], "4950 further warnings are not listed");
    let long = violations(&json!({ "query": "q", "sources": ["x".repeat(100_000)] }));
    assert!(long[0].message.len() < 200, "{}", long[0].message);
}

#[test]
fn violations_of_scrape_options_have_paths_from_the_body() {
    let rejection = read_request::<ScrapeOptions>(br#"{"timeout": 1, "formats": ["x"]}"#, &Policy::default())
        .unwrap_err();
    let Rejection::Invalid(violations) = rejection else { panic!("{rejection:?}") };
    assert_eq!(violations.iter().map(|v| v.path.as_str()).collect::<Vec<_>>(), ["/formats/0", "/timeout"]);
}

#[test]
fn duplicate_field_is_a_conflict() {
    for (body, expected) in [
        (r#"{"query":"a","query":"b"}"#, "/query"),
        (
            r#"{"query":"a","scrapeOptions":{"timeout":1000,"formats":[],"timeout":null}}"#,
            "/scrapeOptions/timeout",
        ),
        (r#"{"query":"a","scrapeOptions":{"headers":{"x":"1","x":"1"}}}"#, "/scrapeOptions/headers/x"),
    ] {
        let Err(Rejection::Invalid(violations)) =
            read_request::<SearchRequest>(body.as_bytes(), &Policy::default())
        else {
            panic!("{body} is accepted");
        };
        let found: Vec<(&str, _)> = violations.iter().map(|v| (v.path.as_str(), v.code)).collect();
        assert_eq!(found, [(expected, Conflict)], "{body}");
    }
    assert!(
        read_request::<SearchRequest>(br#"{"query":"a","unheard":1,"unheard":2}"#, &Policy::default())
            .is_ok()
    );
}
