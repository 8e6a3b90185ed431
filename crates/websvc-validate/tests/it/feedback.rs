//! Feedback on results.

use std::fmt::Debug;

use serde_json::{Value, json};
use websvc_types::feedback::{FeedbackEndpoint, FeedbackRating, FeedbackRequest, SearchFeedbackRequest};
use websvc_types::llms_txt::LlmsTxtRequest;
use websvc_types::schema;
use websvc_validate::{Checked, Rejection, Request, read_request};

const ID: &str = "019ab1c2-7d3e-7f40-8a51-6b2c3d4e5f60";

#[track_caller]
fn check<R>(body: &Value, expected: &[&str])
where
    R: for<'a> Request<Context<'a> = ()>,
    R::Plan: Debug,
{
    let found: Vec<String> = match read_request::<R>(body.to_string().as_bytes(), ()) {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => {
            violations.into_iter().map(|violation| violation.path).collect()
        }
        Err(other) => panic!("{body}: {other:?}"),
    };
    assert_eq!(found, expected, "{body}");
}

#[track_caller]
fn check_search(body: &Value, expected: &[&str]) {
    check::<SearchFeedbackRequest>(body, expected);
}

/// Returns true if the published schema accepts a body.
fn is_in_schema(body: &Value) -> bool {
    let schema = schema::request::<FeedbackRequest>().to_value();
    let validator = jsonschema::draft202012::new(&schema).expect("the published schema is valid");
    validator.is_valid(body)
}

/// Checks feedback on a scrape with these additional fields.
#[track_caller]
fn check_field(fields: &Value, expected: &[&str]) {
    let mut body = json!({ "endpoint": "scrape", "jobId": ID, "rating": "bad" });
    for (name, value) in fields.as_object().expect("the fields are an object") {
        body[name] = value.clone();
    }
    check::<FeedbackRequest>(&body, expected);
    if expected.is_empty() {
        assert!(is_in_schema(&body), "the published schema rejects {body}");
    }
}

#[test]
fn rating_of_a_search_needs_its_substance() {
    let sources = json!([{ "url": "https://a.test/", "reason": "complete" }, { "url": "b.test" }]);
    let missing = json!([{ "topic": "prices" }]);
    check_search(&json!({ "rating": "good" }), &["/valuableSources"]);
    check_search(&json!({ "rating": "good", "missingContent": missing }), &["/valuableSources"]);
    check_search(&json!({ "rating": "good", "valuableSources": sources }), &[]);
    check_search(&json!({ "rating": "partial", "querySuggestions": "q" }), &["/valuableSources"]);
    check_search(&json!({ "rating": "partial", "missingContent": missing }), &[]);
    check_search(&json!({ "rating": "partial", "valuableSources": sources }), &[]);
    check_search(&json!({ "rating": "bad", "valuableSources": sources }), &["/missingContent"]);
    check_search(&json!({ "rating": "bad", "querySuggestions": " " }), &["/missingContent"]);
    check_search(
        &json!({ "rating": "bad", "querySuggestions": "q", "origin": "cli", "integration": null }),
        &[],
    );
}

#[test]
fn feedback_on_a_search_has_bounds_and_known_fields_only() {
    check_search(&json!({}), &["/rating"]);
    check_search(&json!({ "rating": "great" }), &["/rating"]);
    let good = |field: &str, value: Value| json!({ "rating": "good", "valuableSources": [{ "url": "http://a.test/" }], field: value });
    check_search(&good("note", json!("x")), &["/note"]);
    let topic = |length: usize| json!({ "topic": "t".repeat(length) });
    check_search(&good("missingContent", json!(vec![topic(200); 20])), &[]);
    check_search(&good("missingContent", json!(vec![topic(200); 21])), &["/missingContent"]);
    check_search(
        &good("missingContent", json!([topic(201), topic(0)])),
        &["/missingContent/0/topic", "/missingContent/1/topic"],
    );
    check_search(
        &good("missingContent", json!([{ "topic": "t", "description": "d".repeat(2001) }])),
        &["/missingContent/0/description"],
    );
    check_search(&good("missingContent", json!([{ "description": "d" }])), &["/missingContent/0/topic"]);
    check_search(&good("querySuggestions", json!("é".repeat(2000))), &[]);
    check_search(&good("querySuggestions", json!("é".repeat(2001))), &["/querySuggestions"]);
    let source = json!({ "url": "ftp://a.test/", "reason": "r".repeat(1001), "rank": 1 });
    check_search(
        &json!({ "rating": "good", "valuableSources": [source] }),
        &["/valuableSources/0/rank", "/valuableSources/0/reason", "/valuableSources/0/url"],
    );
    let many = json!(vec![json!({ "url": "http://a.test/" }); 51]);
    check_search(&json!({ "rating": "good", "valuableSources": many }), &["/valuableSources"]);
    let large = json!(vec![json!({ "url": format!("http://a.test/{}", "x".repeat(8000)) }); 9]);
    check_search(&json!({ "rating": "good", "valuableSources": large }), &[""]);
}

#[test]
fn feedback_on_a_result_needs_more_than_a_rating() {
    check_field(&json!({}), &["/note"]);
    check_field(&json!({ "url": "http://a.test/", "note": "  ", "issues": [] }), &["/note"]);
    for field in [
        json!({ "issues": ["missing_table", "x-1"] }),
        json!({ "tags": ["t"] }),
        json!({ "note": "cut off" }),
        json!({ "valuableSources": [{ "url": "http://a.test/" }] }),
        json!({ "missingContent": [{ "topic": "t" }] }),
        json!({ "querySuggestions": "q" }),
        json!({ "pageNumbers": [1, 7] }),
        json!({ "metadata": { "depth": { "a": [null] } } }),
    ] {
        check_field(&field, &[]);
    }
}

