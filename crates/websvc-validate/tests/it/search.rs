//! Tests of the fields of a search.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_query::{Sort, TbsRange, TbsUnit};
use websvc_types::ViolationCode::{self, *};
use websvc_types::{Category, SearchRequest};
use websvc_validate::{DomainFilter, Policy, RetentionMode, SourceKind, check_request};

use crate::support::{check, check_field, checked, plan};

#[test]
fn search_has_its_defaults() {
    let plan = plan(&json!({ "query": "asyncio gather" }));
    assert_eq!(plan.query_text, "asyncio gather");
    assert_eq!(plan.query.words().collect::<Vec<_>>(), ["asyncio", "gather"]);
    assert_eq!(plan.limit, 10);
    let kinds: Vec<_> = plan.sources.iter().map(|source| source.kind).collect();
    assert_eq!(kinds, [SourceKind::Web]);
    assert_eq!(plan.sources[0].tbs.as_ref(), None);
    assert_eq!(plan.categories, []);
    assert_eq!(plan.domains, DomainFilter::Any);
    assert_eq!((plan.country, plan.country_given, plan.location.as_deref()), ("US", false, None));
    assert!(!plan.safe);
    assert_eq!(plan.timeout, Duration::from_secs(60));
    assert!(!plan.ignore_invalid_urls);
    assert!(plan.highlights);
    assert_eq!(plan.retention, RetentionMode::Normal);
    assert!(plan.scrape.is_none());
    assert!(plan.threat.is_none());
}

#[test]
fn search_fields_are_read_into_the_plan() {
    let plan = plan(&json!({
        "query": "q", "limit": 3, "categories": ["github", { "type": "pdf" }, "github"], "location": " Berlin ",
        "country": "DE", "safe": true, "timeout": 5000, "ignoreInvalidURLs": true, "highlights": false,
    }));
    assert_eq!(plan.limit, 3);
    assert_eq!(plan.categories, [Category::Github, Category::Pdf]);
    assert_eq!((plan.country, plan.country_given, plan.location.as_deref()), ("DE", true, Some("Berlin")));
    assert!(plan.safe && plan.ignore_invalid_urls && !plan.highlights);
    assert_eq!(plan.timeout, Duration::from_secs(5));
}

#[test]
fn query_length_counts_characters_not_bytes() {
    let table: &[(String, Option<ViolationCode>)] = &[
        ("q".to_owned(), None),
        ("q".repeat(500), None),
        ("q".repeat(501), Some(TooLong)),
        ("ü".repeat(500), None),
        ("🦀".repeat(500), None),
        ("🦀".repeat(501), Some(TooLong)),
        (String::new(), Some(TooShort)),
        (" \t\n".to_owned(), Some(TooShort)),
    ];
    for (query, expected) in table {
        let expected: Vec<_> = expected.map(|code| ("/query", code)).into_iter().collect();
        check(&json!({ "query": query }), &expected);
    }
}

#[test]
fn numbers_out_of_range_are_rejected() {
    let table: &[(&str, Value, Option<ViolationCode>)] = &[
        ("limit", json!(1), None),
        ("limit", json!(100), None),
        ("limit", json!(0), Some(TooSmall)),
        ("limit", json!(101), Some(TooBig)),
        ("limit", json!(-1), Some(TooSmall)),
        ("limit", json!(-9_223_372_036_854_775_808_i64), Some(TooSmall)),
        ("limit", json!(4_294_967_296_u64), Some(TooBig)),
        ("limit", json!(18_446_744_073_709_551_615_u64), Some(TooBig)),
        ("limit", json!(1e30), Some(TooBig)),
        ("limit", json!(-1e300), Some(TooSmall)),
        ("limit", json!(10.0), None),
        ("limit", json!(10.5), Some(InvalidType)),
        ("limit", json!("10"), Some(InvalidType)),
        ("limit", json!(true), Some(InvalidType)),
        ("limit", json!(null), None),
        ("timeout", json!(1), None),
        ("timeout", json!(300_000), None),
        ("timeout", json!(0), Some(TooSmall)),
        ("timeout", json!(300_001), Some(TooBig)),
    ];
    for (field, value, expected) in table {
        check_field(field, value, *expected);
    }
}

#[test]
fn timeout_below_one_second_is_raised() {
    assert_eq!(plan(&json!({ "query": "q", "timeout": 1 })).timeout, Duration::from_secs(1));
    assert_eq!(plan(&json!({ "query": "q", "timeout": 1001 })).timeout, Duration::from_millis(1001));
}

#[test]
fn invalid_time_filter_has_its_path() {
    check_field("tbs", &json!("qdr:d"), None);
    check_field("tbs", &json!(""), None);
    check_field("tbs", &json!("qdr:x"), Some(InvalidFormat));
    check_field("tbs", &json!("cdr:1,cd_min:02/30/2024,cd_max:03/01/2024"), Some(InvalidFormat));
    let body = json!({ "query": "q", "sources": ["web", { "type": "news", "tbs": "qdr:x" }] });
    check(&body, &[("/sources/1/tbs", InvalidFormat)]);
}

