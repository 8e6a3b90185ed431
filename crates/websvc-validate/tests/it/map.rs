//! Tests of maps: plans, violations and warnings.

use std::time::Duration;

use serde_json::{Value, json};
use websvc_types::SitemapMode;
use websvc_types::ViolationCode::{self, *};
use websvc_types::map::{MapRequest, MapRequestV1};
use websvc_validate::{Checked, FeaturePolicy, MapPlan, Policy, Rejection, RetentionMode, read_request};

#[track_caller]
fn plan(body: &Value) -> Checked<MapPlan> {
    read_request::<MapRequest>(body.to_string().as_bytes(), &Policy::default())
        .unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// Checks that a map breaks exactly these rules.
#[track_caller]
fn check(body: &Value, expected: &[(&str, ViolationCode)]) {
    let found = match read_request::<MapRequest>(body.to_string().as_bytes(), &Policy::default()) {
        Ok(_) => Vec::new(),
        Err(Rejection::Invalid(violations)) => violations,
        Err(other) => panic!("{body}: {other:?}"),
    };
    let found: Vec<(&str, ViolationCode)> = found.iter().map(|v| (v.path.as_str(), v.code)).collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn map_with_url_only_has_the_defaults() {
    let Checked { plan, warnings } = plan(&json!({ "url": " a.test/docs " }));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(plan.url.as_str(), "http://a.test/docs");
    assert_eq!((plan.limit, plan.timeout, plan.delay), (5_000, Duration::from_secs(60), Duration::ZERO));
    assert_eq!(
        (plan.search.as_deref(), plan.sitemap, plan.retention),
        (None, SitemapMode::Include, RetentionMode::Normal)
    );
    assert!(plan.subdomains && plan.by_path && plan.links && plan.index);
    assert!(!plan.other_sites && !plan.includes_queries && !plan.url_variants);
    assert!(plan.page.store_in_cache && !plan.page.max_age.is_zero());
}

#[test]
fn map_fields_are_read_into_the_plan() {
    let Checked { plan, warnings } = plan(&json!({
        "url": "https://a.test/", "search": " tea ", "sitemap": "only", "includeSubdomains": false,
        "ignoreQueryParameters": false, "limit": 100_000.0, "timeout": 1, "headers": { "X-A": "b" },
        "location": { "country": "DE" }, "deduplicateSimilarURLs": false, "delay": 1.5, "filterByPath": false,
        "allowExternalLinks": true, "ignoreCache": true, "useMock": "x", "maxDiscoveryDepth": 3,
        "auditMetadata": { "username": "u" }, "integration": "i", "origin": "o", "ignoreRobotsTxt": false,
        "robotsUserAgent": "",
    }));
    assert_eq!(warnings, ["maxDiscoveryDepth counts as 1: a map does not follow links, unlike a crawl"]);
    assert_eq!(
        (plan.search.as_deref(), plan.limit, plan.timeout),
        (Some("tea"), 100_000, Duration::from_secs(1))
    );
    assert_eq!((plan.sitemap, plan.delay), (SitemapMode::Only, Duration::from_millis(1_500)));
    assert!(!plan.subdomains && !plan.by_path && !plan.links && !plan.index);
    assert!(plan.other_sites && plan.includes_queries && plan.url_variants);
    assert_eq!((plan.page.location.country, plan.page.max_age), ("DE", Duration::ZERO));
    assert_eq!(plan.page.headers["x-a"], "b");
}

#[test]
fn map_violations_have_paths_and_codes() {
    check(&json!({}), &[("/url", Missing)]);
    for url in ["", "  "] {
        check(&json!({ "url": url }), &[("/url", TooShort)]);
    }
    for url in ["ftp://a.test/", "http://", "://", "javascript:alert(1)", "http://a b/"] {
        check(&json!({ "url": url }), &[("/url", InvalidFormat)]);
    }
    check(&json!({ "url": format!("a.test/{}", "x".repeat(8_192)) }), &[("/url", TooLong)]);
    check(
        &json!({
            "url": 1, "search": "x".repeat(501), "sitemap": "some", "limit": 100_001, "timeout": 0, "delay": 60.5,
            "headers": { "host": "b.test" }, "location": { "country": "XX" }, "maxDiscoveryDepth": -1,
            "includePaths": ["(", "a{1000}{1000}"], "excludePaths": ["x".repeat(1_001)],
        }),
        &[
            ("/delay", TooBig),
            ("/excludePaths/0", TooLong),
            ("/headers/host", NotSupported),
            ("/includePaths/0", InvalidFormat),
            ("/includePaths/1", InvalidFormat),
            ("/limit", TooBig),
            ("/location/country", UnknownValue),
            ("/maxDiscoveryDepth", TooSmall),
            ("/search", TooLong),
            ("/sitemap", UnknownValue),
            ("/timeout", TooSmall),
            ("/url", InvalidType),
        ],
    );
    check(&json!({ "url": "a.test", "includePaths": vec!["x"; 101] }), &[("/includePaths", TooLong)]);
    check(&json!({ "url": "a.test", "limit": 0 }), &[("/limit", TooSmall)]);
}

#[test]
fn unknown_map_field_is_named_in_a_warning() {
    let Checked { warnings, .. } = plan(&json!({ "url": "a.test", "limits": 1 }));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("limits"), "{warnings:?}");
}

#[test]
fn map_options_without_permission_are_forbidden() {
    for (field, value) in [
        ("ignoreRobotsTxt", json!(true)),
        ("robotsUserAgent", json!("bot")),
        ("threatProtection", json!({ "mode": "normal" })),
    ] {
        let body = json!({ "url": "a.test", field: value });
        let result = read_request::<MapRequest>(body.to_string().as_bytes(), &Policy::default());
        let Err(Rejection::Forbidden { message }) = result else { panic!("{field}: {result:?}") };
        assert!(message.starts_with(field), "{message}");
    }
}

#[test]
fn map_under_zero_retention_is_not_stored() {
    let policy = Policy { zdr: FeaturePolicy::Forced, ..Policy::default() };
    let plan = read_request::<MapRequest>(br#"{"url": "a.test"}"#, &policy).expect("the body is valid").plan;
    assert_eq!((plan.retention, plan.page.store_in_cache), (RetentionMode::Zero, false));
}

#[test]
fn map_v1_sitemap_options_are_converted() {
    let sitemap = |body: Value| {
        let read = read_request::<MapRequestV1>(body.to_string().as_bytes(), &Policy::default());
        read.expect("the body is valid").plan.sitemap
    };
    assert_eq!(sitemap(json!({ "url": "a.test" })), SitemapMode::Include);
    assert_eq!(sitemap(json!({ "url": "a.test", "ignoreSitemap": true })), SitemapMode::Skip);
    assert_eq!(
        sitemap(json!({ "url": "a.test", "ignoreSitemap": true, "sitemapOnly": true })),
        SitemapMode::Only
    );
    let result = read_request::<MapRequestV1>(br#"{"url": "", "limit": 0}"#, &Policy::default());
    let Err(Rejection::Invalid(violations)) = result else { panic!("{result:?}") };
    assert_eq!(violations.len(), 2);
}