#[test]
fn feedback_on_a_search_needs_the_same_content_in_both_operations() {
    let (sources, missing) = (json!([{ "url": "http://a.test/" }]), json!([{ "topic": "t" }]));
    for (content, expected) in [
        (json!({ "rating": "good", "note": "n" }), &["/valuableSources"][..]),
        (json!({ "rating": "partial", "issues": ["x"], "querySuggestions": "q" }), &["/valuableSources"]),
        (json!({ "rating": "bad", "tags": ["x"], "valuableSources": sources }), &["/missingContent"]),
        (json!({ "rating": "good" }), &["/note"]),
        (json!({ "rating": "good", "valuableSources": sources }), &[]),
        (json!({ "rating": "partial", "missingContent": missing, "note": "n" }), &[]),
        (json!({ "rating": "bad", "querySuggestions": "q" }), &[]),
        (json!({ "rating": "good", "valuableSources": 7, "note": "n" }), &["/valuableSources"]),
    ] {
        let mut body = json!({ "endpoint": "search", "jobId": ID });
        body.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        check::<FeedbackRequest>(&body, expected);
    }
}

#[test]
fn feedback_on_a_result_has_bounds_and_known_fields_only() {
    check::<FeedbackRequest>(&json!({}), &["/endpoint", "/jobId", "/rating"]);
    let unknown = json!({ "endpoint": "crawl", "jobId": ID, "rating": "good", "note": "n" });
    check::<FeedbackRequest>(&unknown, &["/endpoint"]);
    let no_uuid = json!({ "endpoint": "map", "jobId": "7", "rating": "good", "note": "n" });
    check::<FeedbackRequest>(&no_uuid, &["/jobId"]);
    check_field(
        &json!({ "issues": ["Missing", "", "x".repeat(81)] }),
        &["/issues/0", "/issues/1", "/issues/2"],
    );
    check_field(&json!({ "tags": vec!["t"; 21] }), &["/tags"]);
    check_field(&json!({ "note": "n".repeat(4001) }), &["/note"]);
    check_field(&json!({ "missingContent": vec![json!({ "topic": "t" }); 50] }), &[]);
    check_field(&json!({ "missingContent": vec![json!({ "topic": "t" }); 51] }), &["/missingContent"]);
    check_field(&json!({ "note": "n", "url": "javascript:alert(1)" }), &["/url"]);
    check_field(&json!({ "pageNumbers": [0, 1] }), &["/pageNumbers/0"]);
    check_field(&json!({ "pageNumbers": vec![1; 101] }), &["/pageNumbers"]);
    check_field(&json!({ "metadata": { "a": "x".repeat(8 * 1024) } }), &["/metadata"]);
    check_field(&json!({ "metadata": [] }), &["/metadata"]);
    check_field(&json!({ "note": "n", "stars": 5 }), &["/stars"]);
    let body = json!({ "endpoint": "parse", "jobId": ID, "rating": "partial", "note": "n", "origin": "mcp" });
    let plan = read_request::<FeedbackRequest>(body.to_string().as_bytes(), ()).unwrap().plan;
    assert_eq!((plan.endpoint, plan.rating), (FeedbackEndpoint::Parse, FeedbackRating::Partial));
}

#[test]
fn page_number_has_the_same_range_in_schema_and_validator() {
    for (number, expected) in [
        (json!(0), Some("/pageNumbers/0")),
        (json!(1), None),
        (json!(u32::MAX), None),
        (json!(u64::from(u32::MAX) + 1), Some("/pageNumbers/0")),
        (json!(1e25), Some("/pageNumbers/0")),
    ] {
        let fields = json!({ "pageNumbers": [number] });
        check_field(&fields, expected.as_slice());
        let body = json!({ "endpoint": "scrape", "jobId": ID, "rating": "bad", "pageNumbers": [number] });
        assert_eq!(is_in_schema(&body), expected.is_none(), "{body}");
    }
}

#[test]
fn llms_txt_is_a_crawl_of_some_pages() {
    let plan = |body: &Value| read_request::<LlmsTxtRequest>(body.to_string().as_bytes(), ()).unwrap();
    let Checked { plan: default, warnings } =
        plan(&json!({ "url": "http://a.test/", "__experimental_stream": false, "origin": "py" }));
    assert_eq!((default.crawl.limit, default.full_text, warnings.len()), (Some(10), false, 0));
    assert_eq!(default.crawl.scrape_options.unwrap().max_age, None);
    let all =
        plan(&json!({ "url": "http://a.test/", "maxUrls": 5000, "showFullText": true, "cache": false }));
    assert_eq!((all.plan.crawl.limit, all.plan.full_text), (Some(5000), true));
    assert_eq!(all.plan.crawl.scrape_options.unwrap().max_age, Some(0));
    assert_eq!(plan(&json!({ "url": " a.test:8080/docs" })).plan.crawl.url, "http://a.test:8080/docs");
    check::<LlmsTxtRequest>(&json!({ "url": "ftp://a.test/" }), &["/url"]);
    check::<LlmsTxtRequest>(&json!({ "url": "http://a.test/", "maxUrls": 0 }), &["/maxUrls"]);
    check::<LlmsTxtRequest>(&json!({ "maxUrls": 5001, "cache": "yes" }), &["/cache", "/maxUrls", "/url"]);
}