#[test]
fn source_inherits_filters_of_the_request() {
    let plan = plan(&json!({
        "query": "q", "tbs": "qdr:d", "location": "Berlin",
        "sources": [{ "type": "web", "tbs": "sbd:1", "location": "" }, { "type": "news", "location": "Rome" }],
    }));
    let [web, news] = plan.sources.as_slice() else { panic!("there are two sources") };
    assert_eq!(web.tbs.as_ref().map(|tbs| (tbs.range, tbs.sort)), Some((None, Sort::Date)));
    assert_eq!(web.location.as_deref(), Some("Berlin"));
    let day = TbsRange::Last { unit: TbsUnit::Day, count: 1 };
    assert_eq!(news.tbs.as_ref().and_then(|tbs| tbs.range), Some(day));
    assert_eq!(news.location.as_deref(), Some("Rome"));
}

#[test]
fn search_without_sources_uses_web() {
    for sources in [json!([]), json!(null), json!(["alexandria"])] {
        let plan = plan(&json!({ "query": "q", "sources": sources }));
        assert_eq!(plan.sources.iter().map(|source| source.kind).collect::<Vec<_>>(), [SourceKind::Web]);
    }
}

#[test]
fn duplicate_sources_are_removed_or_conflict() {
    let plan_with_duplicates =
        plan(&json!({ "query": "q", "sources": ["web", "images", { "type": "web" }] }));
    let kinds: Vec<_> = plan_with_duplicates.sources.iter().map(|source| source.kind).collect();
    assert_eq!(kinds, [SourceKind::Web, SourceKind::Images]);
    let body = json!({ "query": "q", "sources": ["web", { "type": "web", "tbs": "qdr:d" }] });
    check(&body, &[("/sources/1", Conflict)]);
}

#[test]
fn ambiguous_query_has_a_warning() {
    let checked = checked(&json!({ "query": "cats imagesize:big" }));
    assert_eq!(checked.warnings.len(), 1);
    assert!(checked.warnings[0].starts_with("query: "), "{:?}", checked.warnings);
}

#[test]
fn search_without_formats_scrapes_nothing() {
    for options in [json!({}), json!({ "formats": [] }), json!({ "onlyMainContent": true }), json!(null)] {
        assert!(plan(&json!({ "query": "q", "scrapeOptions": options })).scrape.is_none());
    }
    let plan = plan(&json!({ "query": "q", "scrapeOptions": { "formats": ["links"] } }));
    assert_eq!(plan.scrape.as_ref().map(|scrape| scrape.formats.len()), Some(1));
}

#[test]
fn scrape_options_without_formats_are_checked() {
    let body = json!({ "query": "q", "scrapeOptions": { "timeout": 999 } });
    check(&body, &[("/scrapeOptions/timeout", TooSmall)]);
}

#[test]
fn violations_are_complete_and_sorted_by_path() {
    let body = json!({
        "limit": 0,
        "sources": ["web", "wbe", 3, { "type": "news", "tbs": "nope" }],
        "includeDomains": ["a.example", "https://b.example"],
        "excludeDomains": ["c.example"],
        "timeout": "soon",
        "scrapeOptions": {
            "timeout": 400_000,
            "formats": ["markdown", "pdf", { "type": "question" }, { "type": "question", "question": "" }],
            "parsers": [{ "type": "pdf", "maxPages": 0 }],
            "actions": [{ "type": "wait" }, { "type": "fly" }, { "type": "click" }],
        },
    });
    check(
        &body,
        &[
            ("/excludeDomains", Conflict),
            ("/includeDomains/1", InvalidFormat),
            ("/limit", TooSmall),
            ("/query", Missing),
            ("/scrapeOptions/actions/0", Missing),
            ("/scrapeOptions/actions/1/type", UnknownValue),
            ("/scrapeOptions/actions/2/selector", Missing),
            ("/scrapeOptions/formats/1", UnknownValue),
            ("/scrapeOptions/formats/2/question", Missing),
            ("/scrapeOptions/formats/3", Conflict),
            ("/scrapeOptions/formats/3/question", TooShort),
            ("/scrapeOptions/parsers/0/maxPages", TooSmall),
            ("/scrapeOptions/timeout", TooBig),
            ("/sources/1", UnknownValue),
            ("/sources/2", InvalidType),
            ("/sources/3/tbs", InvalidFormat),
            ("/timeout", InvalidType),
        ],
    );
}

#[test]
fn violation_indexes_refer_to_the_body_as_sent() {
    let mut sources = vec![json!(0); 11];
    sources.push(json!({ "type": "news", "tbs": "nope" }));
    let found = crate::support::violations(&json!({ "query": "q", "sources": sources }));
    let paths: Vec<_> = found.iter().map(|violation| violation.path.clone()).collect();
    let mut expected: Vec<_> = (0..11).map(|index| format!("/sources/{index}")).collect();
    expected.push("/sources/11/tbs".to_owned());
    assert_eq!(paths, expected);
    // The message and the path have the same index.
    let nested = json!({ "query": "q", "sources": [0, "web", { "type": "web", "tbs": "qdr:d" }] });
    let message = &crate::support::violations(&nested)[1].message;
    assert!(message.starts_with("sources[2]: "), "{message}");
}

#[test]
fn typed_request_is_checked_by_the_same_rules() {
    let request = SearchRequest { query: String::new(), limit: Some(101), ..SearchRequest::default() };
    let rejection = check_request(&request, &Policy::default()).unwrap_err();
    assert_eq!(rejection.to_string(), "limit must be between 1 and 100, not 101; query must not be empty");
}
