//! Property tests of arbitrary bodies.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value};
use websvc_types::{Format, ScrapeOptions, SearchRequest};
use websvc_validate::{Policy, Rejection, check_request, read_request};

/// Words of the interface, so that generated bodies resemble requests.
const WORDS: &[&str] = &[
    "query",
    "limit",
    "sources",
    "categories",
    "includeDomains",
    "excludeDomains",
    "tbs",
    "country",
    "timeout",
    "scrapeOptions",
    "formats",
    "type",
    "web",
    "news",
    "markdown",
    "json",
    "schema",
    "question",
    "screenshot",
    "viewport",
    "width",
    "height",
    "actions",
    "wait",
    "milliseconds",
    "selector",
    "parsers",
    "pdf",
    "maxPages",
    "headers",
    "location",
    "languages",
    "redactPII",
    "mode",
    "profile",
    "name",
    "jsonOptions",
    "alexandria",
    "ignoreInvalidUrls",
    "$ref",
    "threatProtection",
    "enterprise",
    "zdr",
    "qdr:d",
    "US",
    "en",
    "",
    "/~",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(WORDS).prop_map(str::to_owned), 1 => any::<String>()]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..200).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn request() -> impl Strategy<Value = SearchRequest> {
    let texts = || prop::option::of(prop::collection::vec("[a-z*./]{0,8}", 0..3));
    let formats = prop::collection::vec(prop::sample::select(&Format::NAMES[..14]), 0..4);
    (
        "[ a-zü\":]{0,20}",
        prop::option::of(0_u32..130),
        (texts(), texts()),
        prop::option::of("(qdr:[a-z])?"),
        prop::option::of("[A-Z]{2}"),
        prop::option::of(0_u64..400_000),
        prop::option::of((prop::option::of(0_u64..400_000), formats)),
    )
        .prop_map(|(query, limit, (include_domains, exclude_domains), tbs, country, timeout, scrape)| {
            let scrape_options = scrape.map(|(timeout, formats)| {
                let formats = formats
                    .into_iter()
                    .map(|name| serde_json::from_value(name.into()).expect("the format has a bare name"))
                    .collect();
                ScrapeOptions { timeout, formats: Some(formats), ..Default::default() }
            });
            SearchRequest {
                query,
                limit,
                include_domains,
                exclude_domains,
                tbs,
                country,
                timeout,
                scrape_options,
                ..SearchRequest::default()
            }
        })
}

/// Returns a configuration with a fixed seed, so that a failure comes from the change under test.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn violations_of_arbitrary_json_have_valid_paths(value in json()) {
        let body = value.to_string();
        for violations in [
            read_request::<SearchRequest>(body.as_bytes(), &Policy::default()).err(),
            read_request::<ScrapeOptions>(body.as_bytes(), &Policy::default()).err(),
        ] {
            if let Some(Rejection::Invalid(violations)) = violations {
                prop_assert!(!violations.is_empty());
                for violation in violations {
                    let path = &violation.path;
                    // A path leads to a value in the body, or its last segment is missing there.
                    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                    let exists = value.pointer(path).is_some() || value.pointer(parent).is_some();
                    prop_assert!(exists, "{}: {}", path, violation.message);
                    prop_assert!(!violation.message.contains("invalid type"), "{}", violation.message);
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = read_request::<SearchRequest>(&body, &Policy::default());
    }

    #[test]
    fn bytes_and_typed_request_have_equal_results(request in request()) {
        let body = serde_json::to_vec(&request).unwrap();
        prop_assert_eq!(read_request::<SearchRequest>(&body, &Policy::default()), check_request(&request, &Policy::default()));
    }
}
